import { assert, button, scenario, settled } from "../kit.mjs";

scenario("the playground shows hits with the parts of their scores, and the block as the model gets it", async (there) => {
  const page = await there.at("playground");
  const bodies = [];
  page.on("request", (request) => {
    if (request.method() === "POST") bodies.push([request.url(), request.postDataJSON()]);
  });
  await page.getByLabel("Query").fill("phone number");
  await page.getByRole("spinbutton", { name: "Hits" }).fill("7");
  await button(page, "Recall").click();
  await page.locator(".hits > li").first().waitFor();
  await page.locator("pre.block").waitFor();
  assert.equal(await page.locator(".hits > li").count(), 7);
  const first = await page.locator(".hits > li").first().textContent();
  assert.match(first, /Score/);
  assert.match(first, /meaning × 0\.\d/);
  assert.match(first, /words × 0\.\d/);
  assert.ok((await page.locator(".hits > li").first().locator(".bar-fill").count()) >= 3);
  assert.match(await page.locator("pre.block").textContent(), /MEMORY BEGIN.*1[39]\d{9}.*MEMORY END/s);
  await page.getByText(/Next in line \(\d+\)/).waitFor();
  await page.getByText(/Left out \(\d+\)/).waitFor();
  assert.equal(bodies.length, 2);
  for (const [, body] of bodies) assert.equal(body.explain, true);
});

scenario("looking through the playground leaves no trace of use", async (there) => {
  const page = await there.at("playground");
  await page.getByLabel("Query").fill("locker code");
  await button(page, "Recall").click();
  await page.locator(".hits > li a").first().waitFor();
  await page.locator("pre.block").waitFor();
  const id = (await page.locator(".hits > li h3 a").first().getAttribute("href")).match(/memory\/(\w+)/)[1];
  const memory = await there.api("GET", `/v1/memories/${id}`);
  assert.equal(memory.last_recalled_at, null);
  assert.equal(memory.last_used_at ?? null, null);
});

scenario("the playground asks for another time, other weights and another profile", async (there) => {
  const page = await there.at("playground");
  await page.getByLabel("Query").fill("Prefers the window seat");
  await page.getByLabel("Scoring profile").selectOption("support");
  await page.getByLabel("Own weights").check();
  await page.getByLabel("words", { exact: true }).fill("1");
  for (const part of ["meaning", "recency", "importance", "speaker"]) await page.getByLabel(part, { exact: true }).fill("0");
  await button(page, "Recall").click();
  await page.locator(".hits > li").first().waitFor();
  const bars = await page.locator(".hits > li").first().locator(".parts .bar-label").allTextContents();
  assert.deepEqual(bars, ["words × 1.00"]);
  await page.getByLabel("As known at").fill("2025-08-01T10:00");
  await button(page, "Recall").click();
  await page.getByText("Nothing was found.").waitFor();
  await settled(page);
});

scenario("a refused question is told with field and rule", async (there) => {
  const page = await there.at("playground");
  await page.getByLabel("Query").fill(" ");
  await button(page, "Recall").click();
  const alert = page.getByRole("alert").first();
  await alert.waitFor();
  assert.match(await alert.textContent(), /422.*query/s);
});
