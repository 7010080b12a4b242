"""A refusal, as numbers and as a sentence."""
from __future__ import annotations

import dataclasses
from typing import Any, Mapping

from .rounded import digits_for_spent, rounded_down, rounded_up


@dataclasses.dataclass(frozen=True)
class Refusal:
    """The content of a refusal. It is permanent: the same charge gets the same refusal for ever."""

    #: "BUDGET_EXHAUSTED", "BUDGET_FROZEN", "CLOSED", "NOT_IN_PLAN", "ATTEMPT_FENCED", "EVENT_NOT_CHARGEABLE",
    #: "BATCH_REFUSED", "POLICY_VIOLATION", "BUDGET_SUPERSEDED", or one that this version does not know.
    reason: str
    #: "budgets/.../charges/step-3"; empty for a plan that was refused as a whole, and in a preview.
    charge: str = ""
    #: The budget or session whose cap refused; may be empty for other reasons.
    limiting_resource: str = ""
    #: The quantity of the cap with the most room: "RENYI_DIVERGENCE", ...; empty if no cap was checked.
    quantity: str = ""
    #: With RENYI_DIVERGENCE.
    order: float = 0
    cap: float = 0
    spent: float = 0
    requested: float = 0
    #: How many single uses of the event would still fit everywhere.
    steps_that_fit: int = 0
    #: With POLICY_VIOLATION: what the policy wants. For a calibration: what else to ask for.
    remedy: str = ""

    @classmethod
    def from_json(cls, message: Mapping[str, Any], charge: str = "") -> "Refusal":
        """Reads an epsledger.v1.Refusal."""
        cell = message.get("cell") or {}
        reason = message.get("reason", "REASON_UNSPECIFIED")
        if not isinstance(reason, str):  # a later server's: proto3 JSON gives its number
            reason = "REASON_%s" % reason
        return cls(reason=reason, charge=charge,
                   limiting_resource=message.get("limitingResource", ""), quantity=cell.get("quantity", ""),
                   order=float(cell.get("order", 0)), cap=float(cell.get("cap", 0)),
                   spent=float(cell.get("spent", 0)), requested=float(message.get("requested", 0)),
                   steps_that_fit=int(message.get("stepsThatFit", 0)), remedy=message.get("remedy", ""))

    def __str__(self) -> str:
        text = "refused, " + self.reason
        if self.limiting_resource:
            text += " by " + self.limiting_resource
        if self.quantity:
            digits = digits_for_spent(self.spent, self.cap)
            text += " (%s%s: cap %s, spent %s, requested %s)" % (
                self.quantity, " at order %.15g" % self.order if self.order > 0 else "",
                rounded_down(self.cap, digits), rounded_up(self.spent, digits), rounded_up(self.requested))
        return "%s: %s." % (text, self._what_to_do())

    def _what_to_do(self) -> str:
        if self.remedy:
            return self.remedy
        if self.reason == "BUDGET_EXHAUSTED" and self.steps_that_fit > 0:
            return "ask for at most %d of it, or for more noise" % self.steps_that_fit
        if self.reason == "BUDGET_EXHAUSTED" and self.requested > self.cap * (1 + 1e-9) > 0:
            return ("it is larger than the whole cap, and no step of it fits: ask for more noise, or for a larger "
                    "budget")
        if self.reason == "NOT_IN_PLAN" and self.steps_that_fit > 0:
            return "ask for at most %d of it" % self.steps_that_fit
        return _WHAT_TO_DO.get(self.reason, "this version does not know the reason; a newer one may")


_WHAT_TO_DO = {
    "BUDGET_EXHAUSTED": "no step of this size fits any more: ask for more noise, or stop",
    "BUDGET_FROZEN": "wait until it is thawed",
    "CLOSED": "use another session or budget",
    "NOT_IN_PLAN": "charge what the session's plan holds (epsctl session get)",
    "ATTEMPT_FENCED": "a newer attempt of this session is running; stop this one, or open the session again",
    "EVENT_NOT_CHARGEABLE": "use an event that the cap's currency can count, or a budget in another currency",
    "BATCH_REFUSED": "look at the other items of the batch",
    "POLICY_VIOLATION": "declare what the budget's policy wants, in open(provenance=...)",
    "BUDGET_SUPERSEDED": "open a session under the successor (epsctl budget get shows it)",
}
