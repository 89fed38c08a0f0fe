// The frame: languages, colours, keyboard, screen readers, narrow windows, and the states of loading and failing.

import { assert, button, scenario, settled, violations } from "../kit.mjs";

const VIEWS = ["timeline", "graph", "playground", "profile", "conflicts", "decisions", "audits", "maintenance", "policies"];

const all = (there) => [
  ...VIEWS,
  `memory/${there.ids.phone}`,
  `memory/${there.ids.gone}`,
  `decisions/${there.ids.child}`,
  `audits/${there.ids.audit}`,
];

for (const [language, locale] of [
  ["English", "en-GB"],
  ["Chinese", "zh-CN"],
])
  for (const colorScheme of ["light", "dark"])
    scenario(`axe finds nothing serious in ${language}, ${colorScheme}`, async (there) => {
      const page = await there.page({ locale, colorScheme });
      const found = [];
      for (const view of all(there)) {
        await there.at(view, { page });
        await settled(page);
        found.push(...(await violations(page)).map((line) => `${view}: ${line}`));
      }
      assert.deepEqual(found, []);
    });

scenario("axe finds nothing serious in answers, dialogs, problems and the question for a key", async (there) => {
  const found = [];
  for (const colorScheme of ["light", "dark"]) {
    const page = await there.at("playground", { colorScheme });
    await page.getByLabel("Query").fill("phone number");
    await page.getByLabel("Own weights").check();
    await button(page, "Recall").click();
    await page.locator("pre.block").waitFor();
    await page.locator(".hits > li").first().waitFor();
    found.push(...(await violations(page)));
    await there.at(`memory/${there.ids.plain}`, { page });
    await button(page, "Edit").click();
    await page.getByRole("dialog").waitFor();
    found.push(...(await violations(page)));
    await page.keyboard.press("Escape");
    await there.at("memory/01JWB5A8ZK3V9Q6M2T4X7C1D0E", { page });
    await page.getByRole("alert").waitFor();
    found.push(...(await violations(page)));
    const locked = await there.page({ base: there.config.locked, colorScheme });
    await locked.goto(`${there.config.locked}/console`);
    await locked.getByLabel("API key").waitFor();
    found.push(...(await violations(locked)));
  }
  assert.deepEqual(found, []);
});

scenario("the console speaks the browser's language, and the one that is chosen", async (there) => {
  const page = await there.at("timeline", { locale: "zh-CN" });
  await page.getByRole("heading", { name: "时间线", level: 1 }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
  await page.getByLabel("语言").selectOption("en");
  await page.getByRole("heading", { name: "Timeline", level: 1 }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
  await page.reload();
  await page.getByRole("heading", { name: "Timeline", level: 1 }).waitFor();
});

scenario("in Chinese no English is left but names and data", async (there) => {
  const page = await there.page({ locale: "zh-CN" });
  for (const view of VIEWS) {
    await there.at(view, { page });
    await settled(page);
    const labels = await page.evaluate(() =>
      [...document.querySelectorAll("nav a, label, legend, h1, button, th[scope='col'], .empty, .hint")].map((item) => item.textContent.trim()),
    );
    const english = labels.filter((text) => /[a-z]{3,}/i.test(text) && !/[\u3400-\u9fff]/.test(text) && text !== "");
    assert.deepEqual(english, [], view);
    const keys = (await page.locator("main").innerText()).match(/\b(?:field|view|status|kind|graph|recall|audit|policy|change)\.[a-z_.]+\b/g);
    assert.equal(keys, null);
  }
});

scenario("the console is dark or light as the system is, and as is chosen", async (there) => {
  const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const page = await there.at("timeline", { colorScheme: "dark" });
  assert.equal(await ground(page), "rgb(17, 22, 29)");
  await page.getByLabel("Colours").selectOption("light");
  assert.equal(await ground(page), "rgb(246, 247, 249)");
  await page.reload();
  assert.equal(await ground(page), "rgb(246, 247, 249)");
  await page.getByLabel("Colours").selectOption("auto");
  assert.equal(await ground(page), "rgb(17, 22, 29)");
});

scenario("a keyboard alone leads to the content, through the views and back", async (there) => {
  const page = await there.at("timeline");
  await page.locator("main .card a").first().waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "SELECT");
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
  await page.getByRole("link", { name: "Decisions", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Decisions", level: 1 }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  assert.equal(await page.getByRole("link", { name: "Decisions", exact: true }).getAttribute("aria-current"), "page");
  assert.equal(await page.title(), "Decisions · Rearview");
});

scenario("every view fits a narrow window", async (there) => {
  const page = await there.page({ viewport: { width: 360, height: 740 } });
  for (const view of all(there)) {
    await there.at(view, { page });
    await settled(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${view} is ${wide} px too wide`);
  }
});

scenario("while it loads the console says so, and when nobody answers it offers another try", async (there) => {
  const page = await there.at("conflicts");
  await button(page, "Keep A").first().waitFor();
  let answer;
  const held = new Promise((resolve) => (answer = resolve));
  await page.route("**/v1/decisions?*", async (route) => {
    await held;
    await route.abort();
  });
  await page.getByRole("link", { name: "Decisions", exact: true }).click();
  await page.getByRole("status").filter({ hasText: "Loading" }).waitFor();
  answer();
  await page.getByRole("alert").filter({ hasText: "The server does not answer" }).waitFor();
  await page.unroute("**/v1/decisions?*");
  await button(page, "Try again").click();
  await page.locator("main .cards > .card").first().waitFor();
});

scenario("what a server does not have is told as such", async (there) => {
  const page = await there.page();
  const problem = { type: "urn:rearview:problem:not-found", title: "Not found", status: 404, detail: "no such route", errors: [] };
  await page.route("**/v1/profile?*", (route) => route.fulfill({ status: 404, contentType: "application/problem+json", body: JSON.stringify(problem) }));
  await page.route("**/v1/graph?*", (route) => route.fulfill({ status: 403, contentType: "application/json", body: '{"message":"Missing Authentication Token"}' }));
  for (const view of ["profile", "graph"]) {
    await there.at(view, { page });
    await page.getByText("Not available on this server").waitFor();
  }
});

scenario("without a user the console asks whose memory it is about", async (there) => {
  const page = await there.page();
  await page.goto(`${there.base}/console`);
  await page.getByText("Name a user above to see their memory.").waitFor();
  await page.getByLabel("User", { exact: true }).fill("mira");
  await button(page, "Show").click();
  await page.locator("main .cards > .card").first().waitFor();
  assert.match(page.url(), /user=mira/);
});
