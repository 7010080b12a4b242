"""Watching under asyncio: every change once and in order, through outages and cancelled waits."""
import asyncio
import gc
import subprocess
import sys
import threading
import time
import unittest

import epsledger
import epsledger.aio
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

QUICK = epsledger.Retry(call_timeout=5, overall_timeout=120, initial_backoff=0.01, max_backoff=0.05)
# Longer than the server takes to show that a stream is alive.
ENOUGH = 120


def threads_of_watches():
    return [thread for thread in threading.enumerate() if thread.name == "epsledger-watch"]


class Watching(LedgerCase):
    def run_with_client(self, body):
        async def with_client():
            async with epsledger.aio.connect(address=self.server.address, retry=QUICK) as client:
                return await asyncio.wait_for(body(client), ENOUGH)

        return asyncio.run(with_client())

    def assert_threads_end(self):
        until = time.monotonic() + ENOUGH
        for thread in threads_of_watches():
            thread.join(until - time.monotonic())
        self.assertEqual(threads_of_watches(), [])

    def test_the_changes_are_those_of_the_synchronous_watch(self):
        session = self.new_session()
        budget = session.name.split("/")[1]
        for _ in session.guard(range(9), STEP):
            pass
        wanted = 3 + STEPS_THAT_FIT + 1

        async def watch(client):
            told = []
            async with client.watch(budget) as changes:
                async for change in changes:
                    told.append(change)
                    if len(told) == wanted:
                        return told

        told = self.run_with_client(watch)
        same = self.connect(retry=QUICK).watch(budget)
        self.assertEqual(told, [next(same) for _ in range(wanted)])

        async def watch_after(client):
            return await anext(client.watch(session.name, after=told[4].sequence))

        self.assertEqual(self.run_with_client(watch_after), told[5])
        self.assert_threads_end()

    def test_every_change_is_told_once_while_the_server_is_killed_and_started_again(self):
        session = self.new_session(client=self.connect(retry=QUICK), budget=self.new_budget(
            cap=epsledger.Cap.zcdp(rho=1000)))
        wanted = 40

        async def watch(client):
            told, charged = [], []
            loop = asyncio.get_running_loop()

            def charge_half():
                charged.extend(session.step(STEP).charge for _ in range(wanted // 2))

            await loop.run_in_executor(None, charge_half)
            async with client.watch(session.name) as changes:
                async for change in changes:
                    if change.kind != "charge":
                        continue
                    told.append(change.name)
                    if len(told) == wanted // 2:
                        await loop.run_in_executor(None, self.server.kill)
                        await loop.run_in_executor(None, self.server.start_again)
                        await loop.run_in_executor(None, charge_half)
                    if len(told) == wanted:
                        return told, charged

        told, charged = self.run_with_client(watch)
        self.assertEqual(told, charged)

    def test_a_wait_that_is_cancelled_loses_no_change(self):
        session = self.new_session()

        async def watch(client):
            changes = client.watch(session.name)
            told = [await anext(changes) for _ in range(2)]
            for number in range(STEPS_THAT_FIT):
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(anext(changes), 0.05)
                await asyncio.get_running_loop().run_in_executor(None, session.step, STEP)
                told.append(await anext(changes))
            await changes.aclose()
            return [change.kind for change in told], [change.name.rpartition("/")[2] for change in told[2:]]

        self.assertEqual(self.run_with_client(watch), (
            ["session", "attempt"] + ["charge"] * STEPS_THAT_FIT,
            ["step-%d" % (number + 1) for number in range(STEPS_THAT_FIT)]))

    def quiet_session(self):
        """The name of a session in which nothing happens, and its last entry."""
        session = self.new_session()
        changes = self.connect(retry=QUICK).watch(session.name)
        return session.name, [next(changes).sequence for _ in range(2)][-1]

    def test_calls_do_not_wait_for_watches(self):
        quiet, last = self.quiet_session()
        budget = self.new_budget()

        async def charge_among_watches(client):
            watches = [client.watch(quiet, after=last) for _ in range(40)]
            waits = [asyncio.ensure_future(anext(changes)) for changes in watches]
            await asyncio.sleep(0)
            mine = await client.open(session="run", budget=budget, delta=1e-5)
            permit = await mine.charge(STEP)
            for changes in watches:
                await changes.aclose()
            ended = await asyncio.gather(*waits, return_exceptions=True)
            self.assertEqual([type(end) for end in ended], [StopAsyncIteration] * 40)
            return permit.count

        self.assertEqual(self.run_with_client(charge_among_watches), 1)
        self.assert_threads_end()

    def test_one_task_at_a_time_waits(self):
        quiet, last = self.quiet_session()

        async def watch(client):
            async with client.watch(quiet, after=last) as changes:
                wait = asyncio.ensure_future(anext(changes))
                await asyncio.sleep(0)
                with self.assertRaisesRegex(RuntimeError, "another task"):
                    await anext(changes)
                wait.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await wait
            with self.assertRaises(StopAsyncIteration):
                await anext(changes)

        self.run_with_client(watch)

    def test_what_cannot_be_watched_is_said(self):
        async def watch(client):
            for name in ("A B", "sessions/a", "", 7):
                with self.subTest(name), self.assertRaisesRegex(epsledger.InvalidArgument, "name: got"):
                    client.watch(name)
            with self.assertRaisesRegex(epsledger.InvalidArgument, "after: got"):
                client.watch("people", after=-1)
            changes = client.watch("nowhere")
            with self.assertRaisesRegex(epsledger.NotFound, "nowhere"):
                await anext(changes)
            with self.assertRaises(StopAsyncIteration):
                await anext(changes)

        self.run_with_client(watch)

    def test_a_closed_client_ends_it(self):
        session = self.new_session()

        async def watch(client):
            changes = client.watch(session.name)
            await anext(changes)
            client.close()
            with self.assertRaises(epsledger.Ended):
                while True:
                    await anext(changes)

        self.run_with_client(watch)
        self.assert_threads_end()

    def test_nobody_who_holds_it_ends_its_thread(self):
        session = self.new_session()

        async def watch(client):
            async for _ in client.watch(session.name):
                break
            gc.collect()

        self.run_with_client(watch)
        self.assert_threads_end()

    def test_a_program_ends_though_a_watch_is_open(self):
        session = self.new_session()
        program = ("import asyncio, epsledger.aio\n"
                   "changes = None\n"
                   "async def main():\n"
                   "    global changes\n"
                   "    client = epsledger.aio.connect(address=%r)\n"
                   "    changes = client.watch(%r)\n"
                   "    print((await changes.__anext__()).kind)\n"
                   "    wait = asyncio.ensure_future(changes.__anext__())\n"
                   "    await asyncio.sleep(0)\n"
                   "asyncio.run(main())\n" % (self.server.address, session.name))
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("session\n", "", 0))


if __name__ == "__main__":
    unittest.main()
