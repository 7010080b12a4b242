"""What was spent, under every accountant, and the signed statement of it."""
from __future__ import annotations

import base64
import dataclasses
import math
from typing import Optional, Tuple

from .html import escaped, table, titled
from .rounded import rounded_down, rounded_up
from .transport import Json


@dataclasses.dataclass(frozen=True)
class Reading:
    """One accountant's answer about all charges so far, or the reason why it has none."""

    #: "RENYI", "PLD", ..., "BEST".
    accountant: str
    #: "UPPER_BOUND", "LOWER_BOUND" or "APPROXIMATION"; "" without an answer.
    kind: str
    #: >= the true epsilon if the kind is UPPER_BOUND.
    upper: Optional[float]
    #: <= the true epsilon.
    lower: Optional[float]
    theorem: str
    #: For BEST: the accountant whose bound it is.
    answered_by: str
    #: The history holds an unverified claim: the number is only as good as the claim.
    contains_unverified_claim: bool
    #: The reason why there is no answer; else "".
    reason_unavailable: str

    @classmethod
    def from_json(cls, message: Json) -> "Reading":
        """Reads an epsledger.v1.AccountantReading."""
        guarantee = message.get("guarantee") or {}
        return cls(
            accountant=message.get("accountant", ""), kind=guarantee.get("kind", ""), upper=_bound(guarantee, "upper"),
            lower=_bound(guarantee, "lower"), theorem=guarantee.get("theorem", ""),
            answered_by=guarantee.get("accountant", ""),
            contains_unverified_claim=guarantee.get("containsUnverifiedClaim", False),
            reason_unavailable=message.get("reasonUnavailable", ""))


@dataclasses.dataclass(frozen=True)
class Guarantees:
    """Epsilon at `delta` of all charges so far, one reading per accountant, BEST last.

    In an ADAPTIVE session these are odometer readings: they describe, the filters of the caps decide."""

    delta: float
    readings: Tuple[Reading, ...]
    #: The ledger position that they describe.
    sequence: int
    #: How many more single uses of the last charged event fit now; None before the first charge.
    steps_that_fit: Optional[int]

    @classmethod
    def from_json(cls, message: Json, delta: float) -> "Guarantees":
        """Reads an epsledger.v1.GetSessionGuaranteesResponse."""
        fit = message.get("stepsThatFit")
        return cls(delta=delta, readings=tuple(map(Reading.from_json, message.get("readings", []))),
                   sequence=int(message.get("sequence", 0)), steps_that_fit=None if fit is None else int(fit))

    def _repr_html_(self) -> str:
        rows = [(reading.accountant, "" if reading.upper is None else rounded_up(reading.upper),
                 "" if reading.lower is None else rounded_down(reading.lower),
                 reading.theorem or reading.reason_unavailable) for reading in self.readings]
        return titled("Epsilon of all charges, at delta %.15g" % self.delta,
                      table(("accountant", "at most", "at least", "because"), rows), escaped(str(self.spent)))

    @property
    def spent(self) -> "Spent":
        """Returns the smallest bound of all accountants; infinity if none has one."""
        best = next((reading for reading in self.readings if reading.accountant == "BEST"), None)
        if best is None or best.kind != "UPPER_BOUND" or best.upper is None or math.isnan(best.upper):
            return Spent(math.inf, self.delta, "", best.reason_unavailable if best is not None else "no bound is known",
                         False, self.sequence)
        return Spent(best.upper, self.delta, best.answered_by, best.theorem, best.contains_unverified_claim,
                     self.sequence)


@dataclasses.dataclass(frozen=True)
class Spent:
    """epsilon >= the true epsilon at delta of all charges so far, rounding included."""

    epsilon: float
    delta: float
    #: The accountant whose bound it is; "" if there is none and epsilon is infinite.
    accountant: str
    #: The theorem of the bound, or the reason why there is none.
    theorem: str
    #: The history holds an unverified claim: the number is only as good as the claim.
    contains_unverified_claim: bool
    #: The ledger position that it describes.
    sequence: int

    def __float__(self) -> float:
        return self.epsilon

    def __str__(self) -> str:
        return "epsilon %s at delta %s was spent, by %s%s" % (
            rounded_up(self.epsilon), "%.15g" % self.delta, " ".join(filter(None, (self.accountant, self.theorem))),
            "; it rests on an unverified claim" if self.contains_unverified_claim else "")

    def __repr__(self) -> str:
        return "<%s>" % self


@dataclasses.dataclass(frozen=True, repr=False)
class Statement:
    """What a session or budget guarantees, with its theorem, its caps and what is not covered, signed."""

    text: str
    json: str
    html: str
    #: Ed25519 over the bytes of `json`.
    signature: bytes
    public_key: bytes
    #: The newest entry that it describes.
    sequence: int

    @classmethod
    def from_json(cls, message: Json) -> "Statement":
        """Reads an epsledger.v1.PrivacyStatement."""
        return cls(text=message.get("text", ""), json=message.get("json", ""), html=message.get("html", ""),
                   signature=base64.b64decode(message.get("signature", "")),
                   public_key=base64.b64decode(message.get("publicKey", "")),
                   sequence=int((message.get("head") or {}).get("sequence", 0)))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return "<signed privacy statement at entry %d of the ledger: print it, or keep .json and .signature>" % (
            self.sequence)


def _bound(guarantee: Json, field: str) -> Optional[float]:
    return float(guarantee[field]) if field in guarantee else None
