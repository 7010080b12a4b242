"""MLflow: what a session spent as metrics of the active run, and its signed statement as artifacts.

Tested against MLflow 3.17.
"""
from __future__ import annotations

from typing import Optional

import mlflow

from ..session import Session
from .readings import readings


def log_spent(session: Session, *, step: int, delta: Optional[float] = None) -> None:
    """Logs privacy/epsilon, privacy/delta and privacy/steps_that_fit (see readings) at `step`."""
    mlflow.log_metrics(readings(session, delta), step=step)


def log_statement(session: Session, *, delta: Optional[float] = None) -> None:
    """Logs the session's signed privacy statement: privacy/statement.txt for people, and statement.json with
    statement.signature, Ed25519 in hexadecimal over its bytes, for checking."""
    statement = session.statement(delta=delta)
    mlflow.log_text(statement.text, "privacy/statement.txt")
    mlflow.log_text(statement.json, "privacy/statement.json")
    mlflow.log_text(statement.signature.hex(), "privacy/statement.signature")
