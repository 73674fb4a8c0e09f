"""Experiments of a paper: points to run, findings, claims that are checked, and figures drawn from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Value = float | str | None
Results = Mapping[str, Result]

KINDS = ("claim", "erratum", "sensitivity", "beyond")
"""Kinds of claims: said by the paper; a contradiction within the paper, found by calculation; a choice of ours that the
paper leaves open, made the other way; a figure that the paper does not have."""

CAUSES = ("open", "ours", "unexplained")
"""Causes for a claim of the paper that does not hold: a parameter that the paper leaves open decides it, as a row
shows;
the model here is known to be short of what it needs; neither was shown."""


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


@dataclass(frozen=True)
class Finding:
    """Measurement for a claim."""

    id: str
    """The claim's, as in published.toml."""
    measured: Value
    holds: bool | None
    """None where nothing is published to compare with."""
    why: str = ""
    """Why not, where it does not hold; otherwise a remark."""
    cause: str = "unexplained"
    """One of `CAUSES`; counts where a claim of the paper does not hold."""

    def __post_init__(self) -> None:
        if self.cause not in CAUSES:
            raise ValueError(f"claim {self.id}: cause is {self.cause!r}; causes are {', '.join(CAUSES)}")
        if not (self.holds is None or isinstance(self.holds, bool)):
            raise TypeError(f"claim {self.id}: holds is a {type(self.holds).__name__}, and must be a bool or None")


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


@dataclass(frozen=True)
class Claim:
    """A row of the report: what the paper says, what was measured, whether it holds."""

    id: str
    text: str
    source: str
    published: Value
    measured: Value
    holds: bool | None
    why: str
    kind: str
    live: Value = None
    """Value that real hosts and applications gave, where a paper has a live half and it was run."""
    cause: str | None = None
    """One of `CAUSES` where a claim of the paper does not hold, None otherwise."""

    def __post_init__(self) -> None:
        if self.holds is not True and not self.why:
            raise ValueError(f"claim {self.id} does not hold and gives no reason")
        if self.kind not in KINDS:
            raise ValueError(f"claim {self.id} is of kind {self.kind!r}; kinds are {', '.join(KINDS)}")

    def content(self) -> dict[str, Any]:
        """Give the row for JSON."""
        return dict(self.__dict__)
