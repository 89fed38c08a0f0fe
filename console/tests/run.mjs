// node tests/run.mjs CONFIG.json     runs the scenarios named there, and prints a line of JSON for each.
// node tests/run.mjs --list          prints the names of all.

import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { launch, scenarios, There } from "./kit.mjs";
import "./scenarios/speed.mjs";
import "./scenarios/pictures.mjs";
import "./scenarios/timeline.mjs";
import "./scenarios/memory.mjs";
import "./scenarios/recall.mjs";
import "./scenarios/settling.mjs";
import "./scenarios/upkeep.mjs";
import "./scenarios/words.mjs";
import "./scenarios/graph.mjs";
import "./scenarios/harm.mjs";
import "./scenarios/frame.mjs";
import "./scenarios/access.mjs";

if (process.argv[2] === "--list") {
  for (const item of scenarios) console.log(item.name);
  process.exit(0);
}
const config = JSON.parse(readFileSync(process.argv[2], "utf8"));
const wanted = new Set(config.scenarios);
const browser = await launch(chromium, config.chromium);
try {
  for (const item of scenarios) {
    if (!wanted.has(item.name)) continue;
    const there = new There(browser, config);
    const started = Date.now();
    const told = { name: item.name, ok: true, error: null, data: null, ms: 0 };
    try {
      told.data = (await item.run(there)) ?? null;
      if (there.faults.length) throw new Error([...new Set(there.faults)].join("\n"));
    } catch (error) {
      told.ok = false;
      told.error = [error.stack ?? String(error), ...there.faults].join("\n");
    }
    await there.close();
    told.ms = Date.now() - started;
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }
} finally {
  await browser.close();
}
