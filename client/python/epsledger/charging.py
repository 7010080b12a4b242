"""One charge, or one lease, until its outcome is definite.

Only an acceptance of exactly the key, event and count that was asked for is returned (the ledger's invariant I19).
Everything else is an error, and so is an outcome that stays unknown.
"""
from __future__ import annotations

import re
from typing import Any, List, NoReturn, Optional, Tuple, Union

from .connection import Connection
from .errors import OutcomeUnknown, Refused, call_failed, refused
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


def batch_until_definite(connection: Connection, request: Json) -> List[Json]:
    """Returns the accepted Charge of each item of an ALL_OR_NOTHING batch, in order. Raises Refused, with the refusal
    of an item that did not fit, and otherwise as charge_until_definite does; OutcomeUnknown names the first item."""
    tries, results = _batch_results(connection, request)
    if all("refused" in result for result in results):
        refusals = [_refused_item(tries, request, at, result) for at, result in enumerate(results)]
        # The others were refused only because one was.
        raise next((one for one in refusals if one.reason != "BATCH_REFUSED"), refusals[0])
    return [_accepted_item(tries, request, at, result) for at, result in enumerate(results)]


def each_until_definite(connection: Connection, request: Json) -> List[Union[Json, Refused]]:
    """Returns, for each item of a PER_ITEM batch in order, the accepted Charge or the refusal of exactly that item.
    Raises OutcomeUnknown, which names the first item, if one of them has neither, and otherwise as
    charge_until_definite does."""
    tries, results = _batch_results(connection, request)
    return [(_refused_item if "refused" in result else _accepted_item)(tries, request, at, result)
            for at, result in enumerate(results)]


def _batch_results(connection: Connection, request: Json) -> Tuple[Tries, List[Json]]:
    """One object of one field for each item."""
    first = request["items"][0]["chargeId"]
    tries = connection.tries("ChargeService/BatchCharge", request)
    if tries.answer is None or tries.error is not None:
        _raise_not_accepted(tries, _item_name(request, 0), first)
    results = tries.answer.get("results")
    if not isinstance(results, list) or len(results) != len(request["items"]) or not all(
            isinstance(result, dict) and len(result) == 1 for result in results):
        _raise_wrong_answer(tries, _item_name(request, 0), first, "results: got others than one for each item")
    return tries, results


def _item_name(request: Json, at: int) -> str:
    return "%s/charges/%s" % (request["attempt"], request["items"][at]["chargeId"])


def _accepted_item(tries: Tries, request: Json, at: int, result: Json) -> Json:
    name, item, charge = _item_name(request, at), request["items"][at], result.get("accepted")
    if not isinstance(charge, dict):
        _raise_wrong_answer(tries, name, request["items"][0]["chargeId"], "accepted: got %r, want a charge" % charge)
    wrong = _difference(charge, name=name, decision="ACCEPTED", count=item["count"], event=item["event"])
    if wrong is not None:
        _raise_wrong_answer(tries, name, request["items"][0]["chargeId"], wrong)
    return charge


def _refused_item(tries: Tries, request: Json, at: int, result: Json) -> Refused:
    name, charge = _item_name(request, at), result["refused"]
    if not isinstance(charge, dict) or charge.get("name") != name or charge.get("decision") != "REFUSED" or \
            not isinstance(charge.get("refusal"), dict):
        _raise_wrong_answer(tries, name, request["items"][0]["chargeId"], "refused: got %r, want that charge" % charge)
    return refused(Refusal.from_json(charge["refusal"], name))


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
