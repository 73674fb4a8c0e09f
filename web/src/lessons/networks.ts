// Networks of the lessons, as scenario texts.

/** Links from senders to a switch, one line between two switches, and links to receivers. */
export function dumbbell(options: { name: string; duration: string; count: number; head: string; vcs?: string; access?: string; middle?: string; probes?: string }): string {
  const { name, duration, count, head, vcs, access = "", middle = "", probes } = options;
  const group = (kind: string, of: string, rest = ""): string => `[[${kind}]]\n${of}\ncount = ${count}\n${rest}`;
  const all = vcs ?? group("vc", 'name = "vc{i}"', 'path = ["s{i}", "sw1", "sw2", "d{i}"]\n');
  const seen = probes ?? '[[probe]]\nrecord = ["acr"]\nevery = "1 ms"\n\n[[probe]]\nrecord = ["queue", "utilization"]\nof = ["sw1->sw2"]\nevery = "1 ms"\n';
  return [
    `name = "${name}"\nduration = "${duration}"\n`,
    head,
    group("host", 'name = "s{i}"'),
    group("host", 'name = "d{i}"'),
    '[[switch]]\nname = "sw{i}"\ncount = 2\n',
    group("link", 'between = ["s{i}", "sw1"]', access),
    `[[link]]\nbetween = ["sw1", "sw2"]\n${middle}`,
    group("link", 'between = ["sw2", "d{i}"]', access),
    all,
    seen,
  ].join("\n");
}

/** A connection with traffic of its own. */
export function vc(number: number, rest: string): string {
  return `[[vc]]\nname = "vc${number}"\npath = ["s${number}", "sw1", "sw2", "d${number}"]\n${rest}\n`;
}
