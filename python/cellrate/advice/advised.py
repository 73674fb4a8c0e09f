"""Advised sets: parameters, each with its reason, and their codes in signalling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .situation import Situation


@dataclass(frozen=True)
class Advice:
    """A parameter and why."""

    parameter: str
    """The standard's symbol."""
    value: float
    """In `unit`."""
    unit: str
    """Empty for a plain number."""
    text: str
    """Value and unit as people write them."""
    reason: str
    """Why this value."""
    source: str
    """The section of paper abr-parameters."""
    warnings: tuple[str, ...] = ()
    """Where this guideline conflicts with another, or costs something."""


@dataclass(frozen=True)
class AdvisedSet:
    """Advice on every parameter."""

    situation: Situation
    """Situation that was asked about."""
    advices: tuple[Advice, ...]
    """In the order of the paper's sections."""
    codes: Mapping[str, int] = field(default_factory=dict)
    """Codes of the parameters in signalling, by symbol; "record" is the 32-bit record of the optional parameters."""

    def __getitem__(self, parameter: str) -> Advice:
        """Give the advice on a parameter, by its symbol ("TBE")."""
        for advice in self.advices:
            if advice.parameter == parameter:
                return advice
        raise KeyError(f"no {parameter!r}; there are {[advice.parameter for advice in self.advices]}")

    @property
    def warnings(self) -> list[str]:
        """All warnings, each with its parameter in front."""
        return [f"{advice.parameter}: {text}" for advice in self.advices for text in advice.warnings]

    def settings(self) -> dict[str, object]:
        """Give the set as keys of a scenario's `abr` table. FRTT and CRM follow from the scenario."""
        return {
            "pcr": f"{self['PCR'].value:.0f} cells/s",
            "mcr": f"{self['MCR'].value:.0f} cells/s",
            "icr": f"{self['ICR'].value:.0f} cells/s",
            "nrm": int(self["Nrm"].value),
            "trm": self["Trm"].text,
            "rif": self["RIF"].text,
            "rdf": self["RDF"].text,
            "tbe": f"{self['TBE'].value:.0f} cells",
            "cdf": "0" if self["CDF"].value == 0 else self["CDF"].text,
            "adtf": self["ADTF"].text,
        }

    def content(self) -> dict[str, object]:
        """Give everything as plain values, for JSON."""
        rows = [
            {
                "parameter": advice.parameter,
                "value": advice.value,
                "unit": advice.unit,
                "text": advice.text,
                "code": self.codes.get(advice.parameter),
                "reason": advice.reason,
                "source": advice.source,
                "warnings": list(advice.warnings),
            }
            for advice in self.advices
        ]
        return {"situation": dict(self.situation.__dict__), "parameters": rows, "record": self.codes["record"]}
