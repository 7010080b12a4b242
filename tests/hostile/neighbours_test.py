"""Neighbours with a token at the port of gRPC: neighbours_test.py BUILD_DIR

A tenant that asks for more than it takes holds a bounded amount of memory, and another tenant is served meanwhile."""
import os
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "client", "python"), os.path.join(HERE, "..", "end_to_end")]

from raw_http2 import DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, RawConnection, call_headers, frame, message  # noqa: E402
from strangers_test import TokenLedger, resident_bytes  # noqa: E402

import epsledger  # noqa: E402
from epsledger.budget import Cap  # noqa: E402
from epsledger.errors import EpsledgerError, Refused  # noqa: E402
from epsledger.events import Composed, CountedEvent, Gaussian, RandomAllocation  # noqa: E402

LIST_BUDGETS = b"/epsledger.v1.BudgetService/ListBudgets"
WATCH_BUDGET = b"/epsledger.v1.BudgetService/WatchBudget"
STREAM_CHARGES = b"/epsledger.v1.ChargeService/StreamCharges"
NO_WINDOW = b"\0\4\0\0\0\0"  # SETTINGS_INITIAL_WINDOW_SIZE of nothing
PAGE_OF_1000 = b"\x08\xe8\x07"
BUDGETS = 200
CONNECTIONS = 4
# 32 MiB a connection (wire/limits.h), and what a connection costs.
MAX_GROWTH_BYTES = (CONNECTIONS * 32 + 16) << 20


class TwoTenants(TokenLedger):
    """And the token of somebody who may only read in another tenant, and of its admin."""

    def _prepare(self, data_dir):
        super()._prepare(data_dir)
        self.hog_tokens = {
            role: subprocess.run([self.epsledgerd, "token", "create", "--data-dir", data_dir, "--tenant", "hog", "--role",
                                  role, "--days", "1"], check=True, capture_output=True, text=True).stdout.strip()
            for role in ("admin", "viewer")}


class NeighboursTest(unittest.TestCase):
    build = None

    def setUp(self):
        self.server = TwoTenants(self.build)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.authorization = ((b"authorization", b"Bearer " + self.server.token.encode()),)
        self.client = epsledger.connect(address=self.server.grpc, transport="grpc", token=self.server.token)
        self.addCleanup(self.client.close)
        self.client.create_budget(name="people", cap=Cap.zcdp(rho=10 ** 6), privacy_unit="person")
        self.session = self.client.open(session="run", budget="people")

    def charge(self, count=50):
        for _ in range(count):
            self.session.charge(Gaussian(noise_multiplier=1000))

    def known(self, settings=b""):
        """A connection on which a call was admitted."""
        connection = RawConnection(self.server.grpc, settings=settings)
        self.addCleanup(connection.close)
        stream = connection.stream()
        connection.send(frame(HEADERS, END_HEADERS, stream, call_headers(LIST_BUDGETS, self.authorization)) +
                        frame(DATA, END_STREAM, stream, message(b"")))
        for kind, _, answered, _ in connection.frames(30):
            if kind == HEADERS and answered == stream:
                return connection
        self.fail("the neighbour is not served")

    def hog(self, role):
        client = epsledger.connect(address=self.server.grpc, transport="grpc", token=self.server.hog_tokens[role])
        self.addCleanup(client.close)
        return client

    def test_events_that_are_dear_to_price_hold_up_nobody(self):
        """130 kB of different random allocations each: seconds of computing, which were the ledger's."""
        self.hog("admin").create_budget(name="b", cap=Cap.approximate_dp(epsilon=1, delta=1e-6), privacy_unit="person")
        ended = []

        def ask(client, event):
            try:
                client.preview(budget="b", event=event, expects=False)
                ended.append("answered")
            except (EpsledgerError, ValueError) as error:  # ValueError: the client is closed
                ended.append(str(error))

        viewers = []
        for i in range(4):
            event = Composed(events=[
                CountedEvent(event=RandomAllocation(rounds=100 + i, selected=1, event=Gaussian(noise_multiplier=1 + k / 1e6)))
                for k in range(2700)])
            viewer = self.hog("viewer")
            viewers.append((viewer, threading.Thread(target=ask, args=(viewer, event))))
        self.charge()
        for _, thread in viewers:
            thread.start()
        self.charge(200)
        self.assertEqual(ended, [], "nothing was computed while the charges were made")
        for viewer, thread in viewers:
            viewer.close()
            thread.join()

    def test_refused_charges_leave_no_memory(self):
        """130 kB each, refused or fenced."""
        admin = self.hog("admin")
        admin.create_budget(name="b", cap=Cap.zcdp(rho=1e-9), privacy_unit="person")
        session = admin.open(session="s", budget="b")

        def large(i):
            return Composed(events=[CountedEvent(event=Gaussian(noise_multiplier=1 + i + k / 1e6)) for k in range(2000)])

        def refuse(first):
            for i in range(first, first + 30):
                with self.assertRaises(Refused):
                    session.charge(large(i))

        refuse(0)
        start = resident_bytes(self.server.pid)
        for first in range(30, 120, 30):
            refuse(first)
        admin.open(session="s", budget="b")
        refuse(120)
        self.assertLess(resident_bytes(self.server.pid) - start, 24 << 20)
        self.charge()

    def test_what_is_said_of_a_session_with_large_events_is_small(self):
        """60 events of 36 kB: a statement, a list and the entries of it, eight readers at once."""
        admin = self.hog("admin")
        admin.create_budget(name="b", cap=Cap.zcdp(rho=10 ** 6), privacy_unit="person")
        session = admin.open(session="s", budget="b")
        for i in range(60):
            session.charge(Composed(events=[
                CountedEvent(event=Gaussian(noise_multiplier=1 + i + k / 1e6)) for k in range(2000)]))
        name = "budgets/b/sessions/s"
        questions = (("AuditService/GetPrivacyStatement", {"name": name, "delta": 1e-6}),
                     ("SessionService/GetSession", {"name": name}),
                     ("SessionService/ListSessions", {"parent": "budgets/b"}),
                     ("ChargeService/ListCharges", {"parent": name, "pageSize": 1000}),
                     ("AuditService/ListAuditEntries", {"budget": "budgets/b", "pageSize": 1000}))
        start = resident_bytes(self.server.pid)
        failures = []

        def read(client):
            try:
                for method, request in questions:
                    client.call(method, request)
            except EpsledgerError as error:
                failures.append(str(error))

        readers = [threading.Thread(target=read, args=(self.hog("viewer"),)) for _ in range(8)]
        for reader in readers:
            reader.start()
        self.charge(200)
        for reader in readers:
            reader.join()
        self.assertEqual(failures, [])
        self.assertLess(resident_bytes(self.server.pid) - start, 128 << 20)

    def test_answers_that_nobody_takes_are_bounded_and_stop_nobody(self):
        for i in range(BUDGETS):
            self.client.create_budget(name="b%d" % i, cap=Cap.zcdp(rho=1), privacy_unit="person", display_name="x" * 100)
        self.charge()
        start = resident_bytes(self.server.pid)
        hoarders = [self.known(NO_WINDOW) for _ in range(CONNECTIONS)]
        for connection in hoarders:
            batch = b""
            for _ in range(1000):
                stream = connection.stream()
                batch += frame(HEADERS, END_HEADERS, stream, call_headers(LIST_BUDGETS, self.authorization))
                batch += frame(DATA, END_STREAM, stream, message(PAGE_OF_1000))
            self.assertTrue(connection.send(batch))
        self.charge(200)
        self.assertLess(resident_bytes(self.server.pid) - start, MAX_GROWTH_BYTES)

    def test_who_asks_again_at_once_is_read_no_faster_than_calls_may_be_refused(self):
        """Watches by the thousand, of which the tenant may open some hundred a second."""
        self.hog("admin").create_budget(name="b", cap=Cap.zcdp(rho=1), privacy_unit="person")
        authorization = ((b"authorization", b"Bearer " + self.server.hog_tokens["viewer"].encode()),)
        began = time.monotonic()
        connections = [RawConnection(self.server.grpc) for _ in range(10)]
        for connection in connections:
            self.addCleanup(connection.close)
            batch = b""
            for _ in range(1000):
                stream = connection.stream()
                batch += frame(HEADERS, END_HEADERS, stream, call_headers(WATCH_BUDGET, authorization))
                batch += frame(DATA, END_STREAM, stream, message(b"\x0a\x09budgets/b"))
            self.assertTrue(connection.send(batch))
        self.charge(200)
        refused = sum(kind == HEADERS and flags & END_STREAM != 0
                      for connection in connections for kind, flags, _, _ in connection.frames(0.05))
        seconds = time.monotonic() - began
        self.assertGreater(refused, 0)
        # 1,000 at once, 500 a second, a second's worth of debt; and 32 of each connection until it is paused again.
        self.assertLess(refused, 1000 + 500 * (seconds + 1) + 32 * len(connections) * (seconds + 1))

    def test_requests_that_are_not_whole_stop_nobody(self):
        body = b"x" * 16_000
        hoarders = [self.known() for _ in range(12)]
        for connection in hoarders:
            for _ in range(16):
                stream = connection.stream()
                connection.send(frame(HEADERS, END_HEADERS, stream, call_headers(LIST_BUDGETS, self.authorization)) +
                                frame(DATA, 0, stream, message(body, length=(1 << 20) - 100)))
                for _ in range(60):
                    connection.send(frame(DATA, 0, stream, body))
                    connection.drain()
        self.charge(200)

    def test_streams_that_are_reset_with_messages_under_way_leave_nothing(self):
        connection = self.known()
        for _ in range(300):
            stream = connection.stream()
            connection.send(frame(HEADERS, END_HEADERS, stream, call_headers(STREAM_CHARGES, self.authorization)) +
                            frame(DATA, 0, stream, message(b"") * 50))
            connection.drain()
            connection.send(frame(RST_STREAM, 0, stream, b"\0\0\0\x08"))
        connection.close()
        self.charge()
        self.server.stop()
        with open(self.server.log, encoding="utf-8") as log:
            text = log.read()
        self.assertIn("stopped", text)
        self.assertNotIn("calls have not ended", text)


if __name__ == "__main__":
    NeighboursTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
