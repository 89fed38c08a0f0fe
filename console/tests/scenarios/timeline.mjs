import { assert, button, scenario, settled } from "../kit.mjs";

const cards = (page) => page.locator("main .cards > .card");

scenario("the timeline shows the newest memories first and goes on page by page", async (there) => {
  const page = await there.at("timeline");
  await cards(page).first().waitFor();
  assert.equal(await cards(page).count(), 50);
  const first = await there.api("GET", "/v1/memories?user_id=mira&sort=-created_at&limit=1");
  assert.equal(await cards(page).first().getByRole("heading").textContent(), first.items[0].summary);
  await button(page, "More").click();
  await page.waitForFunction(() => document.querySelectorAll("main .cards > .card").length === 100);
});

for (const [label, value, badge] of [
  ["Status", "disputed", "disputed"],
  ["Kind", "preference", "preference"],
  ["Type", "short_term", "short-term"],
  ["Origin", "tool", "from: a tool"],
]) {
  scenario(`the timeline filters by ${label.toLowerCase()}`, async (there) => {
    const page = await there.at("timeline");
    await cards(page).first().waitFor();
    const field = page.getByLabel(label, { exact: true });
    await field.focus();
    await field.selectOption(value);
    await page.waitForURL((url) => url.hash.includes(value));
    await settled(page);
    const metas = await page.locator("main .cards > .card > .meta").allTextContents();
    assert.ok(metas.length > 1);
    for (const meta of metas) assert.ok(meta.includes(badge), meta);
    // The focus stays where the keyboard is.
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), "SELECT");
  });
}

scenario("the timeline filters by tag and by time", async (there) => {
  const page = await there.at("timeline");
  await cards(page).first().waitFor();
  await page.getByLabel("Tag", { exact: true }).fill("学习");
  await page.getByLabel("Since").fill("2025-10-01");
  await page.getByLabel("Until").fill("2025-10-10");
  await button(page, "Apply").click();
  await page.waitForURL((url) => url.hash.includes("until"));
  await settled(page);
  const shown = await cards(page).count();
  assert.ok(shown > 1);
  for (const tags of await page.locator("main .cards > .card > .tags").allTextContents()) assert.ok(tags.includes("学习"));
  for (const at of await page.locator("main .cards > .card > .meta time").evaluateAll((all) => all.map((item) => item.dateTime)))
    assert.ok(at >= "2025-10-01" && at < "2025-10-11", at);
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("main .filters input")?.value === "");
});

scenario("the timeline sorts by importance", async (there) => {
  const page = await there.at("timeline");
  await cards(page).first().waitFor();
  await page.getByLabel("Order").selectOption("-importance");
  await page.waitForURL((url) => url.hash.includes("importance"));
  await settled(page);
  const values = (await page.locator("main .cards > .card > .meta").allTextContents()).map((text) =>
    Number(/importance (\d\.\d+)/.exec(text)?.[1]),
  );
  assert.equal(values.length, 50);
  assert.deepEqual(values, [...values].sort((a, b) => b - a));
  assert.ok(values[0] >= 0.94);
});

scenario("what was forgotten stands on the timeline with its reason and its story", async (there) => {
  const page = await there.at("timeline?status=deleted");
  const card = cards(page).filter({ hasText: "The bakery closes at five" });
  await card.waitFor();
  assert.match(await card.locator(".fate").first().textContent(), /Forgotten .* no longer true/);
  await button(card, "What became of it, and why").click();
  await card.locator(".story li").nth(1).waitFor();
  const story = await card.locator(".story").textContent();
  assert.match(story, /admitted by local: a fact/);
  assert.match(story, /forgotten by local: no longer true/);
});

scenario("a timeline in which nothing fits says so", async (there) => {
  const page = await there.at("timeline?tag=nobody-has-this-tag");
  await page.getByText("No memory fits.").waitFor();
});
