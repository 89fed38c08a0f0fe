// Texts that try to do harm: shown as they are, and nothing more.

import { assert, button, scenario, settled } from "../kit.mjs";

const VIEWS = ["timeline?status=all", "graph", "conflicts?state=all", "decisions", "profile", "audits", "maintenance"];

async function unharmed(page) {
  const found = await page.evaluate(() => ({
    harmed: window.harmed ?? null,
    title: document.title,
    foreign: document.querySelectorAll("main img, main script, main iframe, main b, main i, main a[href^='javascript']").length,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));
  assert.equal(found.harmed, null);
  assert.ok(!found.title.includes("harmed"));
  assert.equal(found.foreign, 0);
  assert.ok(found.wide <= 0, `the page is ${found.wide} px wider than the window`);
}

scenario("markup in texts, tags and ids is shown as text in every view", async (there) => {
  const page = await there.page();
  const { markup, template, harm_decision } = there.ids;
  for (const view of [...VIEWS, `memory/${markup}`, `memory/${template}`, `decisions/${harm_decision}`]) {
    await there.at(view, { page, user: "stranger" });
    await settled(page);
    await unharmed(page);
  }
  await there.at(`memory/${markup}`, { page, user: "stranger" });
  assert.match(await page.locator("article .said").first().textContent(), /<img src=x onerror=.*<script>/);
});

scenario("markup does no harm as a user, a namespace, a filter or a question", async (there) => {
  const evil = `"><img src=x onerror="window.harmed=1">`;
  const page = await there.page();
  for (const view of [`timeline?tag=${encodeURIComponent(evil)}`, `memory/${encodeURIComponent(evil)}`, `${encodeURIComponent(evil)}`]) {
    await there.at(view, { page, user: evil });
    await settled(page);
    await unharmed(page);
  }
  await there.at("playground", { page, user: "stranger" });
  await page.getByLabel("Query").fill(evil);
  await button(page, "Recall").click();
  await page.locator("pre.block").waitFor();
  await settled(page);
  await unharmed(page);
  assert.match(await page.locator("pre.block").textContent(), /onerror/);
});

scenario("marks that turn the direction stay inside their text", async (there) => {
  const page = await there.at(`memory/${there.ids.bidi}`, { user: "stranger" });
  const said = page.locator("article .said").first();
  await said.waitFor();
  assert.equal(await said.evaluate((item) => getComputedStyle(item).unicodeBidi), "isolate");
  assert.equal(await said.getAttribute("dir"), "auto");
  await page.getByText("This text holds marks that turn the direction of writing").first().waitFor();
  await there.at("timeline", { page, user: "stranger" });
  const link = page.locator("main .cards bdi", { hasText: "drowssap" }).first();
  await link.waitFor();
  assert.equal(await link.evaluate((item) => getComputedStyle(item).unicodeBidi), "isolate");
});

scenario("60 KB without a space are cut, shown whole on request, and never widen the page", async (there) => {
  for (const width of [1280, 390]) {
    const page = await there.page({ viewport: { width, height: 800 } });
    for (const view of ["timeline", `memory/${there.ids.wide}`]) {
      await there.at(view, { page, user: "stranger" });
      const more = page.getByRole("button", { name: /Show all \(60,000/ }).first();
      await more.waitFor();
      await unharmed(page);
      await more.click();
      await page.waitForFunction(() => [...document.querySelectorAll(".said")].some((item) => item.textContent.length >= 60_000));
      await unharmed(page);
    }
  }
});
