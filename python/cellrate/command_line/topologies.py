"""`cellrate import` and `cellrate generate`: networks as scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import CellrateError
from .app import app
from .output import say
from .typed import Parameter

if TYPE_CHECKING:
    from ..topologies.building import Choices
    from ..topologies.dumbbell import Dumbbell
    from ..topologies.topology import Topology

Vcs = Annotated[
    str | None,
    Parameter(help="Connections: demands (those of the file), all, a number to draw, or pairs such as 'A:B, C:D'."),
]
Rate = Annotated[str, Parameter(help="Rate of lines whose file gives none.")]
AllRates = Annotated[str | None, Parameter(help="Rate of every line, whatever the file gives.")]
Length = Annotated[str | None, Parameter(help="Length of lines with an end that has no coordinates, such as 100 km.")]
Stretch = Annotated[
    float, Parameter(help="Length of a line over the great circle between its ends; fibre has 1.2 to 2.")
]
Access = Annotated[str, Parameter(help="Length of the line between a host and its switch.")]
Algorithm = Annotated[str, Parameter(help="Switch algorithm of every switch, with its defaults; none for none.")]
Duration = Annotated[str, Parameter(help="Network time of a run.")]
Seed = Annotated[int, Parameter(help="Of what is drawn: connections, ways that are equally short, a random network.")]
OutFile = Annotated[Path | None, Parameter(help="The scenario's file; printed if none is given.")]


@dataclass(frozen=True, kw_only=True)
class OfDumbbell:
    """Options of a dumbbell."""

    sources: Annotated[int | None, Parameter(help="Like connections of a dumbbell. [2 by default]")] = None
    mcr: Annotated[str | None, Parameter(help="MCR of each connection of a dumbbell, such as 2 Mbps.")] = None
    carries: Annotated[str | None, Parameter(help="Traffic of a dumbbell: greedy (by default) or tcp.")] = None
    video: Annotated[str | None, Parameter(help="Rate of a CBR connection beside those of a dumbbell.")] = None

    def of(self, rate: str, length: str, access: str, algorithm: str, duration: str) -> Dumbbell:
        """Give the dumbbell that is meant."""
        from ..topologies.dumbbell import Dumbbell

        sources, traffic = 2 if self.sources is None else self.sources, self.carries or "greedy"
        return Dumbbell(rate, length, access, algorithm, duration, sources, self.mcr, traffic, self.video)


@app.command("import")
def import_(
    file: Annotated[Path, Parameter(help="GML, GraphML, or SNDlib's native form or XML.")],
    /,
    *,
    vcs: Vcs = None,
    rate: Rate = "149.76 Mbps",
    all_rates: AllRates = None,
    length: Length = None,
    stretch: Stretch = 1.0,
    access: Access = "1 km",
    algorithm: Algorithm = "erica",
    duration: Duration = "500 ms",
    seed: Seed = 1,
    out: OutFile = None,
) -> int:
    """Make a scenario of a topology file: a switch for each node, two hosts for each connection."""
    from ..topologies.building import Choices
    from ..topologies.reading import read_topology

    choices = Choices(rate, all_rates, length, stretch, access, algorithm, duration, seed)
    return _write(read_topology(file), f"{file.name}", vcs, choices, out)


@app.command("generate")
def generate(
    family: Annotated[str, Parameter(help="Kind of network: dumbbell, ring, leaf-spine, fat-tree or random.")],
    /,
    *,
    nodes: Annotated[int | None, Parameter(help="Switches of a ring or of a random network.")] = None,
    leaves: Annotated[int | None, Parameter(help="Leaves of a leaf-spine network.")] = None,
    spines: Annotated[int | None, Parameter(help="Spines of a leaf-spine network.")] = None,
    k: Annotated[int | None, Parameter(help="Ports of a switch of a fat tree, an even number.")] = None,
    side: Annotated[str | None, Parameter(help="Side of the square of a random network (1000 km by default).")] = None,
    alpha: Annotated[float | None, Parameter(help="Waxman's alpha of a random network: how far lines reach.")] = None,
    beta: Annotated[
        float | None, Parameter(help="Waxman's beta of a random network: how many lines there are.")
    ] = None,
    dumbbell: OfDumbbell,
    vcs: Vcs = None,
    rate: Rate = "149.76 Mbps",
    length: Length = None,
    access: Access = "1 km",
    algorithm: Algorithm = "erica",
    duration: Duration = "500 ms",
    seed: Seed = 1,
    out: OutFile = None,
) -> int:
    """Make a scenario of a kind of network: dumbbell, ring, leaf-spine, fat tree, random."""
    from ..topologies.building import Choices
    from ..topologies.families import made

    given = {
        "nodes": nodes,
        "leaves": leaves,
        "spines": spines,
        "k": k,
        "side": side,
        "alpha": alpha,
        "beta": beta,
    }
    if family == "dumbbell":
        other = next((name for name, value in (given | {"vcs": vcs}).items() if value is not None), None)
        if other is not None:
            own = "--sources, --mcr, --carries, --video"
            raise CellrateError(f"--{other} is not a parameter of dumbbell, which has {own}")
        return _write_dumbbell(dumbbell.of(rate, length or "1000 km", access, algorithm, duration), out)
    topology, words = made(family, given | vars(dumbbell), seed=seed)
    choices = Choices(rate, None, length, 1.0, access, algorithm, duration, seed)
    return _write(topology, words, vcs, choices, out)


def _write_dumbbell(dumbbell: Dumbbell, out: Path | None) -> int:
    from ..scenario import Scenario
    from ..topologies.files import write_new

    text = dumbbell.scenario()
    Scenario.parse(text, file=str(out or "the scenario")).check()
    if out is None:
        print(text, end="")
    else:
        write_new(out, text)
    return 0


def _write(topology: Topology, source: str, vcs: str | None, choices: Choices, out: Path | None) -> int:
    from ..scenario import Scenario
    from ..topologies.building import scenario_text
    from ..topologies.connections import chosen_pairs
    from ..topologies.files import write_new

    pairs = chosen_pairs(topology, vcs, seed=choices.seed)
    parts = topology.parts()
    facts = [f"{len(topology.nodes)} nodes", f"{len(topology.lines)} lines", f"{len(pairs)} connections"]
    unrated = sum(line.rate_bps is None for line in topology.lines)
    if unrated and choices.all_rates is None:
        facts.append(f"{unrated} lines without a rate have {choices.rate}")
    if len(parts) > 1:
        sizes = ", ".join(str(len(part)) for part in parts[:8]) + (", ..." if len(parts) > 8 else "")
        facts.append(f"{len(parts)} parts of {sizes} nodes, and connections stay within a part")
    said = "; ".join([", ".join(facts[:3]), *facts[3:], *topology.remarks])
    text = scenario_text(topology, pairs, choices, purpose=f"Made of {source}: {said}.")
    Scenario.parse(text, file=str(out or "the scenario")).check()
    if out is None:
        print(text, end="")
    else:
        write_new(out, text)
    say(f"{source}: {said}")
    return 0
