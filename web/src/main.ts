// The page: a bench, lessons beside it, and where its runs come from.

import built from "../build/catalog.json";
import { element } from "./format";
import { Lab } from "./lab";
import { Lessons } from "./lessons";
import { Remote } from "./remote";
import { read, type Shared } from "./share";
import { editors } from "./writing";

/** Scenarios in groups; `build.mjs` collects them. */
const catalog = built as { name: string; scenarios: { name: string; text: string }[] }[];

const FIRST = "two-source-transient";

/** When the editors are fetched if nobody has opened one [ms]: after the first run, because the server may go. */
const FETCH_MS = 1500;

const lab = new Lab();
const lessons = new Lessons(element("lesson"), element("work"), lab);

/** State of the page for tests and the curious. */
(globalThis as Record<string, unknown>).cellrate = { lab };

function theme(): void {
  const order = ["", "light", "dark"];
  const show = (wanted: string): void => {
    if (wanted) document.documentElement.dataset.theme = wanted;
    else delete document.documentElement.dataset.theme;
    element("theme").textContent = `Theme: ${wanted || "system"}`;
    window.dispatchEvent(new Event("theme"));
  };
  let wanted = "";
  try {
    wanted = localStorage.getItem("theme") ?? "";
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  show(order.includes(wanted) ? wanted : "");
  element("theme").addEventListener("click", () => {
    wanted = order[(order.indexOf(wanted) + 1) % order.length];
    show(wanted);
    try {
      localStorage.setItem("theme", wanted);
    } catch {
      // As above.
    }
  });
}

function choice(): void {
  const select = element<HTMLSelectElement>("scenario");
  for (const { name, scenarios } of catalog) {
    const group = document.createElement("optgroup");
    group.label = name;
    group.append(...scenarios.map(({ name: one }) => new Option(one, one)));
    select.append(group);
  }
  select.addEventListener("change", () => open(select.value));
}

/** The scenario that a link brought along. Its place in the list has no name that one of the catalogue could have. */
let linked: Shared | null = null;

function openLinked(): void {
  if (!linked) return;
  const select = element<HTMLSelectElement>("scenario");
  if (select.options[0].value !== "") select.prepend(new Option(linked.file, ""));
  select.value = "";
  lab.open({ ...linked, algorithm: null });
}

function open(name: string): void {
  if (!name) {
    openLinked();
    return;
  }
  const found = catalog.flatMap(({ scenarios }) => scenarios).find((one) => one.name === name);
  if (!found) return;
  element<HTMLSelectElement>("scenario").value = name;
  lab.open({ file: `${name}.toml`, text: found.text, point: 0, settings: [], algorithm: null });
}

async function begin(): Promise<void> {
  const watches = (globalThis as { cellrateMode?: string }).cellrateMode === "watch";
  window.addEventListener("load", () => setTimeout(() => editors().catch(() => {}), watches ? 0 : FETCH_MS));
  if (watches) {
    element("choice").querySelector<HTMLElement>(".choose")!.hidden = true;
    document.querySelector<HTMLElement>("nav")!.hidden = true;
    lab.watch(new Remote(location.href, lab));
    return;
  }
  if (!lab.simulates) {
    lab.failed({ message: "This page was built without the simulator", remedy: "`make lab` builds it" });
    return;
  }
  const [, lesson] = location.hash.match(/^#lesson=([\w-]+)$/) ?? [];
  const [, scenario] = location.hash.match(/^#scenario=([\w-]+)$/) ?? [];
  try {
    linked = await read(location.hash);
    if (linked) {
      openLinked();
      // A stranger's code runs when its reader says so.
      if (linked.algorithm) lab.offer(linked.algorithm, true);
      return;
    }
  } catch (thrown) {
    open(FIRST);
    lab.failed({ message: `The link cannot be read: ${(thrown as Error).message}` });
    return;
  }
  if (lesson && lessons.open(lesson)) return;
  open(catalog.some(({ scenarios }) => scenarios.some(({ name }) => name === scenario)) ? scenario : FIRST);
}

theme();
choice();
element("to-lab").addEventListener("click", () => {
  lessons.close();
  open(element<HTMLSelectElement>("scenario").value);
});
element("to-lessons").addEventListener("click", () => lessons.list());
void begin();
