// Scenarios in a real browser. A file of scenarios registers them; run.mjs runs those that are asked for.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

export { assert };

/** @type {{ name: string, run: (there: any) => Promise<any> }[]} */
export const scenarios = [];

/** Registers a sentence of behaviour and the function that holds it true. */
export function scenario(name, run) {
  scenarios.push({ name, run });
}

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const launch = (chromium, executable) =>
  chromium.launch({ executablePath: executable, headless: true, args: ARGUMENTS });

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What one scenario has at hand: the servers, the ids of the store, and pages that are watched. */
export class There {
  constructor(browser, config) {
    this.browser = browser;
    this.config = config;
    this.ids = config.ids;
    this.base = config.open;
    this.contexts = [];
    this.faults = [];
  }

  /** A page in a fresh context. Requests to elsewhere, keys in addresses and errors of the page are faults. */
  async page(options = {}) {
    const { base = this.base, ...more } = options;
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 860 },
      locale: "en-GB",
      colorScheme: "light",
      reducedMotion: "reduce",
      ...more,
    });
    context.setDefaultTimeout(15_000);
    this.contexts.push(context);
    const page = await context.newPage();
    const origin = new URL(base).origin;
    page.on("request", (request) => {
      const url = request.url();
      if (url.startsWith("data:") || url.startsWith("blob:")) return;
      if (new URL(url).origin !== origin) this.faults.push(`a request left the origin: ${url}`);
      if (url.includes(this.config.key)) this.faults.push("the key stands in an address");
    });
    page.on("pageerror", (error) => this.faults.push(`an error of the page: ${error.message}`));
    page.on("dialog", (dialog) => {
      this.faults.push("a dialog of the browser opened");
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      const text = message.text();
      // The browser itself tells of every refused request; those are looked at where they are expected.
      if (message.type() === "error" && !text.startsWith("Failed to load resource"))
        this.faults.push(`the browser complains: ${text}`);
    });
    page.base = base;
    return page;
  }

  /** A page of the user with the many memories, at a view. */
  async at(view, options = {}) {
    const { user = "mira", ...more } = options;
    const page = options.page ?? (await this.page(more));
    await page.goto(`${page.base}/console#/${view}${view.includes("?") ? "&" : "?"}user=${encodeURIComponent(user)}`);
    await page.locator("main h1").waitFor();
    return page;
  }

  async api(method, path, body) {
    const answer = await fetch(`${this.base}${path}`, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return JSON.parse(text);
  }

  async close() {
    for (const context of this.contexts) await context.close();
  }
}

/** Serious and critical violations, as lines. */
export async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations
    .filter((item) => item.impact === "serious" || item.impact === "critical")
    .map((item) => `${item.id}: ${item.help} — ${item.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

/** Waits until nothing is loading any more. */
export async function settled(page) {
  await page.waitForFunction(() => !document.querySelector(".spinner, [aria-busy='true']"));
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** A button by its name, not a link that is dressed as one. */
export const button = (place, name) => place.getByRole("button", { name, exact: true });
