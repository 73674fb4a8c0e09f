// Groups that a scenario makes by `count`, which tables and panels fold into one row or band each: as recorded/groups.py.

/** Members from which on a group is folded: fewer are shown one by one. */
const LEAST = 6;

/** From the name of a member to that of its group, "tcp1 ... tcp30". */
export type Groups = Record<string, string>;

/** Groups of all tables, and those that are bands in panels: which switch of a chain has the queue is what one looks for. */
export interface Folding {
  all: Groups;
  drawn: Groups;
}

const DRAWN = ["vc", "host", "flows"];
const KINDS = [...DRAWN, "switch"];

/** Signs between names in the name of a row: "s1->sw1", "tcp1 (back)", "vc1 at sw2". */
const BETWEEN = /(->| \(back\)| #\d+| \([^)]*\)| at |, )/;
const MEMBER = /\{\s*i\s*(?:([+-])\s*(\d+)\s*)?\}/g;

type Entry = { name?: unknown; count?: unknown };

/** A text of an entry as its member of that number has it. */
function ofMember(text: string, number: number): string {
  return text.replace(MEMBER, (_, sign: string | undefined, shift: string) => String(number + (sign ? Number(`${sign}${shift}`) : 0)));
}

/** The first and the last of what a text with `{i}` stands for: "tcp1 ... tcp30"; the text where it stands for one. */
export function firstToLast(text: string, count: unknown): string {
  return typeof count === "number" && count > 1 && text.search(MEMBER) >= 0 ? `${ofMember(text, 1)} ... ${ofMember(text, count)}` : text;
}

/** The groups of a scenario document that have members enough. */
export function groupsOf(document: Record<string, unknown>): Folding {
  const found = (kinds: string[]): Groups => {
    const groups = new Map<string, string>();
    for (const { name, count } of kinds.flatMap((kind) => (Array.isArray(document[kind]) ? (document[kind] as Entry[]) : []))) {
      if (typeof name !== "string" || typeof count !== "number" || count < LEAST || (name.match(MEMBER) ?? []).length !== 1) continue;
      const group = firstToLast(name, count);
      for (let number = 1; number <= count; number += 1) groups.set(ofMember(name, number), group);
    }
    return Object.fromEntries(groups);
  };
  return { all: found(KINDS), drawn: found(DRAWN) };
}

/** The name of the group that a row belongs to: "s1 ... s30->sw1" for "s1->sw1"; its own without one. */
function foldedName(name: string, groups: Groups): string {
  return name
    .split(BETWEEN)
    .map((part) => (Object.hasOwn(groups, part) ? groups[part] : part))
    .join("");
}

/** The places of names by the name of their group, in the order of the first of each; one alone has its own name. */
export function folded(names: string[], groups: Groups): [string, number[]][] {
  const found = new Map<string, number[]>();
  names.forEach((name, place) => {
    const group = foldedName(name, groups);
    const places = found.get(group);
    if (places) places.push(place);
    else found.set(group, [place]);
  });
  return [...found].map(([group, places]) => [places.length > 1 ? group : names[places[0]], places]);
}
