// Builds the console: three files with fixed names, the same bytes from the same sources on every machine.
//
//   node build.mjs [--out FOLDER]     default: the package's own folder, where the server finds them
import { build } from "esbuild";
import { copyFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const flag = process.argv.indexOf("--out");
const out = resolve(flag > 0 ? process.argv[flag + 1] : join(here, "../layers/core/rearview/console"));
const LIMIT = 400_000;

await mkdir(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
await build({
  absWorkingDir: here,
  entryPoints: { app: "src/style.css" },
  outdir: out,
  bundle: true,
  minify: true,
  target: ["es2022"],
  logLevel: "warning",
});
await copyFile(join(here, "src/index.html"), join(out, "index.html"));

// The libraries' licences ask to travel with their code.
const kept = JSON.parse(await readFile(join(here, "package.json"), "utf8")).dependencies;
const lock = JSON.parse(await readFile(join(here, "package-lock.json"), "utf8")).packages;
const names = Object.keys(lock)
  .filter((path) => path.startsWith("node_modules/") && !lock[path].dev)
  .map((path) => path.slice("node_modules/".length))
  .sort();
const parts = [`The console's code contains these libraries: ${names.join(", ")}.\n`];
for (const name of names) {
  const text = await readFile(join(here, "node_modules", name, "LICENSE"), "utf8");
  parts.push(`== ${name} ${lock[`node_modules/${name}`].version}\n\n${text.trim()}\n`);
}
await writeFile(join(out, "LICENSES.txt"), parts.join("\n"));

let total = 0;
for (const name of ["index.html", "app.js", "app.css", "LICENSES.txt"]) {
  const { size } = await stat(join(out, name));
  total += size;
  console.log(`${name.padEnd(12)} ${size} bytes`);
}
if (total > LIMIT || Object.keys(kept).length > 5) throw new Error(`${total} bytes: the console is meant to stay small`);
