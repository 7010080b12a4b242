"""The gRPC transport behaves as HTTP does. Skipped where grpcio or protobuf is not installed; installed_test runs it
again with what is current."""
import asyncio
import importlib
import itertools
import os
import sys
import tempfile
import threading
import unittest
from unittest import mock

import epsledger
import epsledger.aio
from epsledger import grpc_transport
from epsledger.event_json import is_same_event
from epsledger.events import Gaussian
from black_hole import BlackHole
from certificates import make_certificates
from killable_ledger import BUILD, wait_until
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase
from process_test import in_forked_child
from served_ledger import ServedLedger
from unreachable_test import session_of
from valid_events import VALID_EVENTS


def installed(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


MISSING = [name for name in ("grpc", "google.protobuf") if not installed(name)]


@unittest.skipIf(MISSING, "not installed: " + ", ".join(MISSING))
class Grpc(LedgerCase):
    def setUp(self):
        super().setUp()
        self.grpc_client = epsledger.connect(transport="grpc", address=self.server.grpc)
        self.addCleanup(self.grpc_client.close)

    def session(self, **options):
        return self.new_session(client=self.grpc_client, **options)

    def test_the_step_that_does_not_fit_is_refused_with_its_numbers(self):
        session = self.session()
        self.assertEqual(list(session.guard(range(9), STEP)), list(range(STEPS_THAT_FIT)))
        with self.assertRaises(epsledger.BudgetExhausted) as by_http:
            self.new_session(budget=session.name.split("/")[1]).step(STEP)
        ours, theirs = session.exhausted.refusal, by_http.exception.refusal
        self.assertEqual((ours.reason, ours.limiting_resource, ours.quantity, ours.cap, ours.spent, ours.requested),
                         (theirs.reason, theirs.limiting_resource, theirs.quantity, theirs.cap, theirs.spent,
                          theirs.requested))
        self.assertEqual(self.accepted_uses(session), STEPS_THAT_FIT)

    def test_leases_previews_and_readings_are_those_of_http(self):
        session = self.session()
        with session.lease(STEP, count=2) as lease:
            with lease.step():
                pass
        by_http = self.new_session(budget=session.name.split("/")[1])
        self.assertEqual(session.preview(STEP), by_http.preview(STEP))
        self.assertEqual(session.guarantees().readings, by_http.guarantees().readings)
        statements = session.statement(), by_http.statement()
        self.assertEqual(statements[0].public_key, statements[1].public_key)

    def test_a_batch_is_charged_in_full_or_not_at_all(self):
        session = self.session()
        session.charge_all([(STEP, 1), (STEP, 2)])
        with self.assertRaises(epsledger.BudgetExhausted):
            session.charge_all([(STEP, 1), (STEP, 1)])
        self.assertEqual(self.accepted_uses(session), 3)
        one, other = session.charge_each([(STEP, 2), (STEP, 1)])
        self.assertEqual((one.reason, other.count), ("BUDGET_EXHAUSTED", 1))
        self.assertEqual(self.accepted_uses(session), 4)

    def test_changes_are_told_as_over_http(self):
        session = self.session()
        permits = [session.step(STEP).charge for _ in range(3)]
        for name in (session.name, session.name.split("/")[1]):
            ours, theirs = (list(itertools.takewhile(lambda change: change.name != permits[-1], client.watch(name)))
                            for client in (self.grpc_client, self.client))
            self.assertEqual(*([(change.sequence, change.time, change.kind, change.name, change.message.get("decision"))
                                for change in changes] for changes in (ours, theirs)))
            self.assertEqual([change.name for change in ours if change.kind == "charge"], permits[:-1])
        with self.assertRaises(epsledger.NotFound):
            next(self.grpc_client.watch("nowhere"))

        async def watch():
            async with epsledger.aio.connect(transport="grpc", address=self.server.grpc) as client:
                async with client.watch(session.name) as changes:
                    told = [(await changes.__anext__()).kind for _ in range(5)]
                    # Nothing more happens: this wait is cancelled, and its thread ends though the client is open.
                    with self.assertRaises(asyncio.TimeoutError):
                        await asyncio.wait_for(changes.__anext__(), 0.05)
                for thread in threading.enumerate():
                    if thread.name == "epsledger-watch":
                        thread.join(120)
                        self.assertFalse(thread.is_alive())
                return told

        self.assertEqual(asyncio.run(watch()), ["session", "attempt"] + ["charge"] * 3)

    def test_every_event_is_accepted_as_the_one_that_was_asked_for(self):
        session = self.session(budget=self.new_budget(cap=epsledger.Cap.no_guarantee()))
        for event in VALID_EVENTS:
            session.charge(event)
        self.assertEqual(self.accepted_uses(session), len(VALID_EVENTS))

    def test_a_session_says_what_it_expects(self):
        budget = self.new_budget(cap=epsledger.Cap.approximate_dp(epsilon=10, delta=1e-5))
        self.assertIsNone(self.grpc_client.budget(budget).cap.reference)
        self.session(budget=budget, expects=STEP)
        found = self.grpc_client.budget(budget)
        self.assertTrue(is_same_event(STEP.to_json(), found.cap.reference))
        self.assertEqual([cell.quantity for cell in found.cells][:2], ["UNITS", "RESERVE"])

    def test_noise_is_calibrated_as_over_http(self):
        budget = self.new_budget()
        event = lambda noise: Gaussian(noise_multiplier=noise)
        ours, theirs = (client.calibrate(budget=budget, event=event, count=STEPS_THAT_FIT)
                        for client in (self.grpc_client, self.client))
        self.assertEqual(ours, theirs)
        self.assertEqual(self.session(budget=budget).calibrate(event=event, count=STEPS_THAT_FIT), ours)

    def test_errors_are_those_of_http(self):
        for client in (self.client, self.grpc_client):
            session = self.new_session(client=client)
            for call, kind, message in (
                    (lambda: session.step({"gaussian": {"noiseMultiplier": -1}}), epsledger.InvalidArgument,
                     r"event.gaussian.noiseMultiplier: got -1, want in \[0, inf\)"),
                    (lambda: session.step({"gaussian": {"noiseMultiplier": float("nan")}}), epsledger.InvalidArgument,
                     "event.gaussian.noiseMultiplier: got NaN"),
                    (lambda: session.step({"gaussain": {}}), epsledger.InvalidArgument, "gaussain"),
                    (lambda: client.budget("nowhere"), epsledger.NotFound, "budgets/nowhere"),
                    (lambda: client.call("ServerService/Nothing", {}), epsledger.CallFailed, "UNIMPLEMENTED"),
                    (lambda: client.call("Nothing/Nothing", {}), epsledger.CallFailed, "UNIMPLEMENTED")):
                with self.subTest(message, address=client.address), self.assertRaisesRegex(kind, message):
                    call()
            self.assertEqual(session.unknown_charges, ())

    def test_a_server_that_is_killed_in_mid_run_loses_nothing_and_counts_nothing_twice(self):
        session, permits = self.session(budget=self.new_budget(cap=epsledger.Cap.zcdp(rho=1000))), []

        def train():
            for _ in range(200):
                permits.append(session.step(STEP).charge)

        trainer = threading.Thread(target=train)
        trainer.start()
        wait_until(lambda: len(permits) >= 50, "steps")
        self.server.kill()
        self.server.start_again()
        trainer.join(120)
        self.assertEqual((len(set(permits)), self.accepted_uses(session)), (200, 200))

    def test_a_server_that_no_call_reaches_has_charged_nothing(self):
        retry = epsledger.Retry(call_timeout=0.3, overall_timeout=600, first_contact_timeout=1)
        with BlackHole() as hole:
            for address in (hole.address, "127.0.0.1:1"):
                with epsledger.connect(transport="grpc", address=address, retry=retry) as client, \
                        self.subTest(address):
                    session = session_of(client)
                    for call in (lambda: session.charge(STEP), lambda: session.lease(STEP, count=2), client.budgets):
                        with self.assertRaisesRegex(epsledger.Unavailable, "UNAVAILABLE: "):
                            call()
                    self.assertEqual(session.unknown_charges, ())

    def test_no_connection_is_waited_for_as_long_as_a_first_contact(self):
        retry = epsledger.Retry(call_timeout=600, overall_timeout=600, first_contact_timeout=0.5)
        with mock.patch.object(grpc_transport, "_MOST_CONNECT_SECONDS", 0.2), BlackHole() as hole, \
                epsledger.connect(transport="grpc", address=hole.address, retry=retry) as client, \
                self.assertRaisesRegex(epsledger.Unavailable, "no answer in [0-9.e-]+ s"):
            client.budgets()

    def test_a_charge_in_an_outage_is_unknown_once_and_never_sent_afterwards(self):
        session = self.session()
        session.step(STEP)
        self.grpc_client._connection.retry = epsledger.Retry(max_tries=1)
        self.server.kill()
        try:
            # gRPC does not say whether what failed on an open connection was sent.
            with self.assertRaises(epsledger.OutcomeUnknown):
                session.step(STEP)
            self.assertEqual(session.unknown_charges, ("step-2",))
            with self.assertRaises(epsledger.Unavailable):
                session.step(STEP)
            self.assertEqual(session.unknown_charges, ("step-2",))
        finally:
            self.server.start_again()
        wait_until(lambda: self.charged(session, "step-2"), "the server")
        self.assertEqual((session.unknown_charges, self.accepted_uses(session)), ((), 2))

    def charged(self, session, charge_id):
        try:
            return session.retry_charge(charge_id)
        except epsledger.OutcomeUnknown:
            return None

    def test_a_forked_child_is_told_at_once(self):
        session = self.session()
        name = session.name.split("/")[1]
        self.assertRegex(in_forked_child(lambda: session.step(STEP)), "^raised WrongProcess: this session belongs")
        self.assertRegex(in_forked_child(lambda: self.grpc_client.budget(name)), "^raised WrongProcess: .*spawn")
        self.assertEqual(self.grpc_client.budget(name).accepted_charge_count, 0)

    def test_addresses_and_tls_are_checked(self):
        for address in ("http://127.0.0.1:1", "127.0.0.1", "unix:"):
            with self.assertRaisesRegex(ValueError, "address: got"):
                epsledger.connect(transport="grpc", address=address)
        with self.assertRaisesRegex(ValueError, "want a loopback address where there is no TLS: use TLS"):
            epsledger.connect(transport="grpc", address="ledger.example:1")
        with self.assertRaisesRegex(ValueError, "token: would be sent in plaintext"):
            epsledger.connect(transport="grpc", address="ledger.example:1", allow_insecure=True, token="epsl_secret")
        epsledger.connect(transport="grpc", address="ledger.example:1", tls=True, token="epsl_secret").close()

    def test_a_client_is_known_by_its_certificate(self):
        with tempfile.TemporaryDirectory() as folder:
            ca, server_files, client_files = make_certificates(folder)
            with ServedLedger(BUILD, ["--tls-cert", server_files[0], "--tls-key", server_files[1], "--tls-client-ca",
                                      ca]) as server:
                files = {"tls_ca": ca, "tls_cert": client_files[0], "tls_key": client_files[1]}
                with mock.patch.dict(os.environ, {"EPSLEDGER_SERVER": server.grpc}), \
                        epsledger.connect(transport="grpc", **files) as client:
                    client.call("ServerService/GetServerInfo", {})
                with epsledger.connect(transport="grpc", address=server.grpc, tls_ca=ca,
                                       retry=epsledger.Retry(max_tries=1)) as client, \
                        self.assertRaises(epsledger.CallFailed):
                    client.call("ServerService/GetServerInfo", {})


class Absent(unittest.TestCase):
    def test_what_is_missing_is_named(self):
        with mock.patch.dict(sys.modules, {"grpc": None}), \
                self.assertRaisesRegex(ValueError, r"transport: got 'grpc', want .*epsledger\[grpc\]"):
            epsledger.connect(transport="grpc")


if __name__ == "__main__":
    unittest.main()
