// Conflicts and decisions.

import { assert, button, scenario, settled } from "../kit.mjs";

scenario("a conflict is resolved, undone, and resolved by keeping all", async (there) => {
  const page = await there.at("conflicts");
  const card = page.locator("main .cards > .card", { hasText: "locker code" });
  await card.getByText("My locker code is 9021.", { exact: true }).waitFor();
  await card.getByLabel("Note").fill("she said so");
  await button(card, "Keep B").click();
  await card.getByText(/Resolved \(one was kept\) by local/).waitFor();
  assert.match(await card.textContent(), /she said so/);
  await card.locator(".sides > .kept", { hasText: "9021" }).waitFor();
  await card.locator(".sides > li", { hasText: "4417" }).getByText("superseded").waitFor();
  await button(card, "Undo").click();
  await button(card, "Keep A").waitFor();
  await card.locator(".sides > li", { hasText: "4417" }).getByText("disputed").waitFor();
  await button(card, "Keep all of them").click();
  await card.getByText(/Resolved \(all were kept\)/).waitFor();
  await button(card, "Undo").click();
  await button(card, "Keep A").waitFor();
});

scenario("conflicts are listed by their state", async (there) => {
  const page = await there.at("conflicts");
  await button(page, "Keep A").first().waitFor();
  await page.getByLabel("State").selectOption("resolved");
  await page.waitForURL((url) => url.hash.includes("resolved"));
  await page.getByText("No conflict here.").waitFor();
});

scenario("decisions are listed with their outcomes, and what is overdue stands out", async (there) => {
  const page = await there.at("decisions");
  await page.locator("main .cards > .card").nth(20).waitFor();
  assert.equal(await page.locator("main .cards > .card").count(), 23);
  const late = page.locator("main .cards > .card", { hasText: "部分退款" });
  assert.match(await late.textContent(), /no outcome yet.*overdue/s);
  await page.getByLabel("Action", { exact: true }).first().fill("send again");
  await button(page, "Apply").click();
  await page.waitForURL((url) => url.hash.includes("send"));
  await settled(page);
  assert.equal(await page.locator("main .cards > .card").count(), 1);
});

scenario("a decision shows its chain, what it rested on, then and now", async (there) => {
  const page = await there.at(`decisions/${there.ids.child}`);
  await page.locator(".chain").waitFor();
  assert.match(await page.locator(".chain").textContent(), /refund.*send again/s);
  await page.locator("section[aria-labelledby='rested']").getByRole("link", { name: "Mira's parcels are often late in winter." }).waitFor();
  await button(page, "Then and now").click();
  await page.getByRole("table").waitFor();
  assert.match(await page.getByRole("table").textContent(), /often late in winter/);
  await page.locator(".chain").getByRole("link", { name: "refund" }).click();
  await page.locator("main .card-head", { hasText: "refund" }).waitFor();
});

scenario("an outcome is recorded and its blame taken back", async (there) => {
  const page = await there.at(`decisions/${there.ids.late}`);
  const form = page.getByRole("form", { name: "Record an outcome" });
  await form.getByLabel("Result").selectOption("mixed");
  await form.getByLabel("Score").fill("0.1");
  await form.getByLabel("Note").fill("半数满意");
  await button(form, "Save").click();
  const row = page.locator("section[aria-labelledby='outcomes'] li", { hasText: "半数满意" });
  await row.waitFor();
  await button(row, "Take its blame or credit back").click();
  await row.getByText("taken back").waitFor();
});

scenario("precedents tell how each action went", async (there) => {
  const page = await there.at("decisions");
  await page.getByText("Precedents: what was done").click();
  await page.getByLabel("The situation").fill("A late parcel, a refund is asked for");
  await page.getByLabel("Actions to compare").fill("refund\nwait");
  await button(page, "Look for precedents").click();
  await page.getByRole("table").waitFor();
  assert.match(await page.getByRole("table").textContent(), /refund/);
  await page.getByText(/similarity \d/).first().waitFor();
});
