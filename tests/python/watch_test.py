"""Watching: every change once and in order, through outages."""
import io
import itertools
import threading
import unittest

import epsledger
from epsledger.event_stream import read_changes
from epsledger.transport import RpcError
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

QUICK = epsledger.Retry(call_timeout=5, overall_timeout=120, initial_backoff=0.01, max_backoff=0.05)


def kinds(changes):
    return [change.kind for change in changes]


class Watching(LedgerCase):
    def watch(self, name, count, **options):
        return list(itertools.islice(self.connect(retry=QUICK).watch(name, **options), count))

    def test_what_happened_is_told_from_the_first_entry_or_after_one(self):
        session = self.new_session()
        budget = session.name.split("/")[1]
        for _ in session.guard(range(9), STEP):
            pass
        changes = self.watch(budget, 3 + STEPS_THAT_FIT + 1)
        self.assertEqual(kinds(changes), ["budget", "session", "attempt"] + ["charge"] * (STEPS_THAT_FIT + 1))
        sequences = [change.sequence for change in changes]
        self.assertEqual(sequences, sorted(set(sequences)))
        self.assertEqual(changes[2].name, session.attempt)
        self.assertEqual([(change.name, change.message["decision"]) for change in changes[3:]], [
            ("%s/charges/step-%d" % (session.attempt, number + 1),
             "ACCEPTED" if number < STEPS_THAT_FIT else "REFUSED") for number in range(STEPS_THAT_FIT + 1)])
        self.assertEqual(str(changes[3]), "%d: charge %s/charges/step-1, ACCEPTED" % (
            sequences[3], session.attempt))
        self.assertLess(abs((changes[3].time - changes[0].time).total_seconds()), 600)
        self.assertEqual(self.watch("budgets/" + budget, 2, after=sequences[4]), changes[5:7])
        # The changes of a session alone, without the budget's own entry.
        self.assertEqual(kinds(self.watch(session.name, 3)), ["session", "attempt", "charge"])

    def test_every_change_is_told_once_while_the_server_is_killed_and_started_again(self):
        session = self.new_session(client=self.connect(retry=QUICK), budget=self.new_budget(
            cap=epsledger.Cap.zcdp(rho=1000)))
        told, wanted = [], 60
        halves = [threading.Event(), threading.Event()]

        def listen():
            for change in self.connect(retry=QUICK).watch(session.name):
                if change.kind == "charge":
                    told.append(change.name)
                    if len(told) == wanted // 2:
                        halves[0].set()
                    if len(told) == wanted:
                        return halves[1].set()

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        charged = [session.step(STEP).charge for _ in range(wanted // 2)]
        self.assertTrue(halves[0].wait(120))
        self.server.kill()
        self.server.start_again()
        charged += [session.step(STEP).charge for _ in range(wanted // 2)]
        self.assertTrue(halves[1].wait(120))
        listener.join(120)
        self.assertEqual(told, charged)

    def test_what_cannot_be_watched_is_said(self):
        for name in ("A B", "budgets/a/b", "sessions/a", "", 7, "budgets/a/sessions/"):
            with self.subTest(name), self.assertRaisesRegex(epsledger.InvalidArgument, "name: got"):
                self.client.watch(name)
        for after in (-1, 1.5, True, 2**63):
            with self.subTest(after), self.assertRaisesRegex(epsledger.InvalidArgument, "after: got"):
                self.client.watch("people", after=after)
        with self.assertRaisesRegex(epsledger.NotFound, "nowhere"):
            next(self.client.watch("nowhere"))
        client = self.connect()
        client.close()
        with self.assertRaises(epsledger.Ended):
            next(client.watch("people"))

    def test_a_server_that_is_not_there_is_given_up(self):
        retry = epsledger.Retry(call_timeout=1, overall_timeout=600, first_contact_timeout=0.3)
        with epsledger.connect(address="http://127.0.0.1:1", retry=retry) as client, \
                self.assertRaisesRegex(epsledger.Unavailable, "refused"):
            next(client.watch("people"))


class EventStream(unittest.TestCase):
    def read(self, text):
        return list(read_changes(io.BytesIO(text)))

    def test_events_bookmarks_and_signs_of_life(self):
        self.assertEqual(self.read(
            b"retry: 500\n\n: alive\n\nid: budgets/a:12\nevent: charge\n"
            b'data: {"watched":"budgets/a","sequence":"12","charge":{"name":"x"}}\n\n'
            b"id: budgets/a:15\r\nevent: bookmark\r\ndata: {}\r\n\r\n"),
            [{}, {"sequence": "12", "charge": {"name": "x"}}, {"sequence": "15"}])

    def test_an_event_that_is_cut_off_is_none(self):
        whole = b'event: charge\ndata: {"sequence":"1"}\n\n'
        self.assertEqual(self.read(whole), [{"sequence": "1"}])
        for length in range(len(whole)):
            self.assertEqual(self.read(whole[:length]), [])

    def test_the_end_says_why(self):
        with self.assertRaises(RpcError) as end:
            self.read(b'event: end\ndata: {"code":"unauthenticated","message":"who?"}\n\n')
        self.assertEqual((end.exception.code, end.exception.message), ("UNAUTHENTICATED", "who?"))

    def test_what_is_no_event_is_an_error(self):
        for data in (b"", b"x", b"[1]", b"[" * 100_000, b'{"a":', b"\xff"):
            with self.assertRaisesRegex(RpcError, "no JSON object"):
                self.read(b"event: charge\ndata: " + data + b"\n\n")


if __name__ == "__main__":
    unittest.main()
