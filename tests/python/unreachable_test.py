"""A server that no call reaches: nothing was sent, so nothing was charged and nothing is unknown."""
import unittest
from unittest import mock

import epsledger
from epsledger import http_transport
from epsledger.session import Session
from black_hole import BlackHole
from ledger_case import STEP

SHORT = epsledger.Retry(call_timeout=0.3, overall_timeout=1, first_contact_timeout=1)


def session_of(client):
    """A session as if it had been opened before the server went away."""
    return Session(connection=client._connection, name="budgets/b/sessions/s", attempt="budgets/b/sessions/s/attempts/1",
                   delta=1e-5)


class Unreachable(unittest.TestCase):
    def assert_nothing_is_unknown(self, client, message):
        session = session_of(client)
        for call in (lambda: session.charge(STEP), lambda: session.lease(STEP, count=2)):
            with self.assertRaisesRegex(epsledger.Unavailable, message):
                call()
        self.assertEqual(session.unknown_charges, ())

    def test_a_connection_that_is_refused(self):
        with epsledger.connect(address="http://127.0.0.1:1", retry=SHORT) as client:
            self.assert_nothing_is_unknown(client, "refused")

    def test_a_connection_that_is_dropped(self):
        with BlackHole() as hole, epsledger.connect(address="http://" + hole.address, retry=SHORT) as client:
            self.assert_nothing_is_unknown(client, "no connection in [0-9.e-]+ s")

    def test_a_connection_that_is_dropped_is_waited_for_as_long_as_a_first_contact(self):
        # The overall timeout is out of reach: the test ends because no connection was made.
        retry = epsledger.Retry(call_timeout=600, overall_timeout=600, first_contact_timeout=0.5)
        with mock.patch.object(http_transport, "_MOST_CONNECT_SECONDS", 0.2), BlackHole() as hole, \
                epsledger.connect(address="http://" + hole.address, retry=retry) as client:
            self.assert_nothing_is_unknown(client, "no connection in [0-9.e-]+ s")
            with self.assertRaisesRegex(epsledger.Unavailable, "no connection in [0-9.e-]+ s"):
                client.budgets()

    def test_a_connection_is_given_up_after_as_long_as_the_first_contact_may_take(self):
        self.assertLessEqual(http_transport._MOST_CONNECT_SECONDS, epsledger.Retry().first_contact_timeout)


if __name__ == "__main__":
    unittest.main()
