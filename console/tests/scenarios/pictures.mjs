// Pictures for the README, of the generated store only: made when a folder is named for them.

import { join } from "node:path";
import { statSync } from "node:fs";
import { assert, button, scenario, settled } from "../kit.mjs";

const LIMIT = 300_000;

scenario("pictures for the README show the generated store and stay small", async (there) => {
  const folder = there.config.pictures;
  if (!folder) return null;
  const viewport = { width: 1120, height: 720 };
  const sizes = {};
  const take = async (page, name) => {
    await settled(page);
    const path = join(folder, `console-${name}.png`);
    await page.screenshot({ path });
    sizes[name] = statSync(path).size;
    assert.ok(sizes[name] < LIMIT, `${name}: ${sizes[name]} bytes`);
  };

  const timeline = await there.at("timeline?status=all&until=2026-03-07", { viewport });
  await timeline.locator("main .cards > .card").first().waitFor();
  await take(timeline, "timeline");

  const graph = await there.at("graph", {
    viewport: { width: 880, height: 560 },
    colorScheme: "dark",
  });
  await graph.locator("canvas[data-settled='yes']").waitFor();
  await graph.locator(".picture").evaluate((item) => item.scrollIntoView({ block: "start" }));
  await take(graph, "graph");

  const playground = await there.at("playground", { viewport, locale: "zh-CN" });
  await playground.getByLabel("查询").fill("对花生过敏");
  await button(playground, "检索").click();
  await playground.locator(".hits > li").first().waitFor();
  await playground.locator("#hits").evaluate((item) => item.scrollIntoView({ block: "start" }));
  await take(playground, "recall");

  const conflicts = await there.at("conflicts", { viewport });
  await button(conflicts, "Keep A").first().waitFor();
  await take(conflicts, "conflicts");
  return sizes;
});
