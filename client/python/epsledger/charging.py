"""One charge, or one lease, until its outcome is definite.

Only an acceptance of exactly the key, event and count that was asked for is returned (the ledger's invariant I19).
Everything else is an error, and so is an outcome that stays unknown.
"""
from __future__ import annotations

import re
from typing import Any, NoReturn, Optional

from .connection import Connection
from .errors import OutcomeUnknown, call_failed, refused
from .event_json import is_same_event
from .refusal import Refusal
from .retry import Tries
from .transport import Json


def charge_until_definite(connection: Connection, request: Json) -> Json:
    """Returns the accepted epsledger.v1.Charge. Raises Refused, OutcomeUnknown or CallFailed."""
    name = "%s/charges/%s" % (request["attempt"], request["chargeId"])
    tries = connection.tries("ChargeService/Charge", request)
    if tries.answer is None or tries.error is not None:
        _raise_not_accepted(tries, name, request["chargeId"])
    wrong = _difference(tries.answer, name=name, decision="ACCEPTED", count=request["count"], event=request["event"])
    if wrong is not None:
        _raise_wrong_answer(tries, name, request["chargeId"], wrong)
    return tries.answer


def lease_until_definite(connection: Connection, request: Json) -> Json:
    """Returns the granted epsledger.v1.Lease. Raises as charge_until_definite does."""
    tries = connection.tries("ChargeService/AcquireLease", request)
    if tries.answer is None or tries.error is not None:
        _raise_not_accepted(tries, "%s/charges/%s" % (request["attempt"], request["leaseId"]), request["leaseId"])
    name = "%s/leases/%s" % (request["attempt"], request["leaseId"])
    wrong = _difference(tries.answer, name=name, grantedCount=request["count"], event=request["event"])
    if wrong is None and tries.answer.get("settled", False):
        wrong = "settled: got true, want an open lease"
    if wrong is not None:
        _raise_wrong_answer(tries, name, request["leaseId"], wrong)
    return tries.answer


def _raise_not_accepted(tries: Tries, name: str, charge_id: str) -> NoReturn:
    assert tries.error is not None
    charge = tries.error.detail("epsledger.v1.Charge")
    if charge is not None and charge.get("decision") == "REFUSED" and isinstance(charge.get("refusal"), dict):
        if charge.get("name") == name:
            raise refused(Refusal.from_json(charge["refusal"], name))
        _raise_wrong_answer(tries, name, charge_id, "refused charge: got %r, want that name" % charge.get("name"))
    if tries.may_have_committed:
        raise OutcomeUnknown(charge_id, tries.error.code, tries.error.message, str(tries))
    raise call_failed(tries.error.code, tries.error.message)


def _raise_wrong_answer(tries: Tries, name: str, charge_id: str, wrong: str) -> NoReturn:
    raise OutcomeUnknown(charge_id, "INTERNAL", "the server's answer is not one to %s: %s" % (name, wrong), str(tries))


def _difference(answer: Json, event: Json, **wanted: Any) -> Optional[str]:
    """Returns the first field of an answer that differs from the request."""
    for field, want in wanted.items():
        if str(answer.get(field)) != want:
            return "%s: got %r, want %r" % (field, answer.get(field), want)
    if not is_same_event(event, answer.get("event")):
        return "event: got %r, want %r" % (answer.get("event"), event)
    if not re.fullmatch("[1-9][0-9]{0,18}", str(answer.get("sequence", ""))):
        return "sequence: got %r, want 1 or more" % answer.get("sequence")
    return None
