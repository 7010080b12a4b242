"""Claims and audits: what is said of a run beside what its charges prove."""
import asyncio
import math
import unittest

import epsledger
import epsledger.aio
from epsledger.events import NonPrivate
from ledger_case import STEP, LedgerCase

# Clopper-Pearson in closed form: of n trials that all succeed, the rate is at least a^(1/n) at confidence 1 - a.
TRIALS = 1000
ALL_RIGHT = epsledger.TwoArmCounts(members=TRIALS, true_positives=TRIALS, non_members=TRIALS, false_positives=0)


def audit(client, **options):
    return client.audit(**{"method": "two-arm-threshold", "confidence": 0.95, "counts": ALL_RIGHT, **options})


class Audits(LedgerCase):
    def test_a_test_that_is_always_right_shows_as_much_as_its_counts_can(self):
        found = audit(self.client)
        # Each rate at half of 0.05: TPR >= p and FPR <= 1 - p with p = 0.025^(1/n).
        rate = 0.025 ** (1 / TRIALS)
        most = math.log(rate / (1 - rate))
        self.assertLessEqual(found.epsilon_lower_bound, most * (1 + 1e-12))
        self.assertGreater(found.epsilon_lower_bound, 0.9 * most)
        self.assertEqual((found.method, found.hypothesis, found.trials, found.delta, found.confidence),
                         ("TWO_ARM_THRESHOLD", "NONE", 2 * TRIALS, 0, 0.95))
        self.assertFalse(found.exceeds_claim)
        self.assertIsNone(found.contradicts_certificate)

    def test_what_was_claimed_and_what_is_certified_are_compared_with(self):
        self.assertTrue(audit(self.client, claimed_epsilon=1).exceeds_claim)
        self.assertIn("EXCEEDS the claim", str(audit(self.client, claimed_epsilon=1)))
        self.assertFalse(audit(self.client, claimed_epsilon=100).exceeds_claim)
        self.assertTrue(audit(self.client, delta=1e-5, events=[(STEP, 1)]).contradicts_certificate)
        self.assertFalse(audit(self.client, delta=1e-5, events=[(STEP, 1000)]).contradicts_certificate)

    def test_scores_and_guesses_are_taken(self):
        scores = [float(at) for at in range(100)]
        by_scores = audit(self.client, counts=None, member_scores=[200 + score for score in scores],
                          non_member_scores=scores)
        self.assertGreater(by_scores.epsilon_lower_bound, 1)
        guesses = audit(self.client, method="ONE_RUN", counts=epsledger.OneRunCounts(canaries=1000, guesses=100, correct=100))
        self.assertEqual(guesses.trials, 1000)
        self.assertGreater(guesses.epsilon_lower_bound, 1)
        gaussian = audit(self.client, method="TWO_ARM_GDP")
        self.assertEqual(gaussian.hypothesis, "GAUSSIAN_TRADE_OFF")
        self.assertGreater(gaussian.mu_lower_bound, 1)

    def test_an_audit_is_recorded_beside_the_charges(self):
        session = self.new_session()
        self.assertEqual(session.audits(), [])
        found = audit(self.client, delta=1e-5, claimed_epsilon=2)
        recorded = session.record_audit(found, source="a test")
        self.assertEqual((recorded.epsilon_lower_bound, recorded.trials, recorded.source, recorded.exceeds_claim),
                         (found.epsilon_lower_bound, 2 * TRIALS, "a test", True))
        self.assertGreater(recorded.sequence, 0)
        self.assertIsNotNone(recorded.time)
        self.assertEqual(session.record_audit(found, source="a test").sequence, recorded.sequence)
        self.assertEqual(session.audits(), [recorded])
        self.assertIn("audit", session.statement().text.lower())

    def test_what_is_no_audit_is_refused_by_its_argument(self):
        for options, message in (({"method": "guessing"}, "method: got 'guessing', want one of"),
                                 ({"confidence": 1}, "confidence: got 1"), ({"delta": -1}, "delta: got -1"),
                                 ({"counts": (1, 2)}, r"counts: got \(1, 2\), want TwoArmCounts"),
                                 ({"claimed_epsilon": -1}, "claimed_epsilon: got -1")):
            with self.subTest(message), self.assertRaisesRegex(epsledger.InvalidArgument, message):
                audit(self.client, **options)
        with self.assertRaisesRegex(epsledger.InvalidArgument, "^INVALID_ARGUMENT: source: got 999 bytes"):
            self.new_session().record_audit(audit(self.client), source="x" * 999)

    def test_asyncio_does_the_same(self):
        budget = self.new_budget()

        async def record():
            async with epsledger.aio.connect(address=self.server.address) as client:
                session = await client.open(session="run", budget=budget, claim=epsledger.Claim("PROVEN", epsilon=3))
                await session.record_audit(await audit(client))
                return await session.audits(), await session.claim()

        audits, claim = asyncio.run(record())
        self.assertEqual((len(audits), audits[0].exceeds_claim, claim.epsilon), (1, True, 3))


class Claims(LedgerCase):
    def test_a_claim_is_kept_and_an_audit_is_compared_with_it(self):
        claim = epsledger.Claim(status="proven", epsilon=2, delta=1e-5, source="Theorem 3.3")
        session = self.new_session(claim=claim)
        kept = session.claim()
        self.assertEqual((kept.status, kept.epsilon, kept.delta, kept.source), ("PROVEN", 2, 1e-5, "Theorem 3.3"))
        self.assertEqual(kept.label, "proven")
        self.assertTrue(session.record_audit(audit(self.client, delta=1e-5)).exceeds_claim)
        budget = session.name.split("/")[1]
        self.new_session(budget=budget, claim=claim)  # the same again
        with self.assertRaisesRegex(epsledger.AlreadyExists, "another claim"):
            self.new_session(budget=budget, claim=epsledger.Claim("PROVEN", epsilon=1))
        self.assertIsNone(self.new_session().claim())

    def test_what_is_not_proven_charges_that_nothing_is(self):
        session = self.new_session(budget=self.new_budget(cap=epsledger.Cap.no_guarantee()),
                                   claim=epsledger.Claim("counterexample-known", epsilon=1))
        self.assertEqual(session.claim().label, "as published; claimed guarantee not proven")
        with self.assertRaises(epsledger.EpsledgerError):
            session.step(STEP)
        session.step(NonPrivate())
        self.assertEqual(session.spent().epsilon, math.inf)

    def test_what_is_no_claim_is_refused(self):
        for claim, message in ((epsledger.Claim("maybe"), "claim.status: got 'maybe', want one of PROVEN"),
                               (epsledger.Claim("PROVEN", epsilon=-1), "claim.epsilon: got -1"),
                               (epsledger.Claim("PROVEN", delta=2), "claim.delta: got 2")):
            with self.subTest(message), self.assertRaisesRegex(epsledger.InvalidArgument, message):
                self.new_session(claim=claim)


if __name__ == "__main__":
    unittest.main()
