"""Add a toy algorithm, policy, frame discard, traffic, keys, probe, column and unit to a copy of the workspace.

Each is added by what CONTRIBUTING.md says that it takes.
Where a part is left out, the compiler or a test has to say which. The copy stands below `target/`, and is built into
a folder of its own there: to cargo its packages have the names and places of the real ones.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SWITCH = Path("crates/cellrate-proto/src/switch")
POLICIES = Path("crates/cellrate-proto/src/uili")
DISCARDS = SWITCH / "frame_discard"
TRAFFIC = Path("crates/cellrate-scenario/src/traffic")
PAGES = Path("docs/algorithms")
DECLARED = Path("crates/cellrate-scenario/src/model/quantity.rs")
VALUES = Path("crates/cellrate-engine/src/quantities.rs")
LINKS = Path("crates/cellrate-scenario/src/model/line.rs")
LINES = Path("crates/cellrate-engine/src/line.rs")
ROWS = Path("crates/cellrate-engine/src/beyond_lines.rs")
UNITS = Path("crates/cellrate-scenario/src/text/quantity.rs")
JUDGE = Path("crates/cellrate-sim/tests/reference/figures.rs")
JUDGE_OF_DISCARDS = JUDGE.with_name("frame_discard.rs")

LISTENS = """    fn on_link_rate(&mut self, link_rate: CellRate) {
        self.grant = link_rate * self.config.share;
    }

"""
SHARE = """    #[key(default = "1/8", range = Range::SHARE)]
    pub share: f64,
"""
LATER = """    fn delay(&mut self, phase: Duration) {
        self.start = self.start.saturating_add(phase);
    }
"""
LEAST = """    /// Rate that each connection gets at least.
    #[key(default = "0 Mbps")]
    pub least: CellRate,
"""
TOY_MEAN = """    /// Mean of the rates that they begin with.
    #[row(unit = cells_per_s, adds = largest)]
    pub toy_mean: f64,
"""
TOY_LOSS = """    /// Probability that a cell is lost in a toy on the line, either way.
    #[key(default = "0", range = Range::FRACTION)]
    pub toy_loss: f64,
"""


def copied(into: Path) -> None:
    """Copy what git knows of; times of change stay, so that what is built already is not built again."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, into / name
        if source.is_file() and name.startswith(("crates/", "benches/", "docs/algorithms/", "Cargo", ".cargo")):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def replaced(path: Path, old: str, new: str) -> None:
    """Put `new` for `old`, which is there once."""
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        sys.exit(f"{path.name}: {old!r} is there {text.count(old)} times, not once")
    path.write_text(text.replace(old, new), encoding="utf-8")


def tested(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run cargo in the copy: a subcommand and its options."""
    command, *options = arguments
    words = ["cargo", command, "--offline", "--target-dir", str(ROOT / "target/toy-build"), *options]
    return subprocess.run(words, cwd=workspace, capture_output=True, text=True, check=False)


def says(workspace: Path, *arguments: str, missing: tuple[str, ...]) -> None:
    """Run cargo, which has to fail and to name all that is missing."""
    done = tested(workspace, *arguments)
    said = done.stdout + done.stderr
    unsaid = [what for what in missing if what not in said]
    if done.returncode == 0 or unsaid:
        sys.exit(f"cargo {' '.join(arguments)} does not say that this is missing: {unsaid or missing}\n{said}")


def passes(workspace: Path, *arguments: str) -> None:
    """Run cargo, which has to succeed."""
    done = tested(workspace, *arguments)
    if done.returncode:
        sys.exit(f"cargo {' '.join(arguments)} fails:\n{done.stdout}{done.stderr}")


def add_algorithm_and_policy(workspace: Path) -> None:
    """A file and a line each, and a page: what is left out is named."""
    declared = ("test", "-p", "cellrate-proto", "--test", "built_in", "--no-fail-fast")
    algorithm = workspace / SWITCH / "toy.rs"
    shutil.copy(HERE / "algorithm.rs", algorithm)
    replaced(algorithm, LISTENS, "")
    replaced(workspace / SWITCH / "mod.rs", "mod weights;\n", "mod toy;\nmod weights;\n")
    replaced(workspace / SWITCH / "mod.rs", "    erica::Erica,\n", "    erica::Erica,\n    toy::Toy,\n")
    shutil.copy(HERE / "policy.rs", workspace / POLICIES / "toy.rs")
    joint = "    joint::Joint(JointConfig),\n"
    replaced(workspace / POLICIES / "mod.rs", "mod time_based;\n", "mod time_based;\nmod toy;\n")
    replaced(workspace / POLICIES / "mod.rs", joint, f"{joint}    toy::ToyPolicy(ToyPolicyConfig),\n")
    pages = ("docs/algorithms/toy.md", "docs/algorithms/uili.md has no toy-policy")
    says(workspace, *declared, missing=("does it implement on_link_rate?", *pages))

    shutil.copy(HERE / "algorithm.rs", algorithm)
    shutil.copy(HERE / "algorithm.md", workspace / PAGES / "toy.md")
    for page, line in (("README.md", "[Toy](toy.md)"), ("uili.md", "`toy-policy` keeps `kept` of ACR.")):
        with (workspace / PAGES / page).open("a", encoding="utf-8") as text:
            text.write(f"\n{line}\n")
    passes(workspace, *declared)

    # A key more: one line, and its use.
    replaced(algorithm, SHARE, SHARE + LEAST)
    replaced(algorithm, "feedback.limit(self.grant)", "feedback.limit(self.grant.max(self.config.least))")
    says(workspace, *declared, missing=("toy.md says nothing of least",))
    with (workspace / PAGES / "toy.md").open("a", encoding="utf-8") as text:
        text.write("\n`least` [cells/s; default 0]: nobody gets less.\n")
    passes(workspace, *declared)


def add_frame_discard(workspace: Path) -> None:
    """A file and a line, and words on the page; the judge says in its own way what it refuses."""
    declared = ("test", "-p", "cellrate-proto", "--test", "built_in", "frame_discard")
    shutil.copy(HERE / "frame_discard.rs", workspace / DISCARDS / "toy.rs")
    replaced(workspace / DISCARDS / "mod.rs", "mod selective;\n", "mod selective;\nmod toy;\n")
    last = "    differential::Differential,\n"
    replaced(workspace / DISCARDS / "mod.rs", last, f"{last}    toy::Toy,\n")
    says(workspace, *declared, missing=("docs/algorithms/frame-discard.md has no toy-discard",))
    with (workspace / PAGES / "frame-discard.md").open("a", encoding="utf-8") as text:
        text.write('\n`"toy-discard"` refuses who has more than `own_cells`.\n')
    passes(workspace, *declared)

    judged = ("check", "-p", "cellrate-sim", "--test", "differential")
    says(workspace, *judged, missing=("reference/frame_discard.rs", "FrameDiscardConfig::Toy(_)` not covered"))
    partial = "        FrameDiscardConfig::Partial(Partial {}) => false,\n"
    toy = "        FrameDiscardConfig::Toy(toy) => y > u128::from(toy.own_cells.0),\n"
    replaced(workspace / JUDGE_OF_DISCARDS, partial, partial + toy)
    passes(workspace, *judged)


def add_traffic(workspace: Path) -> None:
    """A file and a line: the compiler asks for what has no safe default; random networks draw from the declaration."""
    traffic = workspace / TRAFFIC / "toy.rs"
    shutil.copy(HERE / "traffic.rs", traffic)
    replaced(traffic, LATER, "")
    replaced(workspace / TRAFFIC / "mod.rs", "mod timed;\n", "mod timed;\nmod toy;\n")
    replaced(workspace / TRAFFIC / "mod.rs", "        timed::Timed,\n", "        timed::Timed,\n        toy::Toy,\n")
    says(workspace, "check", "-p", "cellrate-scenario", missing=("toy.rs", "missing: `delay`"))
    shutil.copy(HERE / "traffic.rs", traffic)
    passes(workspace, "check", "-p", "cellrate-live")


def add_probe(workspace: Path) -> None:
    """A line where quantities are declared, and one for the value, which both worlds share; the judge has its own."""
    declaration = '        Drops = port("port_drops", "cells", Port),\n'
    toy = '        /// Queue of ABR and UBR \\[cells\\].\n        DataQueue = port("data_queue", "cells", Queue),\n'
    replaced(workspace / DECLARED, declaration, declaration + toy)
    not_covered = "PortQuantity::DataQueue` not covered"
    says(workspace, "check", "-p", "cellrate-live", missing=("cellrate-engine/src/quantities.rs", not_covered))
    value = "        PortQuantity::Drops => port.dropped() as f64,\n"
    data = "(port.total_queue(now) - port.queue(GUARANTEED, now)) as f64"
    replaced(workspace / VALUES, value, f"{value}        PortQuantity::DataQueue => {data},\n")
    passes(workspace, "check", "-p", "cellrate-live")
    judged = ("check", "-p", "cellrate-sim", "--test", "differential")
    says(workspace, *judged, missing=("tests/reference/figures.rs", not_covered))
    value = "                    PortQuantity::Drops => port.dropped as f64,\n"
    data = "(port.total() - port.queue(0)) as f64"
    replaced(workspace / JUDGE, value, f"{value}                    PortQuantity::DataQueue => {data},\n")
    passes(workspace, *judged)


def add_key_of_link(workspace: Path) -> None:
    """A line where it is declared, with its sentence, and one where it is used."""
    links, lines = workspace / LINKS, workspace / LINES
    before = "    pub loss_bursts: Option<LossBursts>,\n"
    replaced(links, before, before + TOY_LOSS)
    tried = ("test", "-p", "cellrate-sim", "--test", "keys")
    says(workspace, *tried, missing=("toy_loss of a link is declared, and nothing uses it",))
    replaced(lines, "Faults::any(link.line.loss, ", "Faults::any(link.line.loss + link.line.toy_loss, ")
    passes(workspace, *tried)
    replaced(links, TOY_LOSS, "")
    says(workspace, "check", "-p", "cellrate-engine", missing=("no field `toy_loss` on type `LineKeys`",))
    replaced(links, before, before + TOY_LOSS)


def add_column_of_row(workspace: Path) -> None:
    """A line where it is declared, with its unit and how it adds up, and one for its value."""
    rows = workspace / ROWS
    check = ("check", "-p", "cellrate-engine")
    declared, value = "    pub queue: u64,\n}\n", "            queue: queue as u64,\n"
    own = "            toy_mean: sources.iter().map(|(_, icr)| icr).sum::<f64>() / sources.len() as f64,\n"
    replaced(rows, declared, f"    pub queue: u64,\n{TOY_MEAN}}}\n")
    says(workspace, *check, missing=("missing field `toy_mean` in initializer of `StartSummary`",))
    replaced(rows, value, value + own)
    passes(workspace, *check)
    how = "    #[row(unit = cells_per_s, adds = largest)]\n    pub toy_mean"
    replaced(rows, how, "    pub toy_mean")
    says(workspace, *check, missing=("pub toy_mean: f64",))
    replaced(rows, "    pub toy_mean", how)
    passes(workspace, *check)


def add_unit(workspace: Path) -> None:
    """A line where units are, and its value in the table that is written by hand."""
    units = workspace / UNITS
    tried = ("test", "-p", "cellrate-scenario", "--lib", "every_unit")
    last = '                Unit("min", 60.0, 12),\n'
    replaced(units, last, f'{last}                Unit("h", 3600.0, 12),\n')
    says(workspace, *tried, missing=("Time: a unit without a value here",))
    by_hand = '                ("min", 60_000_000_000_000.0),\n'
    replaced(units, by_hand, f'{by_hand}                ("h", 3_600_000_000_000_000.0),\n')
    passes(workspace, *tried)


def main() -> None:
    """Add all of them, each first with a part left out, and run a scenario that has them."""
    workspace = ROOT / "target/toy"
    shutil.rmtree(workspace, ignore_errors=True)
    try:
        copied(workspace)
        add_algorithm_and_policy(workspace)
        add_frame_discard(workspace)
        add_traffic(workspace)
        add_probe(workspace)
        add_key_of_link(workspace)
        add_column_of_row(workspace)
        add_unit(workspace)
        shutil.copy(HERE / "run.rs", workspace / "crates/cellrate-sim/tests/toy.rs")
        passes(workspace, "test", "-p", "cellrate-sim", "--test", "toy")
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
    print("A toy algorithm is one file, two lines of switch/mod.rs, a page and its row in the overview;")
    print("a policy one file, two lines of uili/mod.rs and its words on the page; a key one line and its words;")
    print("a frame discard one file, two lines of frame_discard/mod.rs, its words on the page, a line in the judge;")
    print("open-loop traffic one file and two lines of traffic/mod.rs;")
    print("a key of a link one field where it is declared and one line where it is used;")
    print("a column of a row one field where it is declared and one line for its value;")
    print("a unit one line where units are and one in the table by hand that tests hold;")
    print("a probe one line where it is declared, one for its value, and one in the judge.")


if __name__ == "__main__":
    main()
