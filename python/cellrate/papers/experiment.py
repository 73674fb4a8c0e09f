"""Experiments of a paper: points to run, findings, claims that are checked, and figures drawn from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..results import Result
from .judging import NEAR, SPREAD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Value = float | str | None
Results = Mapping[str, Result]

KINDS = ("claim", "erratum", "sensitivity", "beyond")
"""Kinds of claims: said by the paper; a contradiction within the paper, found by calculation; a choice of ours that the
paper leaves open, made the other way; a figure that the paper does not have."""

CAUSES = ("open", "undecided", "unexplained")
"""Causes for a claim of the paper that neither is near nor within the spread, found by calculation: the one row that
was tried, a choice that the paper leaves open, has the figure; one or more of several rows that were tried have it;
none was tried, or none has it."""


@dataclass(frozen=True)
class Point:
    """One run of an experiment."""

    scenario: str
    """File in the paper's folder of scenarios, without `.toml`."""
    set: Mapping[str, object] = field(default_factory=dict)
    """Values to change, by dotted path."""
    extra: bool = False
    """Needed by no claim of the paper itself: left out of a quick run."""
    quick: Mapping[str, object] = field(default_factory=dict)
    """Values that a quick run sets beside `set`, such as a shorter duration."""
    tables: tuple[str, ...] = ()
    """Tables of the paper that need it, where an experiment has several: with `--only` of one the others' are left
    out."""


@dataclass(frozen=True)
class Tried:
    """The measurement of a claim once more, with a choice that the paper leaves open made another way."""

    values: Sequence[float] = ()
    """As `Finding.values`."""
    holds: bool | None = None
    """As `Finding.holds`."""
    seeds: int | None = None
    """Seeds of the runs; the number of `values` if not given."""


@dataclass(frozen=True)
class Finding:
    """Measurement for a claim."""

    id: str
    """The claim's, as in published.toml."""
    measured: Value
    holds: bool | None = None
    """Whether a bound or a statement is as said. None for all else, and where a quick run can say nothing."""
    why: str = ""
    """Why not, where it is neither near nor within the spread; otherwise a remark. A guess is called one."""
    values: Sequence[float] = ()
    """Values that are judged: of a printed figure the measured ones, one of each seed, in the printed unit; of an order
    the differences, above 0 as said; of what hardly changes the changes [parts of 1]."""
    rows: Mapping[str, Tried] = field(default_factory=dict)
    """Measurements with other choices, by the ids of their rows, of as many seeds: they decide the cause."""
    seeds: int | None = None
    """Seeds of the runs; the number of `values` if not given."""

    def __post_init__(self) -> None:
        for holds in (self.holds, *(row.holds for row in self.rows.values())):
            if not (holds is None or isinstance(holds, bool)):
                raise TypeError(f"claim {self.id}: holds is a {type(holds).__name__}, and must be a bool or None")


@dataclass(frozen=True)
class Drawing:
    """A figure of the report."""

    name: str
    """For the file."""
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class LiveHalf:
    """Results of real hosts and applications."""

    measured: Mapping[str, str]
    """By the id of the claim."""
    drawings: Mapping[str, Sequence[Drawing]] = field(default_factory=dict)
    """Figures by the name of the experiment that they stand beside."""


@dataclass(frozen=True)
class Cell:
    """Cell of a table of the paper."""

    claim: str
    """Id of its claim."""
    part: int | None = None
    """Place in what was published and measured, where a claim has several cells, with commas between them."""


@dataclass(frozen=True)
class Table:
    """A table of the paper in its own shape: its heads, rows and order."""

    name: str
    """As `--only` takes it: "table-3"."""
    caption: str
    head: Sequence[str]
    """Above each column, with its unit."""
    rows: Sequence[Sequence[str | Cell | None]]
    """Texts as the paper has them, cells that are claims, and None for what is empty."""

    def claims(self) -> set[str]:
        """Give the ids of its claims."""
        return {cell.claim for row in self.rows for cell in row if isinstance(cell, Cell)}


@dataclass(frozen=True)
class Experiment:
    """Runs that belong together."""

    name: str
    """Also the first part of the ids of its claims."""
    title: str
    points: Mapping[str, Point]
    findings: Callable[[Results], Sequence[Finding]]
    """Findings of the results: of a quick run, `Results` has no extra points, and findings that need them are left
    out."""
    drawings: Callable[[Results], Sequence[Drawing]]
    tables: Sequence[Table] = ()
    """Tables of the paper whose cells are claims of this experiment."""


@dataclass(frozen=True)
class Claim:
    """A row of the report: what the paper says, what was measured, and the verdict."""

    id: str
    text: str
    source: str
    published: Value
    measured: Value
    verdict: str | None
    """One of `judging.VERDICTS`; None where nothing is published, or a quick run says nothing."""
    why: str
    kind: str
    judged: str | None = None
    """By which rule, one of `judging.JUDGED`; None for what is not a claim of the paper."""
    unit: str | None = None
    """Unit of a printed figure."""
    mean: float | None = None
    """The measured figure, mean of the seeds, where one is printed."""
    off: float | None = None
    """By what part of the printed figure it is off."""
    spread: float | None = None
    """Half of the 95 % prediction interval of one more run, where there are seeds for one."""
    seeds: int | None = None
    live: Value = None
    """Value that real hosts and applications gave, where a paper has a live half and it was run."""
    cause: str | None = None
    """One of `CAUSES` where a whole run of a claim of the paper is neither near nor within the spread, else None."""
    rows: Sequence[str] = ()
    """Ids of the rows with which it is near or within the spread."""

    def __post_init__(self) -> None:
        if self.verdict not in (NEAR, SPREAD) and not self.why:
            raise ValueError(f"claim {self.id} is neither near nor within the spread, and gives no reason")
        if self.kind not in KINDS:
            raise ValueError(f"claim {self.id} is of kind {self.kind!r}; kinds are {', '.join(KINDS)}")

    def content(self) -> dict[str, object]:
        """Give the row for JSON."""
        return {**self.__dict__, "rows": list(self.rows)}
