"""Neighbours with a token at the port of gRPC: neighbours_test.py BUILD_DIR

A tenant that asks for more than it takes holds a bounded amount of memory, and another tenant is served meanwhile."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "client", "python"), os.path.join(HERE, "..", "end_to_end")]

from raw_http2 import DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, RawConnection, call_headers, frame, message  # noqa: E402
from strangers_test import TokenLedger, resident_bytes  # noqa: E402

import epsledger  # noqa: E402
from epsledger.budget import Cap  # noqa: E402
from epsledger.events import Gaussian  # noqa: E402

LIST_BUDGETS = b"/epsledger.v1.BudgetService/ListBudgets"
STREAM_CHARGES = b"/epsledger.v1.ChargeService/StreamCharges"
NO_WINDOW = b"\0\4\0\0\0\0"  # SETTINGS_INITIAL_WINDOW_SIZE of nothing
PAGE_OF_1000 = b"\x08\xe8\x07"
BUDGETS = 200
CONNECTIONS = 4
# 32 MiB a connection (wire/limits.h), and what a connection costs.
MAX_GROWTH_BYTES = (CONNECTIONS * 32 + 16) << 20


class NeighboursTest(unittest.TestCase):
    build = None

    def setUp(self):
        self.server = TokenLedger(self.build)
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
