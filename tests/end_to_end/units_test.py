"""Charges in units of a reference, on real servers: units_test.py BUILD

Caps with the filters RESIDUE and PORTFOLIO keep what they promise while servers are killed, while three of them serve
one database, and when the ledger moves. What the ledger says is counted again by recounted_ledger.py, proved again by
`epsledgerd ledger verify --prices`, and what was accepted is composed by another engine, `epsctl compute` with PLD.

EPSLEDGER_UNITS_KILLS: how often a server is killed, 12 if not said. EPSLEDGER_UNITS_SEED: of the random moments.
"""
import collections
import json
import logging
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "client", "python"))

from postgres_cluster import PostgresCluster  # noqa: E402
from recounted_ledger import RESERVE, RecountedLedger, as_shown, digest_of  # noqa: E402
from served_ledger import ServedLedger  # noqa: E402
from units_trainers import (EVENTS, FAINT_QUERY, HASTY, OTHER_STEP, PATIENT, QUERY, SMALL_STEP, STEP,  # noqa: E402
                            BatchTrainer, Books, FaintTrainer, LeaseTrainer, PlanTrainer, StepTrainer, sampled)

import epsledger  # noqa: E402

BUILD = None
KILLS = int(os.environ.get("EPSLEDGER_UNITS_KILLS", "12"))
SEED = int(os.environ.get("EPSLEDGER_UNITS_SEED", "20261124"))
DELTA = 1e-5


def cap(epsilon, filter, reference=None):
    return epsledger.Cap.approximate_dp(epsilon=epsilon, delta=DELTA, filter=filter, reference=reference)


def epsledgerd(*arguments):
    return subprocess.run([os.path.join(BUILD, "server", "epsledgerd"), *arguments], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=600)


def event_key(event):
    """The same text for the same event, however its numbers are written."""
    return json.dumps(json.loads(json.dumps(event), parse_int=float), sort_keys=True)


class Server(ServedLedger):
    """One with clients that are patient."""

    @property
    def address(self):
        return "http://" + self.http

    def client(self, retry=PATIENT):
        return epsledger.connect(address=self.address, retry=retry)


class UnitsTest(unittest.TestCase):
    """Checks that hold of every ledger in units."""

    def assert_is_as_told(self, ledger, books):
        """The clients know the outcome of every charge that is in the ledger, and each as it is there."""
        for told, stored in ((books.accepted, ledger.accepted), (books.refused, ledger.refused)):
            self.assertEqual(told.keys(), stored.keys())
            for key, (event, count) in told.items():
                if isinstance(stored[key][0], bytes):
                    self.assertEqual(digest_of(event), stored[key][0], key)
                else:
                    self.assertEqual(event_key(event), event_key(stored[key][0]), key)
                if count is not None:
                    self.assertEqual(count, stored[key][1], key)
        for key, sequence in books.sequences.items():
            self.assertEqual(ledger.accepted[key][2], sequence, key)

    def assert_is_counted(self, ledger, client):
        """What the server shows of every budget is what was counted here, cell by cell, and within the cap."""
        for name in ledger.budgets:
            budget, spent, lives = client.budget(name), ledger.spent(name), ledger.lives(name)
            self.assertEqual(len(budget.cells), len(spent))
            for cell, counted, shown in zip(ledger.budgets[name].filter["cells"], spent, budget.cells):
                what = "%s, %s" % (name, shown)
                if cell["quantity"] == RESERVE:
                    self.assertAlmostEqual(shown.spent, as_shown(counted), delta=1e-12 * shown.cap, msg=what)
                else:
                    self.assertEqual(shown.spent, as_shown(counted), what)
            units = ledger.budgets[name].units_cell
            self.assertTrue(ledger.fits(name, spent), name)
            if not budget.all_cells_must_fit:
                self.assertTrue(lives[units] or any(lives[units + 2:]), name)
            else:
                self.assertEqual(lives, [True] * len(lives), name)
            self.assertEqual(budget.cells[units].quantity, "UNITS")
            accepted = sum(1 for key in ledger.accepted if self.is_below(ledger, key, name))
            self.assertEqual(budget.accepted_charge_count, accepted, name)

    @staticmethod
    def is_below(ledger, key, name):
        return any(budget.spec["id"] == name for budget in ledger.path(key[0].split("/")[1]))

    def assert_prices_are_proved(self, ledgers, *place):
        verified = epsledgerd("ledger", "verify", *place, "--prices")
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        for root, ledger in ledgers.items():
            line, = (line for line in verified.stdout.split("\n") if line.startswith("budgets/%s: " % root))
            sequence, digest, _, _ = ledger.entries[-1]
            found = re.fullmatch(r"budgets/%s: verified, (\d+) entries, head ([0-9a-f]{64}), Merkle root [0-9a-f]{64}, "
                                 r"(\d+) references and prices proved again" % root, line)
            self.assertIsNotNone(found, line)
            references = sum(1 for budget in ledger.budgets.values() if budget.reference is not None)
            # What a reference must hold: its units fit the cap, and that a use of it is one unit.
            self.assertEqual((int(found[1]), found[2], int(found[3])),
                             (sequence, digest, 2 * references + ledger.price_count + ledger.plan_count))

    def assert_composes_within_the_cap(self, ledger):
        """By PLD, of everything below each budget at once: of a partition, of what each part met. Returns what share of
        each cap that is."""
        requests, caps = [], []
        for name, budget in ledger.budgets.items():
            parts = [None]
            if budget.spec["partition"] is not None:
                parts = [child.spec["id"] for child in budget.children]
            for part in parts:
                counted = collections.Counter()
                for event, count in ledger.accepted_under(name, part):
                    counted[event_key(event)] += count
                if not counted:
                    continue
                kind, cap_fields = budget.spec["cap"]
                self.assertEqual(kind, "approximateDp")
                caps.append((name, part, cap_fields["epsilon"]))
                requests.append({"accountant": "PLD", "query": {"epsilonAtDelta": cap_fields["delta"]},
                                 "events": [{"event": json.loads(event), "count": count}
                                            for event, count in sorted(counted.items())]})
        done = subprocess.run([os.path.join(BUILD, "client", "cli", "epsctl"), "compute"], text=True, timeout=300,
                              input="".join(json.dumps(request) + "\n" for request in requests), capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        shares = {}
        for (name, part, epsilon), line in zip(caps, done.stdout.splitlines(), strict=True):
            answer = json.loads(line)
            self.assertEqual((answer["accountant"], answer["kind"]), ("PLD", "UPPER_BOUND"))
            self.assertLessEqual(answer["upper"], epsilon, "%s, %s: %s" % (name, part, answer))
            shares[name, part] = answer["upper"] / epsilon
        return shares

    def assert_ran(self, run):
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    @staticmethod
    def exported(server, root):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "export")
            server.ctl("ledger", "export", root, file)
            return RecountedLedger(file)


class KilledLedger(UnitsTest):
    """A server in a folder of its own, killed at random moments while everybody charges."""

    ROOTS = {"people": ("people", "team"), "countries": ("countries", "north", "south"), "queries": ("queries",)}

    @classmethod
    def setUpClass(cls):
        cls.server = Server(BUILD)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        with cls.server.client() as client:
            cls.make_budgets(client)
        folder = tempfile.TemporaryDirectory(prefix="epsledger-units.")
        cls.addClassCleanup(folder.cleanup)
        cls.books, cls.clients = Books(), []
        cls.crashes, cls.told = folder.name, []  # what each kill left, and which charges were acknowledged by then
        cls.storm()
        with cls.server.client() as client:
            for budget, left in (("team", 10), ("people", 40), ("north", 25), ("south", 15)):
                cls.spend_until_left(client, budget, left)
        cls.ledgers = {root: UnitsTest.exported(cls.server, root) for root in cls.ROOTS}

    @classmethod
    def make_budgets(cls, client):
        client.create_budget(name="people", cap=cap(6, "RESIDUE", STEP), privacy_unit="person")
        client.create_budget(name="team", cap=cap(1.5, "PORTFOLIO"), privacy_unit="person", parent="people")
        client.create_budget(name="queries", cap=cap(0.5, "PORTFOLIO", QUERY), privacy_unit="person")
        client.call("BudgetService/CreateBudget", {"budgetId": "countries", "budget": {
            "cap": cap(4, "PORTFOLIO", STEP).message, "neighboringRelation": "ADD_OR_REMOVE_ONE",
            "privacyUnit": "person", "partition": {"function": "the country of a person"}}})
        client.create_budget(name="north", cap=cap(3, "RESIDUE"), privacy_unit="person", parent="countries")
        client.create_budget(name="south", cap=cap(2, "PORTFOLIO"), privacy_unit="person", parent="countries")

    @classmethod
    def session(cls, budget, name, retry=PATIENT, **options):
        client = cls.server.client(retry)
        cls.clients.append(client)
        cls.addClassCleanup(client.close)
        with cls.server.client() as patient:  # which opens it, while nothing is killed
            patient.open(session=name, budget=budget, delta=DELTA, **options)
        return client.open(session=name, budget=budget, delta=DELTA, **options)

    @classmethod
    def trainers(cls):
        batches = [(kind, cls.session(budget, "batches"), cls.clients[-1]) for budget, kind in
                   (("people", BatchTrainer), ("south", BatchTrainer), ("queries", FaintTrainer))]
        return [
            *(StepTrainer(cls.books, "%d %s" % (SEED, budget), cls.session(budget, "steps", HASTY))
              for budget in ("people", "team", "north", "countries")),
            *(kind(cls.books, "%d %s" % (SEED, session.name), [client], session.attempt)
              for kind, session, client in batches),
            LeaseTrainer(cls.books, SEED, cls.session("people", "leases")),
            PlanTrainer(cls.books, SEED, cls.session("people", "plan", HASTY, plan=[(STEP, 300)])),
            PlanTrainer(cls.books, SEED, cls.session("team", "mixed-plan", HASTY, plan=[(STEP, 150), (QUERY, 3)])),
        ]

    @classmethod
    def storm(cls):
        rng = random.Random(SEED)
        cls.all_trainers = cls.trainers()
        for trainer in cls.all_trainers:
            trainer.start()
        try:
            for _ in range(KILLS):
                cls.books.wait_for(rng.choice(cls.all_trainers), rng.randint(1, 12))
                threading.Event().wait(rng.uniform(0, 0.03))  # anywhere in what was begun
                cls.server.kill()
                acknowledged = set(cls.books.accepted)
                copy = os.path.join(cls.crashes, str(len(cls.told)))
                shutil.copytree(cls.server.data_dir, copy)
                cls.told.append(acknowledged)
                cls.server.start_again()
            for trainer in cls.all_trainers:
                cls.books.wait_for(trainer, 2)
        finally:
            for trainer in cls.all_trainers:
                trainer.stop()
            for trainer in cls.all_trainers:
                trainer.join(300)
        if cls.books.failures or any(trainer.is_alive() for trainer in cls.all_trainers):
            raise AssertionError("clients failed, or hang: %r" % cls.books.failures)

    @classmethod
    def spend_until_left(cls, client, budget, left):
        """Charges uses of the reference that fit, so that some more still fit and others do not."""
        session = client.open(session="the-rest", budget=budget, delta=DELTA)
        for at in range(1, 100):
            reference = client.budget(budget).cap.reference or STEP.to_json()
            fits = session.preview(reference, count=10**6).steps_that_fit  # one that is asked for fewer says fewer
            if fits <= left:
                return
            count = max(1, (fits - left) // 2)
            permit = session.charge(reference, count=count)
            key = session.name, int(session.attempt.rsplit("/", 1)[1]), "step-%d" % at
            cls.books.accepted[key], cls.books.sequences[key] = (reference, count), permit.sequence
        raise AssertionError("never %d units left of %s" % (left, budget))

    def test_every_outcome_that_a_client_was_told_is_in_the_ledger_and_nothing_else(self):
        accepted, refused = {}, {}
        for ledger in self.ledgers.values():
            accepted.update(ledger.accepted)
            refused.update(ledger.refused)
        print("accepted %d, refused %d, asked again %d times" % (len(accepted), len(refused), self.books.asked_again))
        both = collections.namedtuple("Both", "accepted refused")(accepted, refused)
        self.assert_is_as_told(both, self.books)
        self.assertGreater(len(accepted), 10 * KILLS // 2)
        leases, = (trainer for trainer in self.all_trainers if isinstance(trainer, LeaseTrainer))
        self.assertEqual(self.ledgers["people"].settled, leases.settled)
        self.assertEqual(self.ledgers["people"].granted, leases.settled.keys())
        self.assertGreater(self.books.asked_again, 0, "no outcome was unknown: this tried nothing")

    def test_what_a_kill_leaves_holds_every_acknowledged_charge_and_is_where_the_ledger_goes_on(self):
        lost_answers = 0
        for at, acknowledged in enumerate(self.told):
            found = set()
            for root, ledger in self.ledgers.items():
                file = os.path.join(self.crashes, "export-%d-%s" % (at, root))
                self.assert_ran(epsledgerd("ledger", "export", root, file, "--data-dir",
                                           os.path.join(self.crashes, str(at))))
                left = RecountedLedger(file)
                self.assertEqual(left.entries, ledger.entries[:len(left.entries)])
                found |= left.accepted.keys()
            self.assertLessEqual(acknowledged, found)
            lost_answers += len(found - acknowledged)
        print("%d charges were committed by a server that was killed before its client heard of it" % lost_answers)

    def test_the_units_spent_are_those_that_are_counted_again(self):
        with self.server.client() as client:
            for ledger in self.ledgers.values():
                self.assert_is_counted(ledger, client)
                for name, budget in ledger.budgets.items():
                    self.assertEqual(event_key(client.budget(name).cap.reference), event_key(budget.reference["event"]))
        # Every way to pay was tried: blocks, single uses, and by the rest of a portfolio.
        for ways in ("by_block", "by_singles", "without_units"):
            self.assertGreater(sum(getattr(ledger, ways) for ledger in self.ledgers.values()), 0, ways)
        queries = self.ledgers["queries"]
        self.assertEqual(as_shown(queries.spent("queries")[queries.budgets["queries"].units_cell]), float("inf"))

    def test_what_was_accepted_composes_within_every_cap(self):
        shares = {}
        for ledger in self.ledgers.values():
            shares.update(self.assert_composes_within_the_cap(ledger))
        # Nearly all units of these are spent, most of them on the reference: much less would be another history.
        for name in ("people", "team", "north"):
            self.assertGreater(shares[name, None], 0.7, shares)

    def test_every_price_is_proved_again(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "copy")
            self.copy_data(copy)
            self.assert_prices_are_proved(self.ledgers, "--data-dir", copy)

    def copy_data(self, to):
        """As kill -9 leaves it."""
        self.server.kill()
        try:
            shutil.copytree(self.server.data_dir, to)
        finally:
            self.server.start_again()

    # ---- the ledger moves

    def what_it_says(self, server, root):
        """The head, the budgets, and what the next charge of each kind would do."""
        previews = []
        with server.client() as client:
            for budget in self.ROOTS[root]:
                session = "budgets/%s/sessions/%s" % (budget, "batches" if budget in ("south", "queries") else "steps")
                for event in (*EVENTS, FAINT_QUERY):
                    previews.append(client.preview(budget=budget, event=event))
                    previews.append(epsledger.Preview.from_json(client.call("ChargeService/PreviewCharge", {
                        "session": session, "event": event.to_json(), "count": "30"})))
            budgets = [client.budget(name) for name in self.ROOTS[root]]
        head = json.loads(server.ctl("ledger", "head", root, "-o", "json"))
        head.pop("tag")  # of the server that gives it out
        return head, budgets, previews

    def charged_next(self, server, root):
        """What becomes of the next charges, one of each kind in turn, and of the budgets."""
        outcomes = []
        with server.client() as client:
            for budget in self.ROOTS[root]:
                attempt = client.open(session="next", budget=budget, delta=DELTA).attempt
                charges = [(event, count) for event in (*EVENTS, FAINT_QUERY) for count in (1, 30, 1)]
                answer = client.call("ChargeService/BatchCharge", {"attempt": attempt, "mode": "PER_ITEM", "items": [
                    {"chargeId": "next-%d" % at, "event": event.to_json(), "count": str(count)}
                    for at, (event, count) in enumerate(charges)]})
                for result in answer["results"]:
                    (outcome, charge), = result.items()
                    outcomes.append((outcome, charge["name"], charge["sequence"], charge.get("refusal")))
            return outcomes, [client.budget(name) for name in self.ROOTS[root]]

    def everywhere(self, ask, server):
        return {root: ask(server, root) for root in self.ROOTS}

    def test_the_ledger_says_and_does_the_same_in_every_place(self):
        said = self.everywhere(self.what_it_says, self.server)
        # So that comparing them means something.
        for root, (_, _, previews) in said.items():
            self.assertEqual({bool(preview) for preview in previews}, {True, False}, root)
        with tempfile.TemporaryDirectory(prefix="epsledger-units.") as folder, PostgresCluster() as cluster:
            copy, moved = (os.path.join(folder, name) for name in ("copy", "moved"))
            self.copy_data(copy)
            shutil.copytree(copy, moved)
            with Server(BUILD, place=["--data-dir", copy]) as server:
                self.assertEqual(self.everywhere(self.what_it_says, server), said)
                done = self.everywhere(self.charged_next, server)
                for outcomes, _ in done.values():
                    self.assertEqual({outcome for outcome, *_ in outcomes}, {"accepted", "refused"})
                self.assert_keeps_its_promise(server)

            database = cluster.connection_string(cluster.create_database())
            postgres = ["--postgres", database, "--postgres-without-standby"]
            migrate = ["ledger", "migrate", "--data-dir", moved, *postgres, "--to"]
            self.assert_ran(epsledgerd(*migrate, "postgres"))
            self.assert_prices_are_proved(self.ledgers, *postgres)
            with Server(BUILD, place=[*postgres, "--statement-key", os.path.join(moved, "statement.key")]) as server:
                self.assertEqual(self.everywhere(self.what_it_says, server), said)
            self.assert_ran(epsledgerd(*migrate, "sqlite"))
            with Server(BUILD, place=["--data-dir", moved]) as server:
                self.assertEqual(self.everywhere(self.what_it_says, server), said)
                self.assertEqual(self.everywhere(self.charged_next, server), done)

            for root in self.ROOTS:
                file, imported = os.path.join(folder, root + ".ledger"), os.path.join(folder, "imported-" + root)
                self.server.ctl("ledger", "export", root, file)
                self.assert_ran(epsledgerd("ledger", "import", file, "--data-dir", imported))
                with Server(BUILD, place=["--data-dir", imported]) as server:
                    self.assertEqual(self.what_it_says(server, root), said[root])
                    self.assertEqual(self.charged_next(server, root), done[root])
            # What was charged there is not here.
            self.assertEqual(self.everywhere(self.what_it_says, self.server), said)

    def assert_keeps_its_promise(self, server):
        with server.client() as client:
            for root in self.ROOTS:
                ledger = self.exported(server, root)
                self.assert_is_counted(ledger, client)
                self.assert_composes_within_the_cap(ledger)


class OneBatch(UnitsTest):
    """A server whose clients do nothing else."""

    def test_a_batch_whose_price_rises_many_times_is_decided(self):
        with Server(BUILD) as server, server.client(HASTY) as client:
            for mode, decided in (("PER_ITEM", {"accepted", "refused"}), ("ALL_OR_NOTHING", {"refused"})):
                root = mode.lower().replace("_", "-")
                client.create_budget(name=root, cap=cap(2, "RESIDUE", sampled(0.05, 2)), privacy_unit="person")
                session = client.open(session="run", budget=root, delta=DELTA)
                event = sampled(0.1, 2).to_json()
                # Some 5 units each of 320: each fortieth part of the units has a price of its own.
                answer = client.call("ChargeService/BatchCharge", {"attempt": session.attempt, "mode": mode, "items": [
                    {"chargeId": "item-%d" % at, "event": event, "count": "1"} for at in range(100)]})
                self.assertEqual({outcome for result in answer["results"] for outcome in result}, decided)
                ledger = self.exported(server, root)
                self.assertEqual(len(ledger.accepted) + len(ledger.refused), 100)
                self.assert_is_counted(ledger, client)


class ManyServers(UnitsTest):
    """Three servers on one database."""

    FILTERS = ("RESIDUE", "PORTFOLIO", "RESIDUE")

    def setUp(self):
        self.cluster = PostgresCluster()
        self.addCleanup(self.cluster.close)
        folder = tempfile.TemporaryDirectory(prefix="epsledger-units.")
        self.addCleanup(folder.cleanup)
        self.place = ["--postgres", self.cluster.connection_string(self.cluster.create_database()),
                      "--postgres-without-standby"]
        self.servers = []
        for _ in range(3):
            server = Server(BUILD, place=[*self.place, "--statement-key", os.path.join(folder.name, "key")])
            server.__enter__()
            self.addCleanup(server.__exit__)
            self.servers.append(server)
        self.clients = [server.client() for server in self.servers]
        for client in self.clients:
            self.addCleanup(client.close)

    def test_first_charges_at_once_make_one_reference(self):
        events = [STEP, OTHER_STEP, SMALL_STEP]
        ledgers_of = {}
        for race, filter in enumerate(self.FILTERS):
            name = "race-%d" % race
            self.clients[0].create_budget(name=name, cap=cap(2, filter), privacy_unit="person")
            sessions = [client.open(session="s%d" % at, budget=name, delta=DELTA)
                        for at, client in enumerate(self.clients)]
            barrier, books = threading.Barrier(3), Books()

            def first(session, event):
                try:
                    barrier.wait(60)
                    permit = session.charge(event, count=3)
                    key = session.name, 1, "step-1"
                    books.accepted[key], books.sequences[key] = (event.to_json(), 3), permit.sequence
                except BaseException as error:  # pylint: disable=broad-except
                    books.fail(error)

            threads = [threading.Thread(target=first, args=pair, daemon=True) for pair in zip(sessions, events)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(300)
            self.assertEqual(books.failures, [])
            ledgers = [self.exported(server, name) for server in self.servers]
            self.assertEqual([ledger.entries for ledger in ledgers], [ledgers[0].entries] * 3)
            fixed = [fields for _, _, kind, fields in ledgers[0].entries if kind == "ReferenceFixed"]
            self.assertEqual(len(fixed), 1)
            # It is that of the charge that came first.
            (winner, _, _, _) = min(ledgers[0].accepted.values(), key=lambda charge: charge[2])
            self.assertEqual(event_key(fixed[0]["event"]), event_key(winner))
            self.assert_is_as_told(ledgers[0], books)
            for client in self.clients:
                self.assertEqual(event_key(client.budget(name).cap.reference), event_key(winner))
                self.assert_is_counted(ledgers[0], client)
            ledgers_of[name] = ledgers[0]
        for server in self.servers:
            server.stop()
        self.assert_prices_are_proved(ledgers_of, *self.place)

    def test_everybody_charges_through_three_servers_of_which_one_is_killed(self):
        books, rng = Books(), random.Random(SEED)
        admin = self.clients[0]
        admin.create_budget(name="people", cap=cap(4, "RESIDUE"), privacy_unit="person")
        admin.create_budget(name="team", cap=cap(2, "PORTFOLIO"), privacy_unit="person", parent="people")
        trainers = []
        for at in range(6):
            opened = admin.open(session="t%d" % at, budget=("people", "team")[at % 2], delta=DELTA)
            clients = [server.client(HASTY) for server in self.servers]
            for client in clients:
                self.addCleanup(client.close)
            clients = clients[at % 3:] + clients[:at % 3]
            trainers.append(BatchTrainer(books, "%d %d" % (SEED, at), clients, opened.attempt))
        for trainer in trainers:
            trainer.start()
        try:
            for _ in range(max(1, KILLS // 6)):
                books.wait_for(rng.choice(trainers), rng.randint(3, 12))
                threading.Event().wait(rng.uniform(0, 0.03))
                killed = rng.choice(self.servers)
                killed.kill()
                for trainer in trainers:
                    books.wait_for(trainer, 2)  # the others go on
                killed.start_again()
            for trainer in trainers:
                books.wait_for(trainer, 2)
        finally:
            for trainer in trainers:
                trainer.stop()
            for trainer in trainers:
                trainer.join(300)
        self.assertEqual(books.failures, [])
        self.assertFalse(any(trainer.is_alive() for trainer in trainers))
        self.assertGreater(books.asked_again, 0)
        ledgers = [self.exported(server, "people") for server in self.servers]
        self.assertEqual([ledger.entries for ledger in ledgers], [ledgers[0].entries] * 3)
        self.assert_is_as_told(ledgers[0], books)
        for client in self.clients:
            self.assert_is_counted(ledgers[0], client)
        self.assert_composes_within_the_cap(ledgers[0])
        for server in self.servers:
            server.stop()
        self.assert_prices_are_proved({"people": ledgers[0]}, *self.place)


if __name__ == "__main__":
    logging.getLogger("epsledger").setLevel(logging.ERROR)  # of those that are killed on purpose
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
