// Bundles the page: `node build.mjs FOLDER` writes its files into FOLDER; with the simulator where it has been built.
import { build } from "esbuild";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { parts } from "./schema.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node build.mjs FOLDER");
  process.exit(2);
}
const work = join(here, "build");
mkdirSync(work, { recursive: true });
mkdirSync(folder, { recursive: true });

// Scenarios that need no other file and no real programs.
function scenarios(from) {
  const files = existsSync(from) ? readdirSync(from).sort() : [];
  return files.filter((file) => file.endsWith(".toml")).flatMap((file) => {
    const text = readFileSync(join(from, file), "utf8");
    const said = text.replace(/^\s*#.*$/gm, "");
    if (/^\s*\[\[application\]\]|\bfile\s*=/m.test(said)) return [];
    return [{ name: basename(file, ".toml"), text }];
  });
}
const root = join(here, "..");
const papers = readdirSync(join(root, "papers")).filter((name) => statSync(join(root, "papers", name)).isDirectory()).sort();
const groups = [
  { name: "Ready scenarios", scenarios: scenarios(join(root, "scenarios")) },
  ...papers.map((paper) => ({ name: `Paper ${paper}`, scenarios: scenarios(join(root, "papers", paper, "scenarios")).map((one) => ({ ...one, name: `${paper}/${one.name}` })) })),
];
// Typed here, so that the type checker need not read them all.
writeFileSync(join(work, "catalog.json"), JSON.stringify(groups.filter((group) => group.scenarios.length)));

// Symbols of the glossary by their small letters, each with its meaning: words for those who move a slider.
const glossary = {};
for (const line of readFileSync(join(root, "docs", "glossary.md"), "utf8").split("\n")) {
  const [, symbols, meaning] = line.match(/^\| ([^|]+) \| ([^|]+) \|/) ?? [];
  if (!symbols || symbols === "symbol" || symbols.startsWith("---")) continue;
  const said = meaning.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1").replaceAll("`", "").trim();
  for (const symbol of symbols.split(", ")) glossary[symbol.toLowerCase()] ??= { symbol, meaning: said };
}
writeFileSync(join(work, "glossary.json"), JSON.stringify(glossary));

const common = { bundle: true, minify: true, format: "iife", target: "es2022", legalComments: "none", logLevel: "warning", absWorkingDir: here, loader: { ".txt": "text", ".toml": "text" } };
const module = join(here, "pkg", "cellrate_web_bg.wasm");
const hasKernel = existsSync(module);
if (hasKernel) {
  const simulator = await import(pathToFileURL(join(here, "pkg", "cellrate_web.js")));
  simulator.initSync({ module: readFileSync(module) });
  writeFileSync(join(work, "schema.json.txt"), JSON.stringify(parts(JSON.parse(simulator.schema()))));
  // Nothing but the module that the page hands over is ever loaded.
  await build({ ...common, entryPoints: ["src/worker.ts"], outfile: join(work, "worker.js.txt") });
  // As a script, because a page that is opened as a file may not fetch anything.
  writeFileSync(join(folder, "kernel.js"), `globalThis.cellrateKernel="${gzipSync(readFileSync(module), { level: 9 }).toString("base64")}";\n`);
} else {
  for (const file of ["worker.js.txt", "schema.json.txt"]) writeFileSync(join(work, file), "");
  rmSync(join(folder, "kernel.js"), { force: true });
}
await build({ ...common, entryPoints: ["src/main.ts"], outfile: join(folder, "page.js"), define: { HAS_KERNEL: String(hasKernel) } });
await build({ ...common, entryPoints: ["src/editor.ts"], outfile: join(folder, "editor.js"), globalName: "cellrateEditors" });
await build({ ...common, stdin: { contents: '@import "uplot/dist/uPlot.min.css"; @import "./page.css";', loader: "css", resolveDir: here }, outfile: join(folder, "page.css") });
copyFileSync(join(here, "index.html"), join(folder, "index.html"));
writeFileSync(join(folder, "mode.js"), 'globalThis.cellrateMode="lab";\n');
// The texts that the licences of what is bundled ask for.
const packages = JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8")).packages;
const bundled = Object.keys(packages).filter((path) => /uplot|codemirror|lezer|style-mod|crelt|w3c-keyname|marijn/.test(path) && existsSync(join(here, path)));
const licences = bundled.sort().map((path) => {
  const file = readdirSync(join(here, path)).find((name) => /^licen[cs]e/i.test(name));
  return `${path.replace("node_modules/", "")} ${packages[path].version} (${packages[path].license})\n\n${file ? readFileSync(join(here, path, file), "utf8") : ""}`;
});
writeFileSync(join(folder, "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
