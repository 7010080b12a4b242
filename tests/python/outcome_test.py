"""Outcomes that get lost: a charge is asked for again with its key until it is definite, counted once, and never run
for less than an acceptance of that very key."""
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import unittest
from unittest import mock

import epsledger
from interposer import Interposer
from killable_ledger import wait_until
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

WIDE = epsledger.Cap.zcdp(rho=1000)


class LostAnswers(LedgerCase):
    def setUp(self):
        super().setUp()
        self.between = Interposer(self.server.http)
        self.between.__enter__()
        self.addCleanup(self.between.__exit__)

    def interposed_session(self, max_tries=0, **options):
        client = epsledger.connect(address=self.between.address,
                                   retry=epsledger.Retry(initial_backoff=0, max_backoff=0.01, max_tries=max_tries))
        self.addCleanup(client.close)
        return self.new_session(client=client, **options)

    def test_a_charge_whose_answer_is_lost_is_asked_for_again_and_counted_once(self):
        session = self.interposed_session()
        self.between.faults = ["lose answer", "lose request", "lose answer"]
        with session.step(STEP):
            pass
        self.assertEqual([request["chargeId"] for request in self.between.seen], ["step-1"] * 4)
        self.assertEqual(self.charges(session), [("attempts/1/charges/step-1", 1, "ACCEPTED")])
        self.assertEqual(session.unknown_charges, ())

    def test_a_refusal_whose_answer_is_lost_stays_one(self):
        session = self.interposed_session()
        self.between.faults = ["lose answer"]
        with self.assertRaises(epsledger.BudgetExhausted):
            session.charge(STEP, count=STEPS_THAT_FIT + 1)
        self.assertEqual([decision for _, _, decision in self.charges(session)], ["REFUSED"])

    def test_an_unknown_outcome_counts_as_spent_runs_nothing_and_can_be_asked_for_again_once(self):
        session = self.interposed_session(max_tries=2)
        self.between.faults = ["lose answer"] * 2
        with self.assertRaises(epsledger.OutcomeUnknown) as unknown:
            with session.step(STEP):
                self.fail("the block of an unknown charge")
        self.assertEqual((unknown.exception.charge_id, unknown.exception.code), ("step-1", "UNAVAILABLE"))
        self.assertRegex(str(unknown.exception), r"counts as spent \(2 tries in .*retry_charge\('step-1'\)")
        self.assertEqual(session.unknown_charges, ("step-1",))
        self.assertIn("1 of unknown outcome", repr(session))
        session.step(STEP)
        self.assertEqual(self.accepted_uses(session), 2)
        with session.retry_charge("step-1") as permit:
            self.assertEqual(permit.charge, session.attempt + "/charges/step-1")
        self.assertEqual(session.unknown_charges, ())
        self.assertEqual(self.accepted_uses(session), 2)
        with self.assertRaises(epsledger.InvalidArgument):
            session.retry_charge("step-1")

    def test_asking_again_in_vain_keeps_it_unknown(self):
        session = self.interposed_session(max_tries=1)
        self.between.faults = ["lose answer", "lose answer",
                               lambda status, answer: (403, b'{"code": "permission_denied", "message": "a test"}')]
        with self.assertRaises(epsledger.OutcomeUnknown):
            session.step(STEP)
        for code in ("UNAVAILABLE", "PERMISSION_DENIED"):
            with self.assertRaises(epsledger.OutcomeUnknown) as unknown:
                session.retry_charge("step-1")
            self.assertEqual(unknown.exception.code, code)
            self.assertEqual(session.unknown_charges, ("step-1",))

    def test_an_error_after_a_lost_answer_does_not_make_it_known(self):
        session = self.interposed_session()
        self.between.faults = ["lose answer",
                               lambda status, answer: (403, b'{"code": "permission_denied", "message": "a test"}')]
        with self.assertRaises(epsledger.OutcomeUnknown) as unknown:
            session.step(STEP)
        self.assertEqual(unknown.exception.code, "PERMISSION_DENIED")

    def test_an_answer_to_something_else_is_no_permit(self):
        def changed(**fields):
            return lambda status, answer: (status, json.dumps(dict(answer, **fields)).encode())

        def refused_of_another(status, answer):
            charge = dict(answer, decision="REFUSED", name=answer["name"] + "0", refusal={"reason": "BUDGET_EXHAUSTED"})
            return 400, json.dumps({"code": "failed_precondition", "message": "", "details": [
                {"type": "epsledger.v1.Charge", "value": "", "debug": charge}]}).encode()

        for fault, message in (
                (changed(name="budgets/b/sessions/s/attempts/1/charges/step-9"), "name: got"),
                (changed(decision="REFUSED"), "decision: got 'REFUSED'"),
                (changed(decision="DECISION_UNSPECIFIED"), "decision: got"),
                (changed(count="2"), "count: got '2', want '1'"),
                (changed(event={"gaussian": {"noiseMultiplier": 1}}), "event: got"),
                (changed(event={"laplace": {"noiseMultiplier": 2}}), "event: got"),
                (changed(event={}), "event: got"),
                (changed(sequence="0"), "sequence: got '0', want 1 or more"),
                (changed(sequence="x"), "sequence: got 'x', want 1 or more"),
                (changed(sequence="1" * 20), "sequence: got '1+', want 1 or more"),
                (changed(sequence=None), "sequence: got None, want 1 or more"),
                (refused_of_another, "refused charge: got"),
                (lambda status, answer: (200, b"{}"), "name: got None"),
                (lambda status, answer: (200, b"[1]"), "no JSON object"),
                (lambda status, answer: (200, b"<html>"), "no JSON object"),
                (lambda status, answer: (200, b"[" * 100_000), "no JSON object"),
                (lambda status, answer: (403, b"[" * 100_000), "HTTP status 403"),
                (lambda status, answer: (500, b"<html>"), "HTTP status 500")):
            session = self.interposed_session(max_tries=1, budget=self.new_budget())
            self.between.faults = [fault]
            with self.subTest(message=message), self.assertRaisesRegex(epsledger.OutcomeUnknown, message):
                session.step(STEP)
            self.assertEqual(session.unknown_charges, ("step-1",))

    def test_an_answer_that_comes_too_late_is_not_taken_for_the_next(self):
        go_on = threading.Event()
        self.addCleanup(go_on.set)

        def late(status, answer):
            go_on.wait(60)
            return status, json.dumps(answer).encode()

        client = epsledger.connect(address=self.between.address, retry=epsledger.Retry(call_timeout=0.5))
        self.addCleanup(client.close)
        session = self.new_session(client=client)
        self.between.faults = [late]
        first = session.step(STEP)
        go_on.set()
        second = session.step(STEP)
        self.assertEqual([permit.charge for permit in (first, second)],
                         ["%s/charges/step-%d" % (session.attempt, number) for number in (1, 2)])
        self.assertEqual(self.accepted_uses(session), 2)

    def test_an_interrupted_charge_is_of_unknown_outcome(self):
        session = self.new_session()
        with mock.patch.object(self.client._connection.transport, "call", side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt):
            session.step(STEP)
        self.assertEqual(session.unknown_charges, ("step-1",))
        session.retry_charge("step-1")
        self.assertEqual((session.unknown_charges, self.accepted_uses(session)), ((), 1))

    def test_a_proxy_in_trouble_is_asked_again(self):
        session = self.interposed_session()
        self.between.faults = [lambda status, answer: (502, b"<html>bad gateway"),
                               lambda status, answer: (503, b'{"code": "unavailable"}')]
        session.step(STEP)
        self.assertEqual((len(self.between.seen), self.accepted_uses(session)), (3, 1))

    def test_what_something_in_between_answers_does_not_say_what_the_server_did(self):
        html = b"<html>who are you?"
        for status, code in ((401, "UNAUTHENTICATED"), (403, "PERMISSION_DENIED"), (404, "UNIMPLEMENTED")):
            session = self.interposed_session(budget=self.new_budget())
            self.between.faults = [lambda _, answer: (status, html)]
            with self.subTest(status=status), self.assertRaisesRegex(
                    epsledger.OutcomeUnknown, "charge step-1: .*%s: .*HTTP status %d" % (code, status)) as unknown:
                session.step(STEP)
            self.assertEqual((unknown.exception.charge_id, unknown.exception.code), ("step-1", code))
            self.assertEqual(session.unknown_charges, ("step-1",))
            self.assertEqual(self.accepted_uses(session), 1)  # the server did commit
            session.retry_charge("step-1")
            self.assertEqual((session.unknown_charges, self.accepted_uses(session)), ((), 1))
        # The same answer of the server itself is definite.
        session = self.interposed_session()
        self.between.faults = [lambda status, answer: (403, b'{"code": "permission_denied", "message": "a test"}')]
        with self.assertRaises(epsledger.PermissionDenied):
            session.step(STEP)
        self.assertEqual(session.unknown_charges, ())

    def test_something_in_between_that_refuses_a_reading_is_named(self):
        self.between.method = "SessionService/GetSessionGuarantees"
        session = self.interposed_session()
        self.between.faults = [lambda status, answer: (403, b"<html>")]
        with self.assertRaisesRegex(epsledger.PermissionDenied, "HTTP status 403 and no Connect error"):
            session.spent()

    def test_a_lease_whose_answer_is_lost_is_acquired_once(self):
        self.between.method = "ChargeService/AcquireLease"
        session = self.interposed_session(max_tries=2)
        self.between.faults = ["lose answer"]
        lease = session.lease(STEP, count=2)
        self.assertEqual((lease.granted_count, self.accepted_uses(session)), (2, 2))
        self.between.faults = ["lose answer"] * 2
        with self.assertRaises(epsledger.OutcomeUnknown) as unknown:
            session.lease(STEP, count=1)
        self.assertEqual(unknown.exception.charge_id, "lease-2")
        self.assertEqual(self.accepted_uses(session), 3)
        for fields in ({"grantedCount": "9"}, {"settled": True}, {"event": {}}, {"name": "x"}, {"sequence": "0"}):
            session = self.interposed_session(max_tries=1, budget=self.new_budget())
            self.between.faults = [lambda status, answer: (status, json.dumps(dict(answer, **fields)).encode())]
            with self.subTest(fields=fields), self.assertRaises(epsledger.OutcomeUnknown):
                session.lease(STEP, count=1)

    def test_settling_is_asked_again_and_may_be_tried_later(self):
        self.between.method = "ChargeService/SettleLease"
        lease = self.interposed_session(max_tries=2).lease(STEP, count=2)
        lease.step()
        self.between.faults = ["lose answer", "lose request"]
        with self.assertRaises(epsledger.Unavailable):
            lease.settle()
        with self.assertRaises(epsledger.Ended):
            lease.step()
        lease.settle()
        self.assertEqual([request["usedCount"] for request in self.between.seen], ["1"] * 3)


class Killed(LedgerCase):
    def test_a_server_that_is_killed_in_mid_run_loses_nothing_and_counts_nothing_twice(self):
        steps, killed_after = 400, 40
        session = self.new_session(budget=self.new_budget(cap=WIDE))
        permits = []

        def train():
            for _ in range(steps):
                with session.step(STEP) as permit:
                    permits.append(permit.charge)

        trainer = threading.Thread(target=train)
        trainer.start()
        for round_number in (1, 2):
            wait_until(lambda: len(permits) >= round_number * killed_after, "steps")
            self.server.kill()
            self.server.start_again()
        trainer.join(120)
        self.assertFalse(trainer.is_alive())
        self.assertEqual(session.unknown_charges, ())
        self.assertEqual(permits, ["%s/charges/step-%d" % (session.attempt, number) for number in range(1, steps + 1)])
        self.assertEqual(self.charges(session), [
            ("attempts/1/charges/step-%d" % number, 1, "ACCEPTED") for number in range(1, steps + 1)])

    def test_a_trainer_that_is_killed_goes_on_as_a_new_attempt_and_is_charged_again(self):
        budget = self.new_budget(cap=WIDE)
        code = ("import sys, epsledger\n"
                "from ledger_case import STEP\n"
                "session = epsledger.connect(address=sys.argv[1]).open(session='run', budget=sys.argv[2])\n"
                "while True:\n"
                "    with session.step(STEP) as permit:\n"
                "        print(permit.charge, flush=True)\n")
        with subprocess.Popen([sys.executable, "-B", "-c", code, self.server.address, budget],
                              stdout=subprocess.PIPE, text=True) as trainer:
            ran = [trainer.stdout.readline().strip() for _ in range(30)]
            os.kill(trainer.pid, signal.SIGKILL)
            ran += trainer.stdout.read().split()
        resumed = self.new_session(budget=budget)
        self.assertEqual(resumed.attempt, resumed.name + "/attempts/2")
        with resumed.step(STEP) as permit:
            ran.append(permit.charge)
        charged = [resumed.name + "/" + name for name, _, decision in self.charges(resumed) if decision == "ACCEPTED"]
        self.assertEqual(len(charged), len(set(charged)))
        self.assertLessEqual(set(ran), set(charged))  # what ran was charged
        self.assertLessEqual(len(charged), len(ran) + 1)  # and at most the step in hand was charged in vain
        self.assertEqual(charged[-1], resumed.attempt + "/charges/step-1")

    def test_a_server_restored_from_an_old_copy_is_caught(self):
        session = self.new_session(budget=self.new_budget(cap=WIDE))
        session.step(STEP)
        data = self.server.data_dir
        self.server.kill()
        shutil.copytree(data, data + ".copy")
        self.server.start_again()
        for _ in range(3):
            session.step(STEP)
        self.server.kill()
        shutil.rmtree(data)
        shutil.move(data + ".copy", data)
        self.server.start_again()
        with self.assertRaises(epsledger.OutcomeUnknown) as unknown:
            session.step(STEP)
        self.assertEqual(unknown.exception.code, "DATA_LOSS")
        with self.assertRaises(epsledger.LedgerBehind):
            self.new_session(budget=session.name.split("/")[1])

    def test_a_server_that_is_away_is_waited_for_and_then_said_to_be(self):
        client = self.connect(retry=epsledger.Retry(max_tries=3, initial_backoff=0, max_backoff=0))
        session = self.new_session(client=client)
        self.server.kill()
        try:
            with self.assertRaisesRegex(epsledger.Unavailable, "after 3 tries .*EPSLEDGER_HTTP"), \
                    self.assertLogs("epsledger", "WARNING"):
                session.spent()
            # No try found a connection: the charge was never sent, and nothing is unknown.
            with self.assertRaises(epsledger.Unavailable), self.assertLogs("epsledger", "WARNING"):
                session.step(STEP)
            self.assertEqual(session.unknown_charges, ())
        finally:
            self.server.start_again()
        session.step(STEP)
        self.assertEqual(self.accepted_uses(session), 1)


if __name__ == "__main__":
    unittest.main()
