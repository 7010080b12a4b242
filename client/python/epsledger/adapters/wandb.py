"""Weights & Biases: what a session spent, in the history of a run, and its statement in the summary.

Tested against wandb 0.31, offline.
"""
from __future__ import annotations

from typing import Any, Optional

from ..session import Session
from .readings import readings


def log_spent(run: Any, session: Session, *, step: Optional[int] = None, delta: Optional[float] = None) -> None:
    """Logs privacy/epsilon, privacy/delta and privacy/steps_that_fit (see readings) to a wandb.Run."""
    run.log(readings(session, delta), step=step)


def log_statement(run: Any, session: Session, *, delta: Optional[float] = None) -> None:
    """Puts the text of the session's privacy statement into the summary of the run."""
    run.summary["privacy/statement"] = session.statement(delta=delta).text
