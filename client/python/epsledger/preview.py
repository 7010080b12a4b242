"""What a charge would do."""
from __future__ import annotations

import dataclasses
from typing import Optional

from .refusal import Refusal
from .transport import Json


@dataclasses.dataclass(frozen=True)
class Preview:
    """What a charge would do now. It is not a promise: others may charge in between."""

    accepted: bool
    #: The refusal, if the charge would not be accepted.
    refusal: Optional[Refusal]
    #: How many single uses of the event fit now, up to 2^53; never too many. If the price in units rises as units run
    #: out, the number may be too low beyond the count that was asked for.
    steps_that_fit: int

    @classmethod
    def from_json(cls, message: Json) -> "Preview":
        """Reads an epsledger.v1.PreviewChargeResponse."""
        accepted = message.get("decision") == "ACCEPTED"
        return cls(accepted, None if accepted else Refusal.from_json(message.get("refusal") or {}),
                   int(message.get("stepsThatFit", 0)))

    def __bool__(self) -> bool:
        return self.accepted

    def __str__(self) -> str:
        would = "it would be accepted" if self.refusal is None else "it would be %s" % str(self.refusal).rstrip(".")
        return "%s; %d single steps fit now" % (would, self.steps_that_fit)

    def __repr__(self) -> str:
        return "<%s>" % self
