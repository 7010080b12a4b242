"""The errors. Each says what to do; none of them means that a step may run."""
from __future__ import annotations

from typing import Dict, Type

from .refusal import Refusal


class EpsledgerError(Exception):
    """The base of all errors."""


class Refused(EpsledgerError):
    """The ledger refused a charge, a lease or a plan: nothing was charged, and nothing may be released."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal

    def __str__(self) -> str:
        return str(self.refusal)

    @property
    def reason(self) -> str:
        """"BUDGET_FROZEN", ...: see Refusal."""
        return self.refusal.reason

    @property
    def limiting_resource(self) -> str:
        """The budget or session whose cap refused."""
        return self.refusal.limiting_resource

    @property
    def cap(self) -> float:
        """That cap, in `refusal.quantity`."""
        return self.refusal.cap

    @property
    def spent(self) -> float:
        """How much of the cap was spent before this charge."""
        return self.refusal.spent

    @property
    def requested(self) -> float:
        """How much of the cap this charge asked for."""
        return self.refusal.requested

    @property
    def steps_that_fit(self) -> int:
        """How many single uses of the event would still fit everywhere."""
        return self.refusal.steps_that_fit


class BudgetExhausted(Refused):
    """A cap has no room for the charge."""


class AttemptFenced(Refused):
    """A newer attempt of the session was opened: this process is an old life of it."""


class OutcomeUnknown(EpsledgerError):
    """No try of a charge brought a decision. It may have been committed, and COUNTS AS SPENT: release nothing.

    Session.retry_charge(charge_id) asks for the same charge again."""

    def __init__(self, charge_id: str, code: str, message: str, how_it_went: str) -> None:
        super().__init__(charge_id, code, message, how_it_went)
        self.charge_id = charge_id
        self.code = code
        self.message = message
        self.how_it_went = how_it_went

    def __str__(self) -> str:
        return ("charge %s: the outcome is unknown and counts as spent (%s); release nothing for it until "
                "retry_charge(%r) is accepted. Last answer: %s: %s"
                % (self.charge_id, self.how_it_went, self.charge_id, self.code, self.message))


class CallFailed(EpsledgerError):
    """A call ended with an error that is not a refusal. It charged nothing."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        #: The gRPC status: "NOT_FOUND", ...
        self.code = code
        self.message = message

    def __str__(self) -> str:
        hint = _HINTS.get(self.code)
        return "%s: %s%s" % (self.code, self.message, " (%s)" % hint if hint else "")


class InvalidArgument(CallFailed, ValueError):
    """A value is outside its domain: the message names the field, what it got and what it wants."""

    def __init__(self, code: str, message: str) -> None:
        CallFailed.__init__(self, code, message)


class NotFound(CallFailed):
    """No such budget or session exists, or it is not yours."""


class AlreadyExists(CallFailed):
    """One of that name exists with other content: the message names the first difference."""


class PermissionDenied(CallFailed):
    """The caller's role does not allow it."""


class Unauthenticated(CallFailed):
    """The server does not know the caller."""


class Unavailable(CallFailed):
    """The server did not answer in the time of Retry, retries included."""


class LedgerBehind(CallFailed):
    """The server has lost entries that this client saw, as after a restore from an old backup."""


class WrongProcess(EpsledgerError):
    """A session, permit or lease was used in another process than the one that created it."""


class UsedUp(EpsledgerError):
    """Every use of a permit, or every step of a lease, is taken."""


class Ended(EpsledgerError):
    """A session or client is closed, or a lease is settled: it takes no charges any more."""


def invalid(field: str, got: object, want: str) -> InvalidArgument:
    """Returns the error of a value that is refused before it is sent."""
    return InvalidArgument("INVALID_ARGUMENT", "%s: got %r, want %s" % (field, got, want))


def refused(refusal: Refusal) -> Refused:
    """Returns the error of a refusal."""
    return _REFUSED.get(refusal.reason, Refused)(refusal)


def call_failed(code: str, message: str) -> CallFailed:
    """Returns the error of a status that is not a refusal."""
    return _BY_CODE.get(code, CallFailed)(code, message)


_REFUSED: Dict[str, Type[Refused]] = {"BUDGET_EXHAUSTED": BudgetExhausted, "ATTEMPT_FENCED": AttemptFenced}
_BY_CODE: Dict[str, Type[CallFailed]] = {
    "INVALID_ARGUMENT": InvalidArgument,
    "OUT_OF_RANGE": InvalidArgument,
    "NOT_FOUND": NotFound,
    "ALREADY_EXISTS": AlreadyExists,
    "PERMISSION_DENIED": PermissionDenied,
    "UNAUTHENTICATED": Unauthenticated,
    "UNAVAILABLE": Unavailable,
    "DEADLINE_EXCEEDED": Unavailable,
    "CANCELLED": Unavailable,
    "UNKNOWN": Unavailable,
    "DATA_LOSS": LedgerBehind,
}
_HINTS = {
    "UNAVAILABLE": "is epsledgerd running there? The HTTP address is its --http-listen, here EPSLEDGER_HTTP; that of gRPC "
                   "is its --listen, EPSLEDGER_SERVER",
    "UNAUTHENTICATED": "EPSLEDGER_TOKEN or EPSLEDGER_TOKEN_FILE says who calls",
    "PERMISSION_DENIED": "charging takes the role trainer, budgets the role admin",
    "DATA_LOSS": "stop training, and have the operator compare the server with its backups",
}
