"""The report on a paper: its claims with their verdicts, how many there are of each, and the same as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import CellrateError
from ..folders.replaceable import REPORT
from ..folders.stored_json import stored_json
from .experiment import CAUSES, Claim, Table
from .judging import FIGURES, VERDICTS

MARK = REPORT


@dataclass(frozen=True)
class Counts:
    """Claims of a paper by their verdicts, and by cause those that are neither near nor within the spread."""

    claims: int
    """Claims of the paper itself that were judged."""
    figures: int
    """Claims that print a figure; the others are orders, bounds and statements."""
    near: int
    """Figures within a tenth, and all else that is as said."""
    spread: int
    """Not near, and within the spread: of the seeds, or the printed one."""
    neither: int
    open: int
    undecided: int
    unexplained: int
    silent: int
    """Claims of which a quick run says nothing."""
    errata: int
    """Contradictions within the paper, which are no claims."""

    def text(self) -> str:
        """Write them as sentences."""
        parts = [
            f"{self.near} near, {self.spread} more within the spread, {self.neither} neither: {self.claims} claims of "
            f"the paper, {self.figures} of them printed figures."
        ]
        causes = [f"{getattr(self, cause)} {CAUSE_WORDS[cause]}" for cause in CAUSES if getattr(self, cause)]
        if causes:
            parts.append(f"Of the {self.neither}, {'; '.join(causes)}.")
        elif self.neither:
            parts.append("Causes are those of a whole run.")
        if self.silent:
            parts.append(f"A quick run says nothing of {self.silent} more.")
        if self.errata:
            parts.append(f"{self.errata} {'row shows' if self.errata == 1 else 'rows show'} errata.")
        return " ".join(parts)


CAUSE_WORDS = {
    "open": "come out with the one other choice that was tried (open)",
    "undecided": "come out with one or more of several other choices (undecided)",
    "unexplained": "with none (unexplained)",
}
"""How each of `CAUSES` is said."""


@dataclass(frozen=True)
class Report:
    """The claims of a paper, each with what was measured."""

    paper: str
    title: str
    version: str
    quick: bool
    claims: Sequence[Claim]
    experiments: Mapping[str, str]
    """Name and title of each experiment."""
    says: str = ""
    """Claims of the paper, in two sentences."""
    tables: Mapping[str, Sequence[Table]] = field(default_factory=dict)
    """The paper's tables, by experiment; not in JSON."""
    only: Sequence[str] = ()
    """Experiments and claims that were asked for, where it was not all of them."""

    def content(self) -> dict[str, object]:
        """Give the report for JSON; the same for the same code, with any number of processes."""
        return {
            "paper": self.paper,
            "title": self.title,
            "says": self.says,
            "version": self.version,
            "quick": self.quick,
            "only": list(self.only),
            "experiments": dict(self.experiments),
            "claims": [claim.content() for claim in self.claims],
        }

    def count(self) -> Counts:
        """Count the claims by what became of them."""
        own = [claim for claim in self.claims if claim.kind == "claim"]
        judged = [claim for claim in own if claim.verdict is not None]
        return Counts(
            claims=len(judged),
            figures=sum(claim.judged in FIGURES for claim in judged),
            **{verdict: sum(claim.verdict == verdict for claim in judged) for verdict in VERDICTS},
            **{cause: sum(claim.cause == cause for claim in judged) for cause in CAUSES},
            silent=len(own) - len(judged),
            errata=sum(claim.kind == "erratum" for claim in self.claims),
        )


def read_report(folder: Path) -> Report:
    """Read what `write_report` wrote.

    Raises
    ------
    CellrateError
        If there is no report.
    """
    try:
        content = stored_json((folder / MARK).read_bytes())
        return Report(**{**content, "claims": [Claim(**row) for row in content["claims"]]})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CellrateError(f"{folder} holds no report that can be read ({MARK}: {error})") from None
