"""When it is asked again, on a clock of the test's own."""
import unittest

from epsledger.retry import Retry, retry_until_definite
from epsledger.transport import RpcError


class Clock:
    """Waiting is what makes its time pass."""

    def __init__(self):
        self.time = 0.0
        self.waits = []

    def sleep(self, seconds):
        self.waits.append(seconds)
        self.time += seconds

    def now(self):
        return self.time


def never_sent():
    return RpcError("UNAVAILABLE", "connection refused", never_sent=True)


def run(outcomes, retry=Retry(), seconds_each=0.0, reached=True):
    """(the tries, the clock, the timeouts of each): outcomes are codes to fail with, or an answer."""
    clock, timeouts, left = Clock(), [], list(outcomes)

    def try_once(timeout):
        timeouts.append(timeout)
        clock.time += seconds_each
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, RpcError):
            raise outcome
        if isinstance(outcome, str):
            raise RpcError(outcome, "a test")
        return outcome

    return retry_until_definite(retry, try_once, clock.sleep, clock.now, reached=reached), clock, timeouts


class AskingAgain(unittest.TestCase):
    def test_codes_that_a_repetition_can_make_definite_are_asked_again_and_no_others(self):
        for code in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN"):
            tries, _, _ = run([code, code, {"a": 1}])
            self.assertEqual((tries.count, tries.answer, tries.error, tries.may_have_committed), (3, {"a": 1}, None, True))
        for code, may_have_committed in (
                ("INVALID_ARGUMENT", False), ("NOT_FOUND", False), ("ALREADY_EXISTS", False),
                ("PERMISSION_DENIED", False), ("UNAUTHENTICATED", False), ("FAILED_PRECONDITION", False),
                ("ABORTED", False), ("OUT_OF_RANGE", False), ("UNIMPLEMENTED", False), ("INTERNAL", True),
                ("DATA_LOSS", True), ("RESOURCE_EXHAUSTED", True), ("SOMETHING_NEW", True)):
            tries, _, _ = run([code, {}])
            self.assertEqual((tries.count, tries.error.code, tries.may_have_committed), (1, code, may_have_committed))

    def test_a_server_that_was_never_reached_is_waited_for_a_short_time_only(self):
        retry = Retry(overall_timeout=60, first_contact_timeout=5)
        tries, clock, _ = run([never_sent()], retry, reached=False)
        self.assertLessEqual(clock.time, 5)
        self.assertGreater(clock.time, 2.5)
        self.assertEqual((tries.error.code, tries.may_have_committed), ("UNAVAILABLE", False))
        # One that was reached before, or answers at all, is waited for as always.
        for outcomes, reached in (([never_sent()], True), (["UNAVAILABLE"], False), (["UNAVAILABLE", never_sent()], False)):
            _, clock, _ = run(outcomes, retry, reached=reached)
            self.assertGreater(clock.time, 50)
        # The whole time is never longer because of it.
        _, clock, _ = run([never_sent()], Retry(overall_timeout=1, first_contact_timeout=5), reached=False)
        self.assertLessEqual(clock.time, 1)

    def test_a_try_that_was_not_sent_cannot_have_committed(self):
        tries, _, _ = run([never_sent(), never_sent(), "NOT_FOUND"])
        self.assertFalse(tries.may_have_committed)
        tries, _, _ = run([never_sent(), "UNAVAILABLE", "NOT_FOUND"])
        self.assertTrue(tries.may_have_committed)

    def test_an_early_try_that_may_have_committed_is_not_forgotten(self):
        tries, _, _ = run(["UNAVAILABLE", "PERMISSION_DENIED"])
        self.assertEqual((tries.error.code, tries.may_have_committed), ("PERMISSION_DENIED", True))

    def test_an_outage_is_said_when_it_begins_and_when_it_ends(self):
        with self.assertLogs("epsledger", "WARNING") as logged:
            run(["UNAVAILABLE", "UNAVAILABLE", {}], Retry(overall_timeout=60, initial_backoff=1, max_backoff=1))
        said = [record.getMessage() for record in logged.records]
        self.assertEqual(len(said), 2)
        self.assertRegex(said[0], r"^no answer \(UNAVAILABLE: a test\); asking again for 5\d s$")
        self.assertRegex(said[1], r"^answered again, after 3 tries in [12]\.\d s$")
        for outcomes in ([{}], ["NOT_FOUND"]):  # no outage
            with self.assertNoLogs("epsledger", "WARNING") if hasattr(self, "assertNoLogs") else self.subTest():
                run(outcomes)

    def test_waits_double_between_the_half_and_the_whole_up_to_the_most(self):
        _, clock, _ = run(["UNAVAILABLE"] * 9 + [{}], Retry(initial_backoff=0.1, max_backoff=0.4))
        for wait, most in zip(clock.waits, [0.1, 0.2, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4]):
            self.assertGreaterEqual(wait, most / 2)
            self.assertLessEqual(wait, most)
        self.assertEqual(len(clock.waits), 9)

    def test_the_server_may_ask_for_more_patience(self):
        for text, wait in (("1.5s", 1.5), ("3s", 3.0)):
            error = RpcError("UNAVAILABLE", "", [("google.rpc.RetryInfo", {"retryDelay": text})])
            _, clock, _ = run([error, {}])
            self.assertEqual(clock.waits, [wait])
        for text in ("-1s", "9999s", "soon", ""):
            self.assertEqual(RpcError("UNAVAILABLE", "", [("google.rpc.RetryInfo", {"retryDelay": text})]).retry_delay, 0)

    def test_tries_and_time_are_limited(self):
        self.assertEqual(run(["UNAVAILABLE"], Retry(max_tries=3))[0].count, 3)
        tries, clock, timeouts = run(["UNAVAILABLE"], Retry(call_timeout=4, overall_timeout=10, initial_backoff=0,
                                                            max_backoff=0), seconds_each=4)
        self.assertEqual((tries.count, timeouts, clock.time), (3, [4, 4, 2], 12))
        error = RpcError("UNAVAILABLE", "", [("google.rpc.RetryInfo", {"retryDelay": "60s"})])
        tries, clock, _ = run([error])
        self.assertEqual((tries.count, clock.waits), (1, []))  # it would be too late


if __name__ == "__main__":
    unittest.main()
