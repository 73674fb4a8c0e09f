// Runs scenarios in WebAssembly, without a browser: a list of { text, file } as JSON in, all points of each. Gives a
// list of summaries for each, as JSON, and with --time how many cell hops a second the last of three runs made.
import { readFileSync } from "node:fs";
import { initSync, Run, Setup } from "../pkg/cellrate_web.js";

initSync({ module: readFileSync(new URL("../pkg/cellrate_web_bg.wasm", import.meta.url)) });

function summary(setup) {
  const run = new Run(setup, 0, false, 0, undefined);
  run.advance(1e-6);
  return JSON.parse(run.finish().summary);
}

const given = JSON.parse(readFileSync(0, "utf8"));
const told = given.map(({ text, file }) => {
  const points = JSON.parse(Setup.parse(text, file).points());
  return points.map((_, place) => {
    const setup = Setup.parse(text, file);
    setup.take_point(place);
    if (!process.argv.includes("--time")) return summary(setup);
    let hops = 0;
    for (let turn = 0; turn < 3; turn += 1) {
      const begun = performance.now();
      hops = summary(setup).run.cell_hops / (performance.now() - begun) * 1e3;
    }
    return { cell_hops_per_s: hops };
  });
});
process.stdout.write(JSON.stringify(told));
