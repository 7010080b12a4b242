"""write_exchanges.py [--check]: writes exchanges.jsonl, one exchange a line, from the rules of README.md; or only says
whether it is what would be written.

The verdicts follow from the tables below. No client was asked for one.
"""
import base64
import copy
import hashlib
import json
import pathlib
import sys

# What a status code says of a charge (server/transport/grpc/README.md): rules 4, 5 and 6.
ASK_AGAIN = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN")
MAY_HAVE_COMMITTED = ("RESOURCE_EXHAUSTED", "INTERNAL", "DATA_LOSS")
NOT_COMMITTED = ("INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "UNAUTHENTICATED",
                 "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED")
REASONS = ("BUDGET_EXHAUSTED", "BUDGET_FROZEN", "CLOSED", "NOT_IN_PLAN", "ATTEMPT_FENCED", "EVENT_NOT_CHARGEABLE",
           "BATCH_REFUSED", "POLICY_VIOLATION", "BUDGET_SUPERSEDED")
TRIES = 3  # conformance.py's setting

STEP = {"poissonSampled": {"samplingProbability": 0.01, "event": {"gaussian": {"noiseMultiplier": 1.1}}}}
EVENTS = {"poisson": STEP, "gaussian": {"gaussian": {"noiseMultiplier": 0.1}},
          "laplace": {"laplace": {"noiseMultiplier": 3.0000000000000004}}, "pure": {"pureDp": {"epsilon": 1e-300}},
          "approximate": {"approximateDp": {"epsilon": 0.5, "delta": 1e-9}},
          "composed": {"composed": {"events": [{"event": STEP, "count": "9007199254740992"}]}}}
PERMIT, UNKNOWN, OK, ERROR, SPENT = ({"is": word} for word in ("permit", "unknown", "ok", "error", "spent"))


def base64_of(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def head(sequence, of=""):
    return {"rootBudget": "budgets/people", "sequence": str(sequence), "hash": base64_of("hash %d%s" % (sequence, of)),
            "tag": base64_of("tag %d%s" % (sequence, of))}


def entry(sequence, of=""):
    known = head(sequence, of)
    return {"sequence": known["sequence"], "hash": known["hash"], "headTag": known["tag"]}


def says(call, reply, **more):
    return {"call": call, "reply": reply, **more}


def accepts(at, seen=1, **changed):
    """The server accepts a charge as entry `at`, of a client that has seen entry `seen`."""
    reply = {"name": "$charge", "event": "$event", "count": "$count", "decision": "ACCEPTED", **entry(at)}
    reply.update(changed)
    return says("Charge", {name: value for name, value in reply.items() if value is not None},
                head=head(seen) if seen else None)


def grants(at, seen=1, **changed):
    reply = {"name": "$lease", "event": "$event", "grantedCount": "$count", "expireTime": "2026-01-02T03:04:05Z",
             **entry(at)}
    reply.update(changed)
    return says("AcquireLease", {name: value for name, value in reply.items() if value is not None}, head=head(seen))


def fails(code, call="Charge", message=None, details=(), **more):
    fail = {"code": code, "message": message or "the server says %s here" % code.lower().replace("_", " ")}
    if details:
        fail["details"] = list(details)
    return {"call": call, "fail": fail, **more}


def with_details(code, details):
    entry = fails(code)
    entry["fail"].update(details)
    return entry


def refuses(reason, call="Charge", name="$charge", **changed):
    """As the server does: a status, with ErrorInfo and the refused charge."""
    charge = {"name": name, "event": "$event", "count": "$count", "decision": "REFUSED", **entry(2),
              "refusal": {"reason": reason, "limitingResource": "budgets/people", "requested": 0.25,
                          "cell": {"quantity": "RENYI_DIVERGENCE", "order": 8, "cap": 1, "spent": 0.875}}}
    charge.update(changed)
    charge = {field: value for field, value in charge.items() if value is not None}
    details = [{"type": "google.rpc.ErrorInfo", "value": {"reason": str(reason), "domain": "epsledger.dev"}},
               {"type": "epsledger.v1.Charge", "value": charge}]
    return fails("ABORTED" if reason == "ATTEMPT_FENCED" else "FAILED_PRECONDITION", call,
                 "charge refused: %s" % reason, details)


def step(do, server=(), verdict=OK, **more):
    return {"do": do, "server": list(server), "verdict": {**verdict, **more}}



def attempt_reply(number, sequence, name=None, of=""):
    return {"name": name or "$session/attempts/%d" % number, "number": str(number), **entry(sequence, of)}


def opened(number=1, sequence=1, seen=None):
    return step({"do": "open"}, [says("OpenAttempt", attempt_reply(number, sequence), head=head(seen) if seen else None)])


def charge(server, verdict, event=STEP, count="1", **more):
    return step({"do": "charge", "event": event, "count": count}, server, verdict, **more)


def lease(server, verdict, count="3", **more):
    return step({"do": "lease", "event": STEP, "count": count, "seconds": "60"}, server, verdict, **more)


def permit(sequence, uses="1"):
    return {"is": "permit", "sequence": str(sequence), "uses": uses}


LEASE = {"is": "lease", "granted": "3"}


class Set:
    def __init__(self):
        self.exchanges = []

    def add(self, name, rules, what, *steps, opening=True, **more):
        all_steps = ([opened()] if opening else []) + list(steps)
        self.exchanges.append({"name": name, "rules": rules.split(), "what": what, **more,
                               "steps": copy.deepcopy(all_steps)})


def said(code):
    return ["the server says %s here" % code.lower().replace("_", " ")]


def add_charging_codes(to):
    for code in ASK_AGAIN:
        to.add("charge.%s.accepted" % code, "1 2 4", "The same key is asked again and accepted: one permit.",
               charge([fails(code), accepts(2)], permit(2)))
        to.add("charge.%s.refused" % code, "4 7", "A refusal of the same key is definite.",
               charge([fails(code), refuses("BUDGET_EXHAUSTED")], {"is": "refused", "reason": "BUDGET_EXHAUSTED"}))
        to.add("charge.%s.fenced" % code, "4 8", "A newer attempt was opened in between.",
               charge([fails(code), refuses("ATTEMPT_FENCED")], {"is": "refused", "reason": "ATTEMPT_FENCED"}))
        to.add("charge.%s.to_the_end" % code, "4 5", "No try brings a decision: the charge counts as spent.",
               charge([fails(code)] * TRIES, UNKNOWN, says=said(code)),
               step({"do": "unknown"}, verdict=OK, ids_of=[2]))
        for later in NOT_COMMITTED + MAY_HAVE_COMMITTED:
            to.add("charge.%s.then_%s" % (code, later), "5", "An error that is not about the charge does not make it "
                   "known: the first try may have committed.",
                   charge([fails(code), fails(later)], UNKNOWN, says=said(later)))
    for code in MAY_HAVE_COMMITTED:
        to.add("charge.%s" % code, "5", "The server may have committed: not asked again by itself, and spent.",
               charge([fails(code)], UNKNOWN, says=said(code)), step({"do": "unknown"}, verdict=OK, ids_of=[2]))
        to.add("charge.%s.retried" % code, "1 5", "retry_charge asks for the same charge: now it is known.",
               charge([fails(code)], UNKNOWN),
               step({"do": "retry", "of": 2}, [accepts(2)], permit(2)),
               step({"do": "unknown"}, verdict=OK, ids_of=[]),
               step({"do": "retry", "of": 2}, verdict=ERROR), step({"do": "use", "permit": 0}),
               step({"do": "use", "permit": 0}, verdict=SPENT))
    for code in NOT_COMMITTED:
        to.add("charge.%s" % code, "6", "The server says so before it writes: an error, and nothing was charged.",
               charge([fails(code)], ERROR, code=code, says=said(code)), step({"do": "unknown"}, verdict=OK, ids_of=[]),
               charge([accepts(2)], permit(2)))
        to.add("charge.unknown.retried_%s" % code, "5", "An unknown charge stays unknown after an error that is not "
               "about it.", charge([fails("INTERNAL")], UNKNOWN),
               step({"do": "retry", "of": 2}, [fails(code)], UNKNOWN),
               step({"do": "unknown"}, verdict=OK, ids_of=[2]),
               step({"do": "retry", "of": 2}, [accepts(2)], permit(2)))


def add_other_codes(to):
    for code in ASK_AGAIN:
        to.add("lease.%s.granted" % code, "1 2 4", "The same key is asked again.",
               lease([fails(code, "AcquireLease"), grants(2)], LEASE))
        to.add("lease.%s.to_the_end" % code, "5", "A lease whose outcome is unknown is spent in full.",
               lease([fails(code, "AcquireLease")] * TRIES, UNKNOWN),
               lease([grants(2)], LEASE))
        to.add("open.%s" % code, "4 8", "Opening again only opens one more attempt.",
               step({"do": "open"}, [fails(code, "OpenAttempt"), says("OpenAttempt", attempt_reply(2, 2))]),
               charge([accepts(3, seen=2)], permit(3)), opening=False)
        to.add("open.%s.to_the_end" % code, "6", "No attempt: no session.",
               step({"do": "open"}, [fails(code, "OpenAttempt")] * TRIES, ERROR, says=said(code)), opening=False)
        to.add("settle.%s" % code, "4 11", "Settling again with the same count is the same.",
               lease([grants(2)], LEASE), step({"do": "take", "lease": 0}, verdict=PERMIT, elsewhere=True),
               step({"do": "settle", "lease": 0}, [fails(code, "SettleLease"), settles("1")]))
    for code in NOT_COMMITTED + MAY_HAVE_COMMITTED:
        verdict = ERROR if code in NOT_COMMITTED else UNKNOWN
        to.add("lease.%s" % code, "5 6", "As for a charge.", lease([fails(code, "AcquireLease")], verdict,
                                                                   says=said(code)))
        to.add("open.%s" % code, "6", "An error of opening is an error.",
               step({"do": "open"}, [fails(code, "OpenAttempt")], ERROR, code=code, says=said(code)), opening=False)
        to.add("settle.%s" % code, "11", "The lease is spent in full, and gives no more steps.",
               lease([grants(2)], LEASE),
               step({"do": "settle", "lease": 0}, [fails(code, "SettleLease")], ERROR, says=said(code)),
               step({"do": "take", "lease": 0}, verdict=SPENT),
               step({"do": "settle", "lease": 0}, [settles("0")]))


def settles(used, **changed):
    reply = {"name": "$lease", "event": STEP, "grantedCount": "3", "usedCount": used, "settled": True, "sequence": "2"}
    reply.update(changed)
    return says("SettleLease", reply, **({} if used == "0" else {"request": {"usedCount": used}}))


def add_refusals(to):
    for reason in REASONS:
        refused = {"is": "refused", "reason": reason}
        to.add("charge.refused.%s" % reason, "7 14", "Refused: nothing was charged, and the next charge has a new key.",
               charge([refuses(reason)], refused), step({"do": "unknown"}, verdict=OK, ids_of=[]),
               charge([refuses(reason)], refused))
        to.add("lease.refused.%s" % reason, "7 11", "A lease is refused as a charge is.",
               lease([refuses(reason, "AcquireLease")], refused))
    to.add("charge.refused.a_later_reason", "7", "A reason that the client does not know is a refusal like any other.",
           charge([refuses(99)], {"is": "refused"}))
    to.add("charge.refused.policy", "7 14", "The remedy of the policy is said.",
           charge([refuses("POLICY_VIOLATION", refusal={
               "reason": "POLICY_VIOLATION", "limitingResource": "budgets/people",
               "remedy": "declare the sampler POISSON"})], {"is": "refused", "reason": "POLICY_VIOLATION"},
               says=["declare the sampler POISSON"]))
    to.add("charge.refused.exhausted", "7 14", "What refused, and how many would have fitted, is said.",
           charge([refuses("BUDGET_EXHAUSTED", refusal={
               "reason": "BUDGET_EXHAUSTED", "limitingResource": "budgets/people", "stepsThatFit": "9007199254740993"})],
               {"is": "refused", "reason": "BUDGET_EXHAUSTED"}, says=["budgets/people", "9007199254740993"]))
    to.add("charge.refused.of_another_key", "7", "A refusal of another charge says nothing of this one.",
           charge([refuses("BUDGET_EXHAUSTED", name="budgets/people/sessions/other/attempts/1/charges/step-1")], UNKNOWN))
    to.add("charge.refused.without_decision", "6 7", "The status alone says that nothing was charged.",
           charge([refuses("BUDGET_EXHAUSTED", decision=None)], ERROR, code="FAILED_PRECONDITION"))
    to.add("charge.refused.without_refusal", "6 7", "The same without a reason.",
           charge([refuses("BUDGET_EXHAUSTED", refusal=None)], ERROR, code="FAILED_PRECONDITION"))
    garbage = base64.b64encode(b"\xff" * 4).decode()
    unreadable = {"details": [{"type": kind, "bytes": garbage} for kind in ("epsledger.v1.Charge", "google.rpc.RetryInfo")]}
    for what, details in (("one_detail", unreadable), ("all_details", {"details_bytes": garbage})):
        to.add("charge.unreadable.%s" % what, "6 7", "What cannot be read is no detail: the status alone says that "
               "nothing was charged.", charge([with_details("FAILED_PRECONDITION", details)], ERROR,
                                              code="FAILED_PRECONDITION", says=said("FAILED_PRECONDITION")),
               charge([accepts(2)], permit(2)))
        to.add("charge.unreadable.%s.asked_again" % what, "2 4", "Nor does it keep the client from asking again.",
               charge([with_details("UNAVAILABLE", details), accepts(2)], permit(2)))
    to.add("charge.accepted_in_an_error", "3", "A status that is not OK never gives a permit.",
           charge([refuses("BUDGET_EXHAUSTED", decision="ACCEPTED")], ERROR, code="FAILED_PRECONDITION"))
    to.add("charge.fenced_for_ever", "8", "The older attempt is refused each time; the newer one is served.",
           charge([accepts(2)], permit(2)),
           charge([refuses("ATTEMPT_FENCED")], {"is": "refused", "reason": "ATTEMPT_FENCED"}),
           charge([refuses("ATTEMPT_FENCED")], {"is": "refused", "reason": "ATTEMPT_FENCED"}),
           opened(2, 4, seen=2), charge([accepts(5, seen=4)], permit(5)))


def add_answers(to):
    other = "budgets/people/sessions/exchange-1000/attempts/1/charges/step-1"
    wrong = {"name_of_another_session": {"name": other}, "name_of_another_charge": {"name": "$attempt/charges/other"},
             "name_of_another_attempt": {"name": "$session/attempts/2/charges/step-1"}, "no_name": {"name": None},
             "refused_with_ok": {"decision": "REFUSED"}, "no_decision": {"decision": None},
             "a_later_decision": {"decision": 7}, "a_smaller_count": {"count": "1"}, "a_larger_count": {"count": "3"},
             "no_count": {"count": None}, "no_event": {"event": None}, "another_event": {"event": EVENTS["gaussian"]},
             "another_number": {"event": {"poissonSampled": {"samplingProbability": 0.010000000000000002,
                                                             "event": {"gaussian": {"noiseMultiplier": 1.1}}}}},
             "sequence_zero": {"sequence": "0"}, "a_negative_sequence": {"sequence": "-4"}}
    for what, changed in wrong.items():
        to.add("charge.answer.%s" % what, "3 5", "OK, but not an acceptance of exactly this charge: spent.",
               charge([accepts(2, **changed)], UNKNOWN, count="2"), step({"do": "unknown"}, verdict=OK, ids_of=[2]))
    to.add("charge.answer.empty", "3", "An empty message is no acceptance.", charge([says("Charge", {})], UNKNOWN))
    to.add("charge.answer.of_another_count", "3", "Asked for one use, answered for two.",
           charge([accepts(2, count="2")], UNKNOWN))
    to.add("charge.answer.twice", "3 10", "One permit at most, whatever arrives twice: asked again, or not.",
           charge([{**accepts(2), "fault": "twice"}, {**accepts(2), "times": "any"}], {"is": ["permit", "unknown"]}))
    to.add("charge.answer.no_message", "5", "OK without a message says nothing.",
           charge([{"call": "Charge", "fault": "no message"}] + [
               {"call": "Charge", "fault": "no message", "times": "any"}], UNKNOWN))
    to.add("charge.answer.garbage", "5", "What is no message says nothing.",
           charge([{"call": "Charge", "fault": "garbage"}] + [
               {"call": "Charge", "fault": "garbage", "times": "any"}], UNKNOWN))
    to.add("charge.answer.large", "3 6", "More than a client reads may have been committed, whatever code its library "
           "then gives: asked again, or not.",
           charge([{**accepts(2), "fault": "large"}, {**accepts(2), "times": "any"}], {"is": ["permit", "unknown"]}))
    for code, more, verdict in (("UNAVAILABLE", [accepts(2)], permit(2)), ("INTERNAL", [], UNKNOWN)):
        to.add("charge.answer.then_%s" % code, "3", "A status that is not OK ends an acceptance that was sent before it.",
               charge([{**accepts(2), "then": fails(code)["fail"]}] + more, verdict))
    to.add("charge.answer.unreadable_details", "6 7", "What cannot be read is no detail: the status alone counts.",
           charge([fails("FAILED_PRECONDITION", fault="garbage")], ERROR, code="FAILED_PRECONDITION",
                  says=said("FAILED_PRECONDITION")))
    for name, event in EVENTS.items():
        to.add("charge.event.%s" % name, "3", "Exact numbers go there and come back.",
               charge([accepts(2)], permit(2, "2"), event=event, count="2"))
    for what, changed in {"another_name": {"name": "$attempt/leases/other"}, "fewer": {"grantedCount": "2"},
                          "more": {"grantedCount": "4"}, "another_event": {"event": EVENTS["gaussian"]},
                          "no_event": {"event": None}, "settled": {"settled": True},
                          "sequence_zero": {"sequence": "0"}, "no_name": {"name": None}}.items():
        to.add("lease.answer.%s" % what, "3 11", "Not a lease of exactly this: spent in full.",
               lease([grants(2, **changed)], UNKNOWN))
    for what, changed in {"another_name": {"name": "budgets/people/sessions/other/attempts/1/leases/l"},
                          "not_settled": {"settled": False}, "another_count": {"usedCount": "2"}}.items():
        to.add("settle.answer.%s" % what, "11", "Not an answer to settling this lease.",
               lease([grants(2)], LEASE), step({"do": "take", "lease": 0}, verdict=PERMIT, elsewhere=True),
               step({"do": "settle", "lease": 0}, [settles("1", **changed)], ERROR))
    for what, reply in {"number_zero": attempt_reply(0, 1), "another_number": attempt_reply(
            2, 1, name="$session/attempts/1"), "another_session": attempt_reply(
                1, 1, name="budgets/people/sessions/other/attempts/1"), "nothing": {}}.items():
        to.add("open.answer.%s" % what, "8", "Not an attempt of this session: no session.",
               step({"do": "open"}, [says("OpenAttempt", reply)], ERROR), opening=False)


def add_heads(to):
    to.add("head.grows", "9", "Each charge sends the newest entry that was seen.",
           *[charge([accepts(n, seen=n - 1)], permit(n)) for n in range(2, 8)])
    to.add("head.jumps", "9", "Others write to the ledger too.", charge([accepts(900)], permit(900)),
           charge([accepts(2000, seen=900)], permit(2000)))
    to.add("head.same_for_all_tries", "2 9", "The tries of one charge send one head.",
           charge([fails("UNAVAILABLE"), fails("UNAVAILABLE"), accepts(9)], permit(9)),
           charge([accepts(10, seen=9)], permit(10)))
    to.add("head.of_a_lease", "9", "A lease is an entry too.", lease([grants(5)], LEASE),
           charge([accepts(6, seen=5)], permit(6)), lease([grants(7, seen=6)], LEASE))
    to.add("head.of_an_attempt", "9", "Opening sends what was seen before.", charge([accepts(5)], permit(5)),
           opened(2, 6, seen=5), charge([accepts(7, seen=6)], permit(7)))
    to.add("head.never_goes_back", "9", "The stored outcome of an older key does not replace a newer head.",
           charge([fails("INTERNAL")], UNKNOWN), charge([accepts(8)], permit(8)),
           step({"do": "retry", "of": 2}, [accepts(4, seen=8)], permit(4)),
           charge([accepts(9, seen=8)], permit(9)))
    to.add("head.without_hash", "9", "What has no hash is no head.", charge([accepts(5, hash=None)], permit(5)),
           charge([accepts(6)], permit(6)))
    to.add("head.short_hash", "9", "A hash has 32 bytes.", charge([accepts(5, hash="AAAA")], permit(5)),
           charge([accepts(6)], permit(6)))
    lost = {"call": "Charge", "fail": {"code": "DATA_LOSS", "message": "the ledger of budgets/people is behind entry 5"}}
    to.add("head.server_is_behind", "5 9", "A server that lost entries says so: nothing is released, and it is named.",
           charge([accepts(5)], permit(5)),
           charge([{**lost, "head": head(5)}], UNKNOWN, code="DATA_LOSS", says=["is behind entry 5"]))
    to.add("head.server_is_behind.open", "9", "The same at opening.", charge([accepts(5)], permit(5)),
           step({"do": "open"}, [{**lost, "call": "OpenAttempt", "head": head(5)}], ERROR, code="DATA_LOSS",
                says=["is behind entry 5"]))
    to.add("head.of_another_incarnation", "6 9", "A copy of the ledger refuses before it writes.",
           charge([fails("FAILED_PRECONDITION", message="the head is of another incarnation")], ERROR,
                  code="FAILED_PRECONDITION", says=["another incarnation"]))
    to.add("head.not_held", "6 9", "A head that the ledger does not hold proves nothing.",
           charge([fails("INVALID_ARGUMENT", message="last_seen_head.tag: wrong")], ERROR, code="INVALID_ARGUMENT"))
    for name, make, do in (("charge", accepts, charge), ("lease", grants, lease)):
        to.add("head.went_back.%s" % name, "5 9", "A new key cannot be an older entry than one that was seen: the ledger "
               "went back, and nothing it says now counts.", charge([accepts(9)], permit(9)),
               do([make(4, seen=9)], UNKNOWN, code="DATA_LOSS", says=["went back", "4", "9"]))
        to.add("head.fork.%s" % name, "5 9", "One sequence number, two entries: a fork, and it is named.",
               charge([accepts(9)], permit(9)),
               do([make(9, seen=9, **entry(9, " of a fork"))], UNKNOWN, code="DATA_LOSS", says=["fork", "9"]))
    to.add("head.fork.retry", "5 9", "Also where an older key is asked for again.", charge([fails("INTERNAL")], UNKNOWN),
           charge([accepts(8)], permit(8)),
           step({"do": "retry", "of": 2}, [accepts(8, seen=8, **entry(8, " of a fork"))], UNKNOWN, code="DATA_LOSS",
                says=["fork"]))
    to.add("head.went_back.open", "8 9", "An attempt is a new entry.", charge([accepts(9)], permit(9)),
           step({"do": "open"}, [says("OpenAttempt", attempt_reply(2, 3), head=head(9))], ERROR, code="DATA_LOSS",
                says=["went back"]))
    to.add("head.fork.open", "8 9", "The same number, another entry.", charge([accepts(9)], permit(9)),
           step({"do": "open"}, [says("OpenAttempt", attempt_reply(2, 9, of=" of a fork"), head=head(9))], ERROR,
                code="DATA_LOSS", says=["fork"]))


def add_permits(to):
    use = {"do": "use", "permit": 0}
    to.add("permit.once", "10", "One use, and never another.", charge([accepts(2)], permit(2)), step(use),
           step(use, verdict=SPENT), step(use, verdict=SPENT))
    to.add("permit.of_three", "10", "A charge of three uses has three.",
           charge([accepts(2)], permit(2, "3"), count="3"), step(use), step(use), step(use), step(use, verdict=SPENT))
    to.add("permit.each_its_own", "1 10", "Two charges, two keys, two permits.", charge([accepts(2)], permit(2)),
           charge([accepts(3, seen=2)], permit(3)), step({"do": "use", "permit": 1}),
           step({"do": "use", "permit": 1}, verdict=SPENT), step(use), step(use, verdict=SPENT))
    to.add("permit.after_fencing", "8 10", "What was charged may be released, also by an attempt that is fenced now.",
           charge([accepts(2)], permit(2)), charge([refuses("ATTEMPT_FENCED")], {"is": "refused"}), step(use),
           step(use, verdict=SPENT))
    to.add("permit.largest_count", "10", "2^53 uses.",
           charge([accepts(2)], permit(2, "9007199254740992"), count="9007199254740992"), step(use))
    for count in ("0", "-1", "9007199254740993", "9223372036854775807"):
        to.add("count.%s" % count, "6 14", "Outside [1, 2^53]: not sent.",
               charge([], ERROR, count=count, code="INVALID_ARGUMENT", says=["count", count]))
        to.add("lease.count.%s" % count, "6 14", "The same for a lease.",
               lease([], ERROR, count=count, code="INVALID_ARGUMENT", says=["count", count]))
    to.add("event.empty", "6 14", "No event: not sent.", charge([], ERROR, event={}, code="INVALID_ARGUMENT"))
    to.add("retry.never_charged", "1", "Only an unknown charge is asked for again.",
           step({"do": "retry", "charge_id": "step-77"}, verdict=ERROR))
    to.add("retry.refused_later", "5 7", "An unknown charge that turns out refused is known.",
           charge([fails("INTERNAL")], UNKNOWN),
           step({"do": "retry", "of": 2}, [refuses("BUDGET_FROZEN")], {"is": "refused", "reason": "BUDGET_FROZEN"}),
           step({"do": "unknown"}, verdict=OK, ids_of=[]))
    to.add("retry.two_unknown", "1 5", "Each keeps its own key; a new charge has a third.",
           charge([fails("INTERNAL")], UNKNOWN), charge([fails("DATA_LOSS")], UNKNOWN, event=EVENTS["gaussian"]),
           step({"do": "unknown"}, verdict=OK, ids_of=[2, 3]), charge([accepts(7)], permit(7)),
           step({"do": "retry", "of": 3}, [accepts(3, seen=7)], permit(3)),
           step({"do": "unknown"}, verdict=OK, ids_of=[2]))
    take, settle = {"do": "take", "lease": 0}, {"do": "settle", "lease": 0}
    taken = step(take, verdict=permit(2), elsewhere=True)
    to.add("lease.all_steps", "11", "Three steps, and never a fourth.", lease([grants(2)], LEASE), taken, taken, taken,
           step(take, verdict=SPENT), step(settle, [settles("3")]), step(take, verdict=SPENT))
    to.add("lease.each_step_once", "10 11", "A step is a permit with one use.", lease([grants(2)], LEASE), taken,
           step(use), step(use, verdict=SPENT), taken, step({"do": "use", "permit": 1}))
    to.add("lease.settled", "11", "Settling says what was used; nothing comes back and nothing more is given.",
           lease([grants(2)], LEASE), taken, taken, step(settle, [settles("2")]), step(take, verdict=SPENT),
           step(settle))
    to.add("lease.unused", "11", "Nothing was used.", lease([grants(2)], LEASE), step(settle, [settles("0")]))
    to.add("lease.expired", "11", "No lease ends by itself: it was charged in full, whatever the clock says.",
           lease([grants(2, expireTime="1971-01-01T00:00:00Z")], LEASE), taken)
    to.add("lease.fenced", "8 11", "A fenced attempt may settle its leases.", lease([grants(2)], LEASE), taken,
           charge([refuses("ATTEMPT_FENCED")], {"is": "refused"}), step(settle, [settles("1")]))


def add_connections(to):
    cut, silent = {"call": "Charge", "fault": "cut"}, {"call": "Charge", "fault": "silent"}
    to.add("cut.charge", "2 4", "The reply is lost after the commit: the same key gets the stored outcome.",
           charge([cut, accepts(2)], permit(2)), retry={"maxTries": 0})
    to.add("cut.charge.twice", "2 4", "Lost twice.", charge([cut, cut, accepts(2)], permit(2)), retry={"maxTries": 0})
    to.add("cut.charge.refused", "4 7", "Lost, and then refused.",
           charge([cut, refuses("CLOSED")], {"is": "refused", "reason": "CLOSED"}), retry={"maxTries": 0})
    to.add("cut.charge.denied", "5", "Lost, and then no decision: spent.",
           charge([cut, fails("PERMISSION_DENIED")], UNKNOWN), retry={"maxTries": 0})
    to.add("cut.charge.one_try", "5", "Lost, with one try: spent.", charge([cut], UNKNOWN), retry={"maxTries": 1})
    to.add("cut.lease", "2 4", "A lease whose reply is lost.",
           lease([{**cut, "call": "AcquireLease"}, grants(2)], LEASE), retry={"maxTries": 0})
    to.add("cut.open", "4 8", "An attempt whose reply is lost: one more is opened.",
           step({"do": "open"}, [{"call": "OpenAttempt", "fault": "cut"}, says("OpenAttempt", attempt_reply(2, 2))]),
           charge([accepts(3, seen=2)], permit(3)), opening=False, retry={"maxTries": 0})
    to.add("cut.settle", "4 11", "A settlement whose reply is lost.", lease([grants(2)], LEASE),
           step({"do": "settle", "lease": 0}, [{"call": "SettleLease", "fault": "cut"}, settles("0")]),
           retry={"maxTries": 0})
    to.add("deadline.then_accepted", "4 12", "A try ends at its deadline; the next one is the same.",
           charge([silent, accepts(2)], permit(2)), retry={"callTimeoutMs": 2000})
    to.add("deadline.to_the_end", "5 12", "No answer to any try: spent.", charge([silent] * TRIES, UNKNOWN),
           retry={"callTimeoutMs": 2000})
    to.add("deadline.of_all", "5 12", "All tries together end too.",
           charge([silent, {**silent, "times": "any"}], UNKNOWN),
           retry={"callTimeoutMs": 2000, "overallTimeoutMs": 5000, "maxTries": 0})
    to.add("deadline.lease", "12", "A lease that is not answered is spent in full.",
           lease([{**silent, "call": "AcquireLease"}] * TRIES, UNKNOWN), retry={"callTimeoutMs": 2000})
    to.add("deadline.open", "12", "No attempt: no session.",
           step({"do": "open"}, [{"call": "OpenAttempt", "fault": "silent"}] * TRIES, ERROR),
           opening=False, retry={"callTimeoutMs": 2000})

    def wait(text):
        return [{"type": "google.rpc.RetryInfo", "value": {"retryDelay": text}}]

    to.add("retry_info.longer_than_all", "5 12", "The server asks to wait longer than there is time: not asked again.",
           charge([fails("UNAVAILABLE", details=wait("3000s"))], UNKNOWN))
    to.add("retry_info.short", "4 12", "Waited for, and asked again.",
           charge([fails("UNAVAILABLE", details=wait("0.010s")), accepts(2)], permit(2)))
    to.add("retry_info.absurd", "4 12", "More than an hour is not believed.",
           charge([fails("UNAVAILABLE", details=wait("4000s")), accepts(2)], permit(2)))
    to.add("retry_info.negative", "4 12", "Nor a time before now.",
           charge([fails("UNAVAILABLE", details=wait("-5s")), accepts(2)], permit(2)))

    invalid = {"is": "error", "code": "INVALID_ARGUMENT"}
    for address in ("10.0.0.1:1", "192.168.1.1:50551", "example.com:443", "127.0.0.1.example.com:1",
                    "localhost.example.com:1", "[2001:db8::1]:1", "128.0.0.1:1"):
        to.add("plaintext.%s" % address, "13", "Anybody on the way could turn a refusal into a permit.",
               opening=False, connect={"address": address}, connected={**invalid, "says": [address]})
    for address in ("127.0.0.1:1", "127.9.8.7:1", "localhost:1", "[::1]:1", "unix:/nowhere/epsledger.sock"):
        to.add("plaintext.%s" % address, "13", "Nobody is on the way.", opening=False, connect={"address": address})
    secret = "epsl_0123456789abcdefghijklmnopqrstuv"
    to.add("token.in_plaintext", "13", "A token is not sent where others read it, whatever is allowed, and not shown.",
           opening=False, connect={"address": "example.com:443", "token": secret, "allowInsecure": True},
           connected={**invalid, "says": ["token"], "never_says": [secret]})
    to.add("token.with_white_space", "13 14", "A token is one word, and an error never repeats it.", opening=False,
           connect={"token": secret + "\n"}, connected={**invalid, "says": ["token"], "never_says": [secret]})
    to.add("plaintext.allowed", "13", "The user says that nobody is on the way.", opening=False,
           connect={"address": "10.0.0.1:1", "allowInsecure": True})


def exchanges():
    to = Set()
    for add in (add_charging_codes, add_other_codes, add_refusals, add_answers, add_heads, add_permits, add_connections):
        add(to)
    names = [one["name"] for one in to.exchanges]
    assert len(names) == len(set(names)), "a name stands twice"
    return to.exchanges


def main():
    path = pathlib.Path(__file__).with_name("exchanges.jsonl")
    text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in exchanges())
    if sys.argv[1:] != ["--check"]:
        path.write_text(text, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != text:
        sys.exit("exchanges.jsonl is not what write_exchanges.py writes: run it")


if __name__ == "__main__":
    main()
