"""asyncio: the same charges and the same refusals, without keeping the loop waiting."""
import asyncio
import json
import threading
import unittest
import warnings

import epsledger
import epsledger.aio
from interposer import Interposer
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase


class Asynchronous(LedgerCase):
    def run_async(self, body, address=None):
        async def with_session():
            async with epsledger.aio.connect(address=address or self.server.address) as client:
                async with await client.open(session="run", budget=self.new_budget(), delta=1e-5) as session:
                    await body(session)
                    return session

        return asyncio.run(with_session())

    def test_the_step_that_does_not_fit_is_refused_before_its_block(self):
        async def train(session):
            ran = 0
            with self.assertRaises(epsledger.BudgetExhausted):
                for _ in range(STEPS_THAT_FIT + 1):
                    async with session.step(STEP):
                        ran += 1
            self.assertEqual(ran, STEPS_THAT_FIT)
            self.assertEqual(session.exhausted.reason, "BUDGET_EXHAUSTED")

        self.assertEqual(self.accepted_uses(self.run_async(train)), STEPS_THAT_FIT)

    def test_guard_ends_the_loop_over_iterables_of_both_kinds(self):
        async def batches():
            for number in range(100):
                yield number

        for loader in (batches(), range(100)):
            async def train(session):
                self.assertEqual([batch async for batch in session.guard(loader, STEP)], list(range(STEPS_THAT_FIT)))

            self.assertEqual(self.accepted_uses(self.run_async(train)), STEPS_THAT_FIT)

    def test_a_charged_function_is_called_after_its_charge_only(self):
        calls = []

        async def train(session):
            @session.charged(STEP)
            async def release(value):
                calls.append(value)
                return value

            self.assertEqual(await asyncio.gather(*map(release, range(STEPS_THAT_FIT))), list(range(STEPS_THAT_FIT)))
            with self.assertRaises(epsledger.BudgetExhausted):
                await release(9)
            with self.assertRaisesRegex(TypeError, "async def"):
                session.charged(STEP)(print)

        self.run_async(train)
        self.assertEqual(sorted(calls), list(range(STEPS_THAT_FIT)))

    def test_tasks_at_once_charge_once_each_and_never_too_much(self):
        async def train(session):
            results = await asyncio.gather(*(session.charge(STEP) for _ in range(20)), return_exceptions=True)
            accepted = {result.charge for result in results if isinstance(result, epsledger.Permit)}
            self.assertEqual(len(accepted), STEPS_THAT_FIT)
            self.assertEqual(sum(isinstance(result, epsledger.BudgetExhausted) for result in results), 16)

        self.run_async(train)

    def test_leases_readings_and_errors_are_those_of_the_session(self):
        async def train(session):
            async with await session.lease(STEP, count=3) as lease:
                with lease.step():
                    self.assertEqual((lease.used_count, lease.steps_left, lease.granted_count), (1, 2, 3))
            with self.assertRaises(epsledger.Ended):
                lease.step()
            self.assertEqual((await session.preview(STEP)).steps_that_fit, 1)
            self.assertEqual(await session.spent(), (await session.guarantees()).spent)
            self.assertIn(session.name, str(await session.statement()))
            with self.assertRaises(epsledger.InvalidArgument):
                await session.charge(STEP, count=0)

        self.run_async(train)

    def test_a_step_that_is_not_awaited_charges_nothing_and_python_says_so(self):
        async def train(session):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                session.step(STEP)
            self.assertIn("was never awaited", str(caught[0].message))

        self.assertEqual(self.accepted_uses(self.run_async(train)), 0)

    def test_a_cancelled_task_runs_no_block_and_its_charge_stays(self):
        arrived, go_on = threading.Event(), threading.Event()

        def held(status, answer):
            arrived.set()
            go_on.wait(60)
            return status, json.dumps(answer).encode()

        with Interposer(self.server.http) as between:
            between.faults = [held]

            async def train(session):
                async def step():
                    async with session.step(STEP):
                        self.fail("the block of a task that was cancelled")

                task = asyncio.create_task(step())
                await asyncio.get_running_loop().run_in_executor(None, arrived.wait, 60)
                task.cancel()
                go_on.set()
                with self.assertRaises(asyncio.CancelledError):
                    await task

            session = self.run_async(train, address=between.address)
        self.assertEqual(self.accepted_uses(session), 1)


if __name__ == "__main__":
    unittest.main()
