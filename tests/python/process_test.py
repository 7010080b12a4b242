"""Forks, spawned processes, and two trainers at once: what belongs to one process charges in that one alone."""
import http.client
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import traceback
import unittest
from unittest import mock

import epsledger
import epsledger.aio
from ledger_case import STEP, LedgerCase

WIDE = epsledger.Cap.zcdp(rho=1000)
CHILD_SECONDS = 60


def in_forked_child(function):
    """What the function printed as its result, from a child that has 60 seconds: one that hangs fails the test."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = "returned %r" % (function(),)
        except BaseException as error:
            text = "raised %s: %s" % (type(error).__name__, error)
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    killer = threading.Timer(CHILD_SECONDS, os.kill, (child, 9))
    killer.start()
    with os.fdopen(read) as stream:
        text = stream.read()
    killer.cancel()
    os.waitpid(child, 0)
    return text


def charge_in_spawned(address, budget, queue):
    with epsledger.connect(address=address) as client:
        session = client.open(session="spawned-%d" % os.getpid(), budget=budget)
        queue.put(sum(1 for _ in session.guard(range(1000), STEP)))


@unittest.skipUnless(hasattr(os, "fork"), "there is no fork here")
class Forked(LedgerCase):
    def test_a_forked_child_charges_nothing_and_the_parent_goes_on(self):
        session = self.new_session()
        permit, lease = session.charge(STEP), session.lease(STEP, count=1)
        batches = session.guard("ab", STEP)
        for name, charge in (("step", lambda: session.step(STEP)), ("charge", lambda: session.charge(STEP, count=2)),
                             ("lease", lambda: session.lease(STEP, count=1)), ("guard", lambda: list(batches)),
                             ("permit", permit.__enter__), ("lease.step", lease.step), ("settle", lease.settle),
                             ("charged", session.charged(STEP)(lambda: 1))):
            with self.subTest(name):
                self.assertRegex(in_forked_child(charge), "^raised WrongProcess: this .* belongs to process %d, .*"
                                 "DataLoader worker only loads" % os.getpid())
        self.assertEqual(in_forked_child(lambda: lease.__exit__(None, None, None)), "returned None")
        self.assertEqual(self.accepted_uses(session), 2)
        with permit, lease.step():
            self.assertEqual(next(batches), "a")
        self.assertEqual(self.accepted_uses(session), 3)

    def test_a_child_calls_over_a_connection_of_its_own_whatever_another_thread_held(self):
        session = self.new_session()
        budget = session.name.split("/")[1]
        session.step(STEP)  # leaves a connection that is kept

        def call():
            with mock.patch("http.client.HTTPConnection.connect", autospec=True,
                            side_effect=http.client.HTTPConnection.connect) as connect:
                own = self.client.open(session="of-the-child", budget=budget)
            return connect.call_count, own.attempt.endswith("/attempts/1")

        with self.client._connection.seen_heads._lock, session._lock:
            self.assertEqual(in_forked_child(call), "returned (1, True)")
            self.assertRegex(in_forked_child(lambda: session.step(STEP)), "^raised WrongProcess")

    def test_a_child_neither_hangs_nor_mixes_answers_up_whenever_it_is_forked(self):
        session = self.new_session(budget=self.new_budget(cap=WIDE))
        other = self.new_budget(cap=WIDE)
        stop, failures = threading.Event(), []

        def train():
            try:
                while not stop.is_set():
                    session.step(STEP)
            except BaseException:
                failures.append(traceback.format_exc())

        def own_session():
            opened = self.client.open(session="of-the-child-%d" % os.getpid(), budget=other)
            opened.step(STEP)
            return self.accepted_uses(opened), opened.attempt.endswith("/attempts/1")

        threads = [threading.Thread(target=train) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(25):
                self.assertRegex(in_forked_child(lambda: session.step(STEP)), "^raised WrongProcess")
                self.assertEqual(in_forked_child(own_session), "returned (1, True)")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])

    def test_a_worker_of_a_data_loader_is_such_a_child(self):
        session = self.new_session()
        context = multiprocessing.get_context("fork")
        queue = context.Queue()

        def work():
            try:
                session.step(STEP)
            except epsledger.EpsledgerError as error:
                queue.put(type(error).__name__)

        worker = context.Process(target=work)
        worker.start()
        self.assertEqual(queue.get(timeout=CHILD_SECONDS), "WrongProcess")
        worker.join()
        self.assertEqual(self.charges(session), [])

    def test_a_session_for_asyncio_does_not_wait_for_threads_that_are_not_there(self):
        import asyncio

        async def train():
            client = epsledger.aio.connect(address=self.server.address)
            session = await client.open(session="run", budget=self.new_budget())
            await session.step(STEP)
            return client, session

        client, session = asyncio.run(train())
        self.assertRegex(in_forked_child(lambda: asyncio.run(session.charge(STEP))), "^raised WrongProcess")
        client.close()


class Separate(LedgerCase):
    def test_a_session_cannot_be_sent_to_another_process(self):
        session = self.new_session()
        for thing in (session, session.step(STEP), session.lease(STEP, count=1)):
            with self.assertRaisesRegex(epsledger.WrongProcess, "open a session there"):
                pickle.dumps(thing)

    def test_two_processes_under_one_budget_never_exceed_it(self):
        budget = self.new_budget(cap=epsledger.Cap.zcdp(rho=0.125 * 60.5))
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        trainers = [context.Process(target=charge_in_spawned, args=(self.server.address, budget, queue))
                    for _ in range(2)]
        for trainer in trainers:
            trainer.start()
        counts = [queue.get(timeout=CHILD_SECONDS) for _ in trainers]
        for trainer in trainers:
            trainer.join()
        self.assertEqual(sum(counts), 60)
        self.assertEqual(self.client.budget(budget).accepted_charge_count, 60)

    def test_importing_needs_the_standard_library_alone(self):
        code = ("import sys, epsledger, epsledger.aio, epsledger.events\n"
                "print(sorted(name for name in {m.split('.')[0] for m in sys.modules}\n"
                "             if name not in sys.stdlib_module_names and not name.startswith('_')))\n")
        if not hasattr(sys, "stdlib_module_names"):
            self.skipTest("this Python does not know its standard library's names")
        environment = {"PYTHONPATH": os.path.dirname(os.path.dirname(epsledger.__file__))}
        run = subprocess.run([sys.executable, "-B", "-S", "-c", code], capture_output=True, text=True,
                             env=environment, check=True)
        self.assertEqual(run.stdout.strip(), "['epsledger']")


if __name__ == "__main__":
    unittest.main()
