// The page: a bench, lessons beside it, and where its runs come from.

import built from "../build/catalog.json";
import { FIRST, FIRST_TEXT } from "./first";
import { element } from "./format";
import { keys } from "./keys";
import { Lab } from "./lab";
import { Lessons } from "./lessons";
import { Remote } from "./remote";
import { fragment, type Shared, type Wanted, wanted } from "./share";
import { told } from "./told";
import { editors } from "./writing";

/** Scenarios in groups; `build.mjs` collects them. */
const catalog = built as { name: string; scenarios: { name: string; text: string }[] }[];

/** When the editors are fetched if nobody has opened one [ms]: after the first run, because the server may go. */
const FETCH_MS = 1500;

/** How long after a change the address is brought up to date [ms]: browsers refuse to have it changed all the time. */
const ADDRESS_MS = 300;

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
  select.append(new Option(FIRST, FIRST));
  for (const { name, scenarios } of catalog) {
    const group = document.createElement("optgroup");
    group.label = name;
    group.append(...scenarios.map(({ name: one }) => new Option(one, one)));
    select.append(group);
  }
  select.addEventListener("change", () => chosen(select.value));
}

/** The scenario that a link brought along. Its place in the list has no name that one of the catalogue could have. */
let linked: Shared | null = null;

/** Puts the address of what is shown where it can be copied, which opens nothing. */
function address(hash: string): void {
  history.replaceState(null, "", hash || location.href.split("#")[0]);
}

/** Has the address hold what is shown, unless something else has been opened since. */
async function renewAddress(): Promise<void> {
  const before = location.hash;
  if (!before.startsWith("#s=")) return;
  const packed = await fragment(lab.shared);
  if (location.hash === before) address(packed);
}

/** Has a set-up that is none of the catalogue in the list, chosen. */
function list(setup: Shared, note = ""): void {
  linked = setup;
  const select = element<HTMLSelectElement>("scenario");
  if (select.options[0].value === "") select.remove(0);
  select.prepend(new Option(setup.file.slice(0, 80) + note, ""));
  select.value = "";
}

function openLinked(): void {
  if (!linked) return;
  list(linked);
  // A stranger's code runs when its reader says so, and so does a scenario that would take the page's whole time.
  lab.open({ ...linked, algorithm: null }, { ask: true });
  if (linked.algorithm) lab.offer(linked.algorithm);
}

/** Opens a scenario of the list; whether there is one of this name. */
function open(name: string, keeps = false): boolean {
  if (name === FIRST) {
    element<HTMLSelectElement>("scenario").value = name;
    // Nothing moves for who does not want it.
    const slow = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    lab.open({ file: `${name}.toml`, text: FIRST_TEXT, point: 0, settings: [], algorithm: null, slow }, { keeps });
    return true;
  }
  const found = catalog.flatMap(({ scenarios }) => scenarios).find((one) => one.name === name);
  if (!found) return false;
  element<HTMLSelectElement>("scenario").value = name;
  lab.open({ file: `${name}.toml`, text: found.text, point: 0, settings: [], algorithm: null }, { keeps });
  return true;
}

/** Opens what is chosen in the list, beside a run that is kept. */
function chosen(name: string): void {
  if (name) {
    open(name, true);
    address(`#scenario=${name}`);
  } else if (linked) {
    openLinked();
    void fragment(linked).then(address);
  }
}

/** How many addresses have been followed: what an older one held comes too late. */
let followed = 0;

/** Opens what an address asks for; what it does not hold is said, and stays said until something else is opened. */
async function follow(hash: string, isFirst: boolean): Promise<void> {
  followed += 1;
  const turn = followed;
  let asked: Wanted = { kind: "nothing" };
  let wrong = "";
  try {
    asked = await wanted(hash);
  } catch (thrown) {
    wrong = (thrown as Error).message;
  }
  if (turn !== followed) return;
  if (asked.kind === "shared") {
    linked = asked.shared;
    lessons.close();
    openLinked();
    return;
  }
  if (asked.kind === "lesson") {
    if (lessons.open(asked.id, asked.step)) return;
    wrong = `there is no lesson "${asked.id}"`;
  }
  if (asked.kind === "scenario") {
    lessons.close();
    if (open(asked.name)) return;
    wrong = `there is no scenario "${asked.name}" in the list`;
  }
  if (isFirst) open(FIRST);
  if (wrong) lab.notice(`This link cannot be opened: ${wrong}. ${isFirst ? `Shown is ${FIRST}, which is not what it held.` : "Shown is what was open before."}`);
}

function begin(): void {
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
  // Meanwhile the address may have been brought up to date, so that it is no more the one that was asked for.
  window.addEventListener("hashchange", ({ newURL }) => void follow(new URL(newURL).hash, false));
  lab.onText = (setup) => list(setup, " (your text)");
  let timer: number | undefined;
  lab.onChange = () => {
    // A link in the address is that of what is shown.
    clearTimeout(timer);
    if (location.hash.startsWith("#s=")) timer = window.setTimeout(() => void renewAddress(), ADDRESS_MS);
    else if (location.hash.startsWith("#scenario=")) address("");
  };
  void follow(location.hash || told.start, true);
}

theme();
choice();
keys();
element("to-lab").addEventListener("click", () => {
  lessons.close();
  chosen(element<HTMLSelectElement>("scenario").value);
});
document.querySelector(".skip")!.addEventListener("click", (event) => {
  // The fragment of the address is what is shown, and is no place in the page.
  event.preventDefault();
  element("work").focus();
});
element("to-lessons").addEventListener("click", () => lessons.list());
begin();
