// Both languages to the end: what the service says of its own doings, ids by what they stand for, and no dead ends.

import { assert, button, scenario, settled } from "../kit.mjs";

const zh = { locale: "zh-CN" };
/** Sentences of the service, ids and raw times that nobody should have to read in a Chinese page. */
const FOREIGN = /worth 0|importance 0|unused for|is said by|open since|of the last \d+ tasks|forget\.proposed|\bproposed\b|\d\dT\d\d:\d\d:\d\d/;

scenario("reports speak Chinese in a Chinese page", async (there) => {
  const page = await there.page(zh);
  const forgetting = (await there.api("GET", "/v1/audits?kind=forgetting&user_id=mira")).items[0];
  const daily = (await there.api("GET", "/v1/maintenance?cadence=daily")).items.at(-1);
  for (const [view, sentence] of [
    [`audits/${there.ids.audit}`, /自 2026年\d+月\d+日.*起未决/],
    [`audits/${forgetting.id}`, /价值 0\.\d+：重要性 0\.\d+，可信度/],
    [`maintenance/${daily.id}`, /最近提到它的 \d+ 次任务中有 \d+ 次说法相同/],
    ["maintenance", /遗忘 · 提议遗忘/],
  ]) {
    await there.at(view, { page });
    await page.locator("main .card").first().waitFor();
    await settled(page);
    const text = await page.locator("main").innerText();
    assert.match(text, sentence, view);
    assert.doesNotMatch(text, FOREIGN, view);
  }
});

scenario("slots, changed fields and refusals speak Chinese in a Chinese page", async (there) => {
  const page = await there.page(zh);
  await there.at("profile", { page });
  await page.getByRole("heading", { name: "排序方式" }).waitFor();
  await there.at("conflicts?state=all", { page });
  await page.getByRole("heading", { name: "用户 · 电话" }).waitFor();
  await there.at(`memory/${there.ids.gone}`, { page });
  const history = page.locator("section[aria-labelledby='history']");
  await history.locator("ins", { hasText: "已遗忘" }).waitFor();
  assert.doesNotMatch(await history.locator("table").innerText(), FOREIGN);
  await there.at("memory/01JWB5A8ZK3V9Q6M2T4X7C1D0E", { page });
  await page.getByRole("alert").filter({ hasText: "404 未找到" }).filter({ hasText: "没有这条记忆" }).waitFor();
});

scenario("a purged memory tells when and why in the language of the page", async (there) => {
  const page = await there.page(zh);
  const detail =
    "this memory was purged at 2026-03-01T08:00:00.000000Z: it was deleted at 2026-01-30T08:00:00.000000Z by ann, because: expired";
  await page.route("**/v1/memories/*", (route) =>
    route.fulfill({ status: 410, contentType: "application/problem+json", body: JSON.stringify({ type: "urn:x", title: "Gone", status: 410, detail }) }),
  );
  await there.at(`memory/${there.ids.plain}`, { page });
  await page.getByRole("alert").filter({ hasText: /410 已彻底清除.*2026年3月1日.*由 ann 遗忘，原因：保质期已过/s }).waitFor();
});

scenario("memories that are only named by their ids are shown by what they say", async (there) => {
  const page = await there.at("profile");
  const card = page.locator("main .cards > .card").filter({ hasText: "sort order" });
  await card.getByText(/Evidence \(\d+\)/).click();
  await card.getByRole("link", { name: "I prefer the order list sorted by date." }).first().waitFor();
  await there.at("playground", { page });
  await page.getByLabel("Query").fill("lavender in the garden");
  await button(page, "Recall").click();
  await page.locator(".hits > li").first().waitFor();
  await page.getByText(/Next in line \(\d+\)/).click();
  await page.locator("details .rows a:not(.id)").nth(5).waitFor();
  await there.at(`audits/${there.ids.audit}`, { page });
  await page.getByRole("link", { name: /My phone number is/ }).first().waitFor();
});

scenario("own weights begin with those that the last answer was ranked by", async (there) => {
  const page = await there.at("playground");
  await page.getByLabel("Query").fill("tea");
  await page.getByLabel("Scoring profile").selectOption("hindsight");
  await button(page, "Recall").click();
  await page.locator(".hits > li").first().waitFor();
  await page.getByLabel("Own weights").check();
  const weights = page.getByRole("group", { name: /Weights/ });
  assert.equal(await weights.getByLabel("meaning").inputValue(), "0.5");
  assert.equal(await weights.getByLabel("words").inputValue(), "0");
  assert.equal(await weights.getByLabel("recency").inputValue(), "0.3");
});

scenario("a proposal that was opposed may still be approved, and offers nothing that does nothing", async (there) => {
  const report = (await there.api("GET", "/v1/audits?kind=forgetting&user_id=mira")).items[0];
  const id = report.findings[4].refs[0];
  const page = await there.at(`audits/${report.id}`);
  const card = page.locator("main .cards > .card").nth(4);
  await button(card, "Oppose: keep it").click();
  await card.locator(".badge", { hasText: "opposed" }).waitFor();
  assert.equal(await button(card, "Undo").count(), 0);
  await button(card, "Approve: forget it").click();
  await button(card, "Undo").click();
  await card.getByText("taken back").waitFor();
  assert.equal((await there.api("GET", `/v1/memories/${id}`)).status, "active");
});

scenario("what a language model says of a proposal stands beside it", async (there) => {
  const report = (await there.api("GET", "/v1/audits?kind=forgetting&user_id=mira")).items[0];
  report.findings = [
    { ...report.findings[8], opinion: "keep" },
    { ...report.findings[9], opinion: "forget", state: "moot" },
  ];
  const page = await there.page();
  await page.route(`**/v1/audits/${report.id}`, (route) => route.fulfill({ json: report }));
  await there.at(`audits/${report.id}`, { page });
  await page.getByText("A language model would keep it").waitFor();
  await page.getByText("A language model would forget it too.").waitFor();
  await page.locator(".badge", { hasText: "settled otherwise" }).waitFor();
});

scenario("a merged memory offers no change that would be refused", async (there) => {
  const page = await there.page();
  const memory = await there.api("GET", `/v1/memories/${there.ids.plain}`);
  const merged = { ...memory, status: "merged", merged_into: there.ids.long };
  await page.route(`**/v1/memories/${memory.id}`, (route) => route.fulfill({ json: merged }));
  await there.at(`memory/${memory.id}`, { page });
  await page.locator(".fate").getByRole("link", { name: /Wishes to be called/ }).waitFor();
  await button(page, "Forget").waitFor();
  assert.equal(await button(page, "Edit").count(), 0);
  assert.equal(await button(page, "Confirm").count(), 0);
});

scenario("what a run made of many memories is unmade from its report", async (there) => {
  const { id } = await there.api("POST", "/v1/memories?wait=true", { user_id: "mira", content: "Asked for the map four times.", admission: "verbatim" });
  const run = (await there.api("GET", "/v1/maintenance?cadence=weekly")).items.at(-1);
  const whole = await there.api("GET", `/v1/maintenance/${run.id}`);
  const change = { user_id: "mira", action: "consolidated", refs: [id], reason: "like episodes: 4 times, 2026-01-02 to 2026-02-03", undo: `DELETE /v1/memories/${id}` };
  const page = await there.page();
  await page.route(`**/v1/maintenance/${run.id}`, (route) =>
    route.fulfill({ json: { ...whole, tasks: { consolidate: { counts: { consolidated: 1 }, changes: [change] } } } }),
  );
  await there.at(`maintenance/${run.id}`, { page });
  await button(page, "Undo").click();
  await page.locator(".badge", { hasText: "Undone" }).waitFor();
  assert.equal((await there.api("GET", `/v1/memories/${id}`)).status, "deleted");
});

scenario("what sleeps in the archive is woken from the report of the run that put it there", async (there) => {
  const { id } = await there.api("POST", "/v1/memories?wait=true", { user_id: "mira", content: "The ferry has a blue funnel.", admission: "verbatim" });
  const run = (await there.api("GET", "/v1/maintenance?cadence=daily")).items.at(-1);
  const whole = await there.api("GET", `/v1/maintenance/${run.id}`);
  const undo = `PATCH /v1/memories/${id} {"confirmed": true}`;
  const change = { user_id: "mira", action: "archived", refs: [id], reason: "not used for 90 days: found in the archive", undo };
  const page = await there.page();
  await page.route(`**/v1/maintenance/${run.id}`, (route) =>
    route.fulfill({ json: { ...whole, tasks: { cold: { counts: { archived: 1 }, changes: [change] } } } }),
  );
  await there.at(`maintenance/${run.id}`, { page });
  await button(page, "Undo").click();
  await page.locator(".badge", { hasText: "Undone" }).waitFor();
  assert.equal((await there.api("GET", `/v1/memories/${id}`)).confirmations, 1);
});

scenario("a memory of another time tells it on the timeline", async (there) => {
  const occurred_at = "2019-05-04T10:00:00Z";
  await there.api("POST", "/v1/memories?wait=true", { user_id: "mira", content: "Moved to the coast.", admission: "verbatim", kind: "event", occurred_at });
  const page = await there.at("timeline?until=2019-12-31");
  const card = page.locator("main .cards > .card", { hasText: "Moved to the coast." });
  await card.waitFor();
  assert.match(await card.locator(".meta").textContent(), /of 4 May 2019/);
});

scenario("the fields of filters follow the address, and one link clears them", async (there) => {
  for (const view of ["graph", "decisions"]) {
    const page = await there.at(`${view}?tag=parcel&since=2026-01-01`);
    await settled(page);
    assert.equal(await page.getByLabel("Tag", { exact: true }).inputValue(), "parcel");
    await page.getByRole("form", { name: "Filters" }).getByRole("link", { name: "Clear" }).click();
    await page.waitForURL((url) => !url.hash.includes("parcel"));
    await page.waitForFunction(() => [...document.querySelectorAll(".filters input")].every((item) => item.type === "checkbox" || item.value === ""));
    await page.goBack();
    await page.waitForFunction(() => [...document.querySelectorAll(".filters input")].some((item) => item.value === "parcel"));
  }
});

scenario("a question stands in the middle of the window", async (there) => {
  const page = await there.at(`memory/${there.ids.plain}`);
  await button(page, "Edit").click();
  const box = await page.getByRole("dialog").boundingBox();
  assert.ok(Math.abs(box.x + box.width / 2 - 640) < 10, `its middle is at ${box.x + box.width / 2}`);
  assert.ok(Math.abs(box.y + box.height / 2 - 430) < 10, `its middle is at ${box.y + box.height / 2}`);
});
