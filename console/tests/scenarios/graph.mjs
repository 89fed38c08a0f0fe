import { assert, button, scenario } from "../kit.mjs";

const drawn = (page) => page.locator("canvas[data-settled='yes']").waitFor();

/** How many of the picture's pixels are painted, and a sum that tells one picture from another. */
const ink = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let [painted, sum] = [0, 0];
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 0) painted += 1;
      sum = (sum * 31 + data[at] + 7 * data[at + 1] + 13 * data[at + 2]) % 1_000_000_007;
    }
    return { painted, sum };
  });

scenario("the graph holds every memory, and names clusters, islands and what is overdue", async (there) => {
  const page = await there.at("graph?decisions=no");
  await drawn(page);
  const { counts } = await there.api("GET", "/v1/graph?user_id=mira");
  assert.ok(counts.memories >= 5000, `${counts.memories} memories`);
  assert.equal(await page.locator("canvas").getAttribute("data-nodes"), String(counts.memories));
  assert.match(await page.locator("#graph-sum").textContent(), /5,\d{3} memories, 0 decisions, .* \d+ clusters, \d+ islands/);
  assert.ok((await ink(page)).painted > 20_000);
  await page.getByLabel("Decisions too").check();
  await page.waitForFunction(() => /23 decisions.*[1-9]\d* overdue/.test(document.querySelector("#graph-sum")?.textContent ?? ""));
  assert.equal(await page.getByText("There is more than can be shown").count(), 0);
});

scenario("a click on a node leads to the memory", async (there) => {
  const page = await there.at("graph?tag=window-seat");
  await drawn(page);
  assert.equal(await page.locator("canvas").getAttribute("data-nodes"), "1");
  const box = await page.locator("canvas").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.locator(".picture-note bdi", { hasText: "Prefers the window seat" }).waitFor();
  await page.mouse.click(x, y);
  await page.waitForURL((url) => /memory\/\w{26}/.test(url.hash));
  await page.locator("article .text").first().waitFor();
});

scenario("the keyboard goes from node to node and opens one", async (there) => {
  const page = await there.at("graph?kind=instruction");
  await drawn(page);
  await page.locator("canvas").focus();
  await page.keyboard.press("ArrowRight");
  const note = page.locator(".picture-note bdi");
  await note.waitFor();
  const first = await note.textContent();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((was) => document.querySelector(".picture-note bdi")?.textContent !== was, first);
  const said = (await page.locator(".quiet[role='status']").textContent()).trim();
  assert.equal(said, (await note.textContent()).trim());
  for (const key of ["+", "-", "Shift+ArrowLeft", "0"]) await page.keyboard.press(key);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => /memory\/\w{26}/.test(url.hash));
});

scenario("the same graph is there as a list with its connections", async (there) => {
  const page = await there.at("graph");
  await drawn(page);
  const rows = page.locator("section[aria-labelledby='graph-list'] > .rows > li");
  assert.equal(await rows.count(), 50);
  await page.getByLabel("Show", { exact: true }).selectOption("overdue");
  await page.waitForFunction(() => document.querySelectorAll(".rows > li").length === 1);
  assert.match(await rows.first().textContent(), /部分退款.*decision.*overdue/s);
  await page.getByLabel("Show", { exact: true }).selectOption("island");
  await page.getByText(/\d+ nodes, page 1 of \d/).waitFor();
  assert.match(await rows.first().textContent(), /island/);
  await page.getByLabel("Show", { exact: true }).selectOption("all");
  await page.getByLabel("Words").fill("locker code is 9021");
  await page.waitForFunction(() => document.querySelectorAll(".rows > li").length === 1);
  await rows.first().getByRole("button", { name: /connections/ }).click();
  assert.match(await rows.first().locator("ul").textContent(), /conflicts: .*4417/);
  await rows.first().getByRole("link").first().click();
  await page.waitForURL((url) => /memory\/\w{26}/.test(url.hash));
});

scenario("kinds of edges are switched off and on, and filters narrow the graph", async (there) => {
  const page = await there.at("graph?tag=garden-5");
  await drawn(page);
  const before = await ink(page);
  await page.getByLabel(/^same tag/).uncheck();
  await page.getByLabel(/^near in time/).check();
  await page.getByLabel(/^near in time \(\d+\)/).waitFor();
  await drawn(page);
  assert.ok(!(await page.getByLabel(/^same tag/).isChecked()));
  await page.waitForFunction(() => new Promise((resolve) => requestAnimationFrame(() => resolve(true))));
  assert.notEqual((await ink(page)).sum, before.sum);
  await page.locator("main .filters").first().getByLabel("Kind").selectOption("event");
  await page.waitForURL((url) => url.hash.includes("kind=event"));
  await drawn(page);
  await button(page, "Show all").click();
});
