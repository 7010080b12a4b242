"""The numbers of a session that experiment trackers show."""
from __future__ import annotations

from typing import Dict, Optional

from ..session import Session


def readings(session: Session, delta: Optional[float]) -> Dict[str, float]:
    """Returns numbers by their name in a tracker. privacy/epsilon >= the true epsilon at privacy/delta of all charges
    so far, in all attempts; infinity if no accountant knows a bound. privacy/steps_that_fit, after the first charge:
    how many more single uses of the last event fit now."""
    guarantees = session.guarantees(delta=delta)
    numbers = {"privacy/epsilon": guarantees.spent.epsilon, "privacy/delta": guarantees.delta}
    if guarantees.steps_that_fit is not None:
        numbers["privacy/steps_that_fit"] = float(guarantees.steps_that_fit)
    return numbers
