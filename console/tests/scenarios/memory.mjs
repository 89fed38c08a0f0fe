import { assert, button, scenario, settled } from "../kit.mjs";

const written = async (there, content, more = {}) =>
  (await there.api("POST", "/v1/memories?wait=true", { user_id: "mira", content, admission: "verbatim", ...more })).id;

scenario("a memory leads back to the turn it was taken from", async (there) => {
  const page = await there.at(`memory/${there.ids.phone}`);
  await page.locator(".turns .own").waitFor();
  assert.match(await page.locator(".turns .own").textContent(), /taken from here.*13800001111/s);
  assert.equal(await page.locator(".turns > li").count(), 3);
  assert.match(await page.locator("article .text").first().textContent(), /My phone number is 13800001111/);
});

scenario("a memory shows its entries in the ledger", async (there) => {
  const page = await there.at(`memory/${there.ids.plain}`);
  await button(page, "Look through the ledger").click();
  await page.getByText(/entries about this memory/).first().waitFor({ timeout: 60_000 });
  const text = await page.locator("section[aria-labelledby='ledger']").textContent();
  assert.match(text, /admitted by/);
  assert.match(text, /changed by/);
  assert.match(text, /[0-9a-f]{64}/);
});

scenario("an edit is sent, shown, and stands in the history field by field", async (there) => {
  const id = await written(there, "The ferry leaves at nine.", { kind: "fact", tags: ["ferry"] });
  const page = await there.at(`memory/${id}`);
  await button(page, "Edit").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Text").fill("The ferry leaves at ten.");
  await dialog.getByLabel("Kind").selectOption("correction");
  await dialog.getByLabel("Tags").fill("ferry, 渡轮");
  await dialog.getByLabel("Importance").fill("0.9");
  await dialog.getByLabel("Reason").fill("new timetable");
  await button(dialog, "Save").click();
  await dialog.waitFor({ state: "detached" });
  await page.locator("article .text", { hasText: "at ten" }).first().waitFor();
  const history = page.locator("section[aria-labelledby='history']");
  await history.locator("del", { hasText: "The ferry leaves at nine." }).first().waitFor();
  const text = await history.textContent();
  for (const part of ["Version 2".toLowerCase(), "The ferry leaves at ten.", "correction", "渡轮", "new timetable", "0.9"])
    assert.ok(text.includes(part), `${part} is not in ${text}`);
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Edit");
});

scenario("an edit that somebody else overtook is refused and nothing is lost", async (there) => {
  const id = await written(there, "The kiosk opens at seven.");
  const page = await there.at(`memory/${id}`);
  await button(page, "Edit").click();
  await there.api("PATCH", `/v1/memories/${id}`, { importance: 0.3 });
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Text").fill("The kiosk opens at eight.");
  await button(dialog, "Save").click();
  await dialog.getByRole("alert").waitFor();
  assert.match(await dialog.getByRole("alert").textContent(), /409/);
  assert.equal((await there.api("GET", `/v1/memories/${id}`)).content, "The kiosk opens at seven.");
  assert.equal(await dialog.getByLabel("Text").inputValue(), "The kiosk opens at eight.");
});

scenario("a refused edit names the field and the rule", async (there) => {
  const id = await written(there, "The lamp is green.");
  const page = await there.at(`memory/${id}`);
  await button(page, "Edit").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Tags").fill("x".repeat(80));
  await button(dialog, "Save").click();
  const alert = dialog.getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.textContent(), /422/);
  assert.match(await alert.locator("code").first().textContent(), /^tags/);
  assert.ok((await alert.locator(".badge").first().textContent()).length > 2);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

scenario("a memory is confirmed, forgotten with a reason, and restored", async (there) => {
  const id = await written(there, "The gym card is in the blue box.");
  const page = await there.at(`memory/${id}`);
  await button(page, "Confirm").click();
  await page.getByText("Confirmed", { exact: false }).first().waitFor();
  await page.waitForFunction(() => /Confirmations\s*1/.test(document.querySelector("main")?.textContent ?? ""));
  await button(page, "Forget").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("moved out");
  await button(dialog, "Forget").click();
  await page.locator(".fate", { hasText: "moved out" }).waitFor();
  assert.equal((await there.api("GET", `/v1/memories/${id}`)).status, "deleted");
  await button(page, "Restore").click();
  await button(page, "Edit").waitFor();
  assert.equal((await there.api("GET", `/v1/memories/${id}`)).status, "active");
});

scenario("a long text is cut and shown whole on request", async (there) => {
  const page = await there.at(`memory/${there.ids.long}`);
  const more = page.locator("article").getByRole("button", { name: /Show all/ });
  await more.waitFor();
  assert.equal(await more.getAttribute("aria-expanded"), "false");
  const before = (await page.locator("article .said").first().textContent()).length;
  await more.click();
  assert.ok((await page.locator("article .said").first().textContent()).length > before);
});

scenario("a memory that is not there is told as a problem with its request", async (there) => {
  const page = await there.at("memory/01JWB5A8ZK3V9Q6M2T4X7C1D0E");
  await page.getByRole("alert").waitFor();
  assert.match(await page.getByRole("alert").textContent(), /404.*no such memory.*Request/s);
  await settled(page);
});
