"""Charge a privacy ledger before each noisy step, and be refused when it would overspend.

    import epsledger

    client = epsledger.connect()
    session = client.open(session="first-run", budget="people", delta=1e-5)
    with session.step(event):
        ...  # runs only after the ledger has durably accepted the charge

`epsledger.events` makes events; `epsledger.aio` is the same for asyncio.
"""
from .annotations import Annotations, SignOff
from .audits import Audit, Claim, OneRunCounts, TwoArmCounts
from .budget import Budget, Cap, CellBalance
from .client import Client, Provenance, connect
from .dp_sgd import dp_sgd
from .errors import (
    AlreadyExists,
    AttemptFenced,
    BudgetExhausted,
    CallFailed,
    Ended,
    EpsledgerError,
    InvalidArgument,
    LedgerBehind,
    NotFound,
    OutcomeUnknown,
    PermissionDenied,
    Refused,
    Unauthenticated,
    Unavailable,
    UsedUp,
    WrongProcess,
)
from .event_json import EventLike
from .guarantees import Guarantees, Reading, Spent, Statement
from .lease import Lease
from .permit import Permit
from .preview import Preview
from .refusal import Refusal
from .retry import Retry
from .series import Series, SeriesPoint
from .session import Session
from .watching import Change

#: The version of this package.
__version__ = "0.1.0"

__all__ = [
    "AlreadyExists", "Annotations", "AttemptFenced", "Audit", "Budget", "BudgetExhausted", "CallFailed", "Cap", "CellBalance",
    "Change", "Claim", "Client", "Ended", "EpsledgerError", "EventLike", "Guarantees", "InvalidArgument", "Lease",
    "LedgerBehind", "NotFound", "OneRunCounts", "OutcomeUnknown", "PermissionDenied", "Permit", "Preview",
    "Provenance", "Reading", "Refusal", "Refused", "Retry", "Series", "SeriesPoint", "Session", "SignOff", "Spent",
    "Statement", "TwoArmCounts", "Unauthenticated", "Unavailable", "UsedUp", "WrongProcess", "connect", "dp_sgd",
]
