"""What is claimed of a run, and what attacks on it found."""
from __future__ import annotations

import dataclasses
import datetime
from typing import Iterable, Literal, Optional, Union

from .errors import invalid
from .event_json import EventLike, count_json, event_json, plain_json
from .names import api_name
from .rounded import rounded_down, rounded_up
from .series import time_of
from .transport import Json

ClaimStatus = Literal["PROVEN", "NOT_PROVEN", "COUNTEREXAMPLE_KNOWN", "proven", "not-proven", "counterexample-known"]
AuditMethod = Literal["TWO_ARM_THRESHOLD", "TWO_ARM_GDP", "ONE_RUN", "ONE_RUN_F_DP",
                      "two-arm-threshold", "two-arm-gdp", "one-run", "one-run-f-dp"]

_STATUSES = ("PROVEN", "NOT_PROVEN", "COUNTEREXAMPLE_KNOWN")
_METHODS = ("TWO_ARM_THRESHOLD", "TWO_ARM_GDP", "ONE_RUN", "ONE_RUN_F_DP")


@dataclasses.dataclass(frozen=True)
class Claim:
    """What the authors of a run claim about its privacy, beside what the ledger proves. It changes no number of the
    ledger."""

    #: PROVEN: a proof shows that the code does what the charged events say. NOT_PROVEN, COUNTEREXAMPLE_KNOWN: epsilon and
    #: delta are never a guarantee; the session must be ADAPTIVE, and its first charge a NonPrivate event.
    status: ClaimStatus
    #: In [0, inf).
    epsilon: float = 0
    #: In [0, 1).
    delta: float = 0
    #: Where the claim is made, "Theorem 3.3". Up to 256 bytes.
    source: str = ""
    #: As the server says it: "as published; claimed guarantee not proven".
    label: str = dataclasses.field(default="", compare=False)

    @classmethod
    def from_json(cls, message: Json) -> "Claim":
        """Reads an epsledger.v1.Claim."""
        return cls(status=message.get("status", ""), epsilon=float(message.get("epsilon", 0)),
                   delta=float(message.get("delta", 0)), source=message.get("source", ""),
                   label=message.get("label", ""))

    def to_json(self) -> Json:
        """The JSON of an epsledger.v1.Claim."""
        return {"status": api_name("claim.status", self.status, _STATUSES), "epsilon": self.epsilon,
                "delta": self.delta, "source": self.source}


@dataclasses.dataclass(frozen=True)
class TwoArmCounts:
    """The answers of a test that was fixed before these runs: so many with the canary, so many without."""

    members: int
    true_positives: int
    non_members: int
    false_positives: int


@dataclasses.dataclass(frozen=True)
class OneRunCounts:
    """The guesses about the canaries of one run, each included with probability 1/2."""

    canaries: int
    guesses: int
    correct: int


@dataclasses.dataclass(frozen=True)
class Audit:
    """What an attack on canaries shows."""

    method: str
    #: <= the true epsilon at `delta` with probability `confidence`, if the hypothesis holds. 0 says nothing.
    epsilon_lower_bound: float
    delta: float
    confidence: float
    #: "NONE", or "GAUSSIAN_TRADE_OFF": the trade-off function of the mechanism is Gaussian.
    hypothesis: str
    #: The runs of both arms, or the canaries of one run.
    trials: int
    #: <= the smallest mu of Gaussian differential privacy; needs no hypothesis. None if the method has none.
    mu_lower_bound: Optional[float] = None
    claimed_epsilon: Optional[float] = None
    #: The bound is above the claimed epsilon. For a recorded audit also above that of the session's claim.
    exceeds_claim: bool = False
    #: The counts contradict what the given events certify. None without events, and for a recorded audit.
    contradicts_certificate: Optional[bool] = None
    #: What is known of a recorded audit: which attack, its entry of the ledger, and when.
    source: str = ""
    sequence: int = 0
    time: Optional[datetime.datetime] = None

    @classmethod
    def from_result(cls, message: Json) -> "Audit":
        """Reads an epsledger.v1.AuditCanariesResponse."""
        arms, run = message.get("twoArmCounts"), message.get("oneRunCounts") or {}
        trials = int(run.get("canaries", 0)) if arms is None else int(arms.get("members", 0)) + int(
            arms.get("nonMembers", 0))
        return cls(epsilon_lower_bound=float((message.get("epsilonLowerBound") or {}).get("lower", 0)), trials=trials,
                   exceeds_claim=message.get("contradictsClaim", False),
                   contradicts_certificate=message.get("contradictsCertificate"), **_common(message))

    @classmethod
    def from_json(cls, message: Json) -> "Audit":
        """Reads an epsledger.v1.SessionAudit."""
        return cls(epsilon_lower_bound=float(message.get("epsilonLowerBound", 0)), trials=int(message.get("trials", 0)),
                   exceeds_claim=message.get("exceedsClaim", False), source=message.get("source", ""),
                   sequence=int(message.get("sequence", 0)), time=time_of(message.get("createTime")),
                   **_common(message))

    def to_json(self, source: str) -> Json:
        """The JSON of an epsledger.v1.SessionAudit, for the record."""
        optional = {"muLowerBound": self.mu_lower_bound, "claimedEpsilon": self.claimed_epsilon}
        return {"method": self.method, "hypothesis": self.hypothesis, "epsilonLowerBound": self.epsilon_lower_bound,
                "delta": self.delta, "confidence": self.confidence, "trials": str(self.trials), "source": source,
                **{field: value for field, value in optional.items() if value is not None}}

    def __str__(self) -> str:
        return "epsilon is at least %s at delta %.15g, with confidence %s%s%s%s" % (
            rounded_down(self.epsilon_lower_bound), self.delta, "%.15g" % self.confidence,
            ", if the trade-off function is Gaussian" if self.hypothesis == "GAUSSIAN_TRADE_OFF" else "",
            "" if self.claimed_epsilon is None else "; claimed was " + rounded_up(self.claimed_epsilon),
            "; this EXCEEDS the claim" if self.exceeds_claim else "")


def audit_request(*, method: AuditMethod, confidence: float, delta: float, member_scores: Iterable[float],
                  non_member_scores: Iterable[float], counts: Union[TwoArmCounts, OneRunCounts, None],
                  guesses: Optional[int], claimed_epsilon: Optional[float],
                  events: Iterable["tuple[EventLike, int]"]) -> Json:
    """Returns the JSON of an epsledger.v1.AuditCanariesRequest."""
    request: Json = {
        "method": api_name("method", method, _METHODS), "confidence": confidence, "delta": delta,
        "memberScores": plain_json([*member_scores], "member_scores"),
        "nonMemberScores": plain_json([*non_member_scores], "non_member_scores"),
        "events": [{"event": event_json(event, "events[%d]" % at), "count": count_json(count)}
                   for at, (event, count) in enumerate(events)]}
    if isinstance(counts, TwoArmCounts):
        request["twoArmCounts"] = {
            "members": str(counts.members), "truePositives": str(counts.true_positives),
            "nonMembers": str(counts.non_members), "falsePositives": str(counts.false_positives)}
    elif isinstance(counts, OneRunCounts):
        request["oneRunCounts"] = {"canaries": str(counts.canaries), "guesses": str(counts.guesses),
                                   "correct": str(counts.correct)}
    elif counts is not None:
        raise invalid("counts", counts, "TwoArmCounts or OneRunCounts")
    if guesses is not None:
        request["guesses"] = str(guesses)
    if claimed_epsilon is not None:
        request["claimedEpsilon"] = claimed_epsilon
    return request


def _common(message: Json) -> Json:
    mu, claimed = message.get("muLowerBound"), message.get("claimedEpsilon")
    return {"method": message.get("method", ""), "delta": float(message.get("delta", 0)),
            "confidence": float(message.get("confidence", 0)), "hypothesis": message.get("hypothesis", ""),
            "mu_lower_bound": None if mu is None else float(mu),
            "claimed_epsilon": None if claimed is None else float(claimed)}
