// Audits, proposals to forget, the weekly sample, maintenance, policies, the profile.

import { assert, button, scenario, settled } from "../kit.mjs";

const cards = (page) => page.locator("main .cards > .card");

scenario("an audit is run, and its findings lead to what mends them", async (there) => {
  const page = await there.at("audits");
  await button(page, "Check this user").click();
  await page.waitForURL((url) => /audits\/\w{26}/.test(url.hash));
  const finding = cards(page).filter({ hasText: "open conflicts" }).first();
  await finding.waitFor();
  assert.match(await finding.textContent(), /POST \/v1\/conflicts\/\w+\/resolve/);
  await finding.getByRole("link", { name: "Settle the conflict" }).click();
  await page.waitForURL((url) => url.hash.includes("conflicts/"));
  await page.locator("main .card.wanted").waitFor();
});

scenario("audits are listed by kind and by user", async (there) => {
  const page = await there.at("audits");
  await cards(page).first().waitFor();
  await page.getByLabel("Kind of report").selectOption("forgetting");
  await page.waitForURL((url) => url.hash.includes("forgetting"));
  await settled(page);
  for (const text of await cards(page).getByRole("heading").allTextContents()) assert.match(text, /Proposals to forget/);
  await page.getByLabel("Kind of report").selectOption("");
  await page.getByLabel("Only on this user").check();
  await page.waitForURL((url) => url.hash.includes("mine"));
  await settled(page);
  for (const text of await cards(page).locator(".meta").allTextContents()) assert.match(text, /mira/);
});

scenario("a proposal to forget is approved, taken back, and another one opposed", async (there) => {
  const listed = await there.api("GET", "/v1/audits?kind=forgetting&user_id=mira");
  const report = listed.items[0];
  assert.ok(report.findings.length >= 2);
  const page = await there.at(`audits/${report.id}`);
  const first = cards(page).nth(0);
  await button(first, "Approve: forget it").waitFor();
  assert.match(await first.textContent(), /value 0\.\d+.*importance/s);
  const id = report.findings[0].refs[0];
  await button(first, "Approve: forget it").click();
  await button(first, "Undo").waitFor();
  assert.equal((await there.api("GET", `/v1/memories/${id}`)).status, "deleted");
  await button(first, "Undo").click();
  await first.getByText("taken back").waitFor();
  assert.equal((await there.api("GET", `/v1/memories/${id}`)).status, "active");
  const second = cards(page).nth(1);
  await button(second, "Oppose: keep it").click();
  await second.locator(".badge", { hasText: "opposed" }).waitFor();
});

scenario("approving all proposals asks once more", async (there) => {
  const listed = await there.api("GET", "/v1/audits?kind=forgetting&user_id=mira");
  const report = listed.items[0];
  const page = await there.at(`audits/${report.id}`);
  await page.getByRole("button", { name: /Approve all \d+/ }).click();
  await page.getByRole("button", { name: /Forget \d+ memories now/ }).waitFor();
  await button(page, "Cancel").click();
  await page.getByRole("button", { name: /Approve all \d+/ }).waitFor();
});

scenario("a memory of the weekly sample is confirmed, corrected and forgotten", async (there) => {
  const listed = await there.api("GET", "/v1/audits?kind=review");
  const report = listed.items[0];
  const page = await there.at(`audits/${report.id}`);
  const [first, second, third] = [0, 1, 2].map((index) => cards(page).nth(index));
  await button(first, "Confirm").click();
  await first.getByText("confirmed 1 times").waitFor();
  await button(second, "Correct").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Text").fill("Corrected by a person.");
  await button(dialog, "Save").click();
  await second.locator(".text", { hasText: "Corrected by a person." }).last().waitFor();
  await button(third, "Forget").click();
  await button(page.getByRole("dialog"), "Forget").click();
  await third.locator(".badge", { hasText: "forgotten" }).waitFor();
});

scenario("maintenance reports tell what was done, why, and how to undo it", async (there) => {
  const page = await there.at("maintenance");
  await cards(page).first().waitFor();
  await cards(page).filter({ hasText: "daily" }).filter({ hasText: "done" }).getByRole("link").first().click();
  await page.waitForURL((url) => /maintenance\/\w{26}/.test(url.hash));
  await page.getByRole("heading", { name: "Forgetting" }).waitFor();
  assert.match(await page.locator("main").textContent(), /proposed to be forgotten/);
  assert.ok((await page.locator("main .versions li a").count()) > 10);
});

scenario("a dry run of maintenance is started from the console", async (there) => {
  const page = await there.at("maintenance");
  const before = (await there.api("GET", "/v1/maintenance")).items.length;
  await page.getByLabel("Cadence").selectOption("daily");
  assert.ok(await page.getByLabel("Dry run").isChecked());
  await button(page, "Run").click();
  await page.waitForURL((url) => /maintenance\/\w{26}/.test(url.hash));
  await page.locator("article .badge", { hasText: "Dry run" }).waitFor();
  const after = (await there.api("GET", "/v1/maintenance")).items;
  assert.equal(after.length, before + 1);
  assert.ok(after[0].dry_run);
});

scenario("a policy is changed, and its versions are kept", async (there) => {
  const page = await there.at("policies");
  const field = page.getByLabel("purge after a deletion");
  await field.waitFor();
  const { version } = await there.api("GET", "/v1/policies");
  await field.fill("45");
  await page.getByLabel("Mode").selectOption("off");
  await page.getByLabel("working", { exact: true }).fill("");
  await button(page, "Save").click();
  await page.getByText(`version ${version + 1}`).first().waitFor();
  const now = await there.api("GET", "/v1/policies");
  assert.deepEqual([now.archiving.purge_days, now.forgetting.mode, now.shelf_lives.working], [45, "off", null]);
  assert.equal(now.consolidation.enabled, false);
  await page.locator("section[aria-labelledby='policy-history'] summary", { hasText: `version ${version + 1}` }).click();
  await page.getByText('"purge_days": 45').waitFor();
});

scenario("a policy that breaks a rule is refused with field and rule", async (there) => {
  const page = await there.at("policies");
  await page.getByLabel("least share").fill("7");
  await button(page, "Save").click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.textContent(), /422.*threshold/s);
});

scenario("the profile tells what holds, how often, and on what evidence", async (there) => {
  const page = await there.at("profile");
  const card = cards(page).filter({ hasText: "sort order" }).first();
  await card.waitFor();
  assert.match(await card.textContent(), /8 of 10 \(80 %\)/);
  await card.getByText(/Evidence \(\d+\)/).click();
  await card.locator(".rows a").first().click();
  await page.waitForURL((url) => url.hash.includes("memory/"));
});
