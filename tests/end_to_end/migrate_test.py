#!/usr/bin/env python3
"""migrate_test.py BUILD: `epsledgerd ledger migrate` from a data directory to PostgreSQL and back, as an operator
does it, and killed on the way."""
import base64
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from postgres_cluster import PostgresCluster
from served_ledger import ServedLedger

# More entries than two transactions of a migration.
BATCHES = 21
ITEMS = 1000
CHARGE = {"pureDp": {"epsilon": 1e-6}}
# Where a migration is killed: the number says at which passing. In this order the fourth leaves 10,000 entries behind,
# the fifth 20,000, and the last all of them.
POINTS = ["begin.before:1", "append.before:1", "commit.before:1", "append.before:10500", "commit.after:1",
          "commit.before:1", "commit.after:1"]
BUILD = None


class Migration(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = PostgresCluster()
        cls.cluster.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__(None, None, None)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="epsledger-migrate.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.data_dir = os.path.join(self.folder, "data")
        self.database = self.cluster.create_database()
        self.postgres = ["--postgres", self.cluster.connection_string(self.database), "--postgres-without-standby"]
        self.on_postgres = [*self.postgres, "--statement-key", os.path.join(self.data_dir, "statement.key")]

    def served(self, *place):
        return ServedLedger(BUILD, place=place)

    def epsledgerd(self, *arguments, failpoint=None):
        environment = dict(os.environ)
        if failpoint:
            environment["EPSLEDGERD_FAILPOINT"] = failpoint
        return subprocess.run([os.path.join(BUILD, "server", "epsledgerd"), *arguments], capture_output=True,
                              text=True, timeout=300, env=environment)

    def migrate(self, to, failpoint=None):
        return self.epsledgerd("ledger", "migrate", "--data-dir", self.data_dir, *self.postgres, "--to", to,
                               failpoint=failpoint)

    def heads(self, server):
        """What clients see of the ledger: the lines of `epsctl ledger head`, which hold hash and Merkle root."""
        return [server.head_of(budget) for budget in ("people", "old", "many")]

    def fill(self, server):
        server.spend()
        relation = ("--relation", "add-or-remove-one")
        server.ctl("budget", "create", "many", "--pure-epsilon", "1", *relation, "--privacy-unit", "person")
        server.ctl("session", "create", "many/run", *relation, "--no-own-cap")
        server.ctl("charge", "create", "many/run", "--open-attempt", "--charge-id", "first", "--pure-dp", "1e-6")
        for batch in range(BATCHES):
            self.charge_batch(server, "batch-%d" % batch)

    def charge_batch(self, server, name):
        answer = server.post("ChargeService/BatchCharge", {
            "attempt": "budgets/many/sessions/run/attempts/1", "mode": "PER_ITEM",
            "items": [{"chargeId": "%s-%d" % (name, item), "event": CHARGE, "count": "1"} for item in range(ITEMS)]})
        self.assertEqual([list(result) for result in answer["results"]], [["accepted"]] * ITEMS)

    def assert_refused(self, run, *words):
        self.assertNotEqual(run.returncode, 0, run.stdout)
        for word in words:
            self.assertIn(word, run.stderr)

    def migrate_and_be_killed(self, to):
        for point in POINTS:
            killed = self.migrate(to, failpoint=point)
            self.assertEqual(killed.returncode, -signal.SIGKILL, "%s: %s" % (point, killed.stderr))
            yield point

    def test_there_and_back_killed_on_the_way(self):
        with self.served("--data-dir", self.data_dir) as server:
            self.fill(server)
            heads = self.heads(server)
            held = self.migrate("postgres")
        self.assert_refused(held, "another process holds this ledger")

        for point in self.migrate_and_be_killed("postgres"):
            # Half a ledger takes no charges, whatever came of it.
            server = self.epsledgerd(*self.on_postgres, "--listen", "127.0.0.1:0")
            self.assert_refused(server, "has not brought all of the ledgers")
        done = self.migrate("postgres")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("budgets/many: ", done.stdout)
        self.assertIn(heads[2]["hash"], self.hashes(done.stdout))
        # The source is retired.
        self.assert_refused(self.epsledgerd("--data-dir", self.data_dir), "moved to PostgreSQL")
        self.assert_refused(self.migrate("postgres"), "moved already")

        with self.served(*self.on_postgres) as server:
            self.assertEqual(self.heads(server), heads)
            self.charge_batch(server, "batch-0")  # its keys are known: the same outcomes
            self.assertEqual(self.heads(server), heads)
            self.charge_batch(server, "on-postgres")
            heads = self.heads(server)
            # The first moment of a migration stops servers that run.
            next(self.migrate_and_be_killed("sqlite"))
            first = self.migrate("sqlite", failpoint="commit.before:1")
            self.assertEqual(first.returncode, -signal.SIGKILL, first.stderr)
            refused = server.ctl("charge", "create", "many/run", "--attempt", "1", "--charge-id", "late", "--pure-dp",
                                 "1e-6", "--timeout", "2", expect=4)
            self.assertEqual(refused, "")
        self.verify(*self.postgres[:2])
        for point in self.migrate_and_be_killed("sqlite"):
            self.assert_refused(self.epsledgerd(*self.on_postgres, "--listen", "127.0.0.1:0"), "have been moved")
            # An empty ledger here would give every budget anew.
            self.assert_refused(self.epsledgerd("--data-dir", self.data_dir), "has not brought all")
        done = self.migrate("sqlite")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_refused(self.epsledgerd(*self.on_postgres), "have been moved")
        with self.served("--data-dir", self.data_dir) as server:
            self.assertEqual(self.heads(server), heads)
            self.charge_batch(server, "on-postgres")
            self.assertEqual(self.heads(server), heads)
            self.charge_batch(server, "back")
        self.verify("--data-dir", self.data_dir)

    def verify(self, *place):
        verified = self.epsledgerd("ledger", "verify", *place)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        self.assertIn("budgets/many: verified", verified.stdout)

    def hashes(self, text):
        """The hashes of the report as base64: that is how the protocol writes bytes."""
        return [base64.b64encode(bytes.fromhex(digits)).decode() for digits in re.findall("head ([0-9a-f]{64})", text)]

    def test_a_crash_between_retiring_the_source_and_opening_the_database(self):
        with self.served("--data-dir", self.data_dir) as server:
            server.spend()
            head = server.head_of("people")
        self.assertEqual(self.migrate("postgres").returncode, 0)
        self.cluster.sql("UPDATE epsledger SET phase = 'receiving'", database=self.database)
        again = self.migrate("postgres")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn(" 0 of them now", again.stdout)
        with self.served(*self.on_postgres) as server:
            self.assertEqual(server.head_of("people"), head)

    def test_a_migration_to_a_folder_can_be_taken_back(self):
        with self.served("--data-dir", self.data_dir) as server:
            server.spend()
            head = server.head_of("people")
        self.assertEqual(self.migrate("postgres").returncode, 0)
        killed = self.migrate("sqlite", failpoint="commit.before:1")
        self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stderr)
        back = self.migrate("postgres")
        self.assertEqual(back.returncode, 0, back.stderr)
        with self.served(*self.on_postgres) as server:
            self.assertEqual(server.head_of("people"), head)

    def test_what_cannot_be_moved(self):
        self.assert_refused(self.migrate("postgres"), "there is no ledger to move")
        self.assert_refused(self.migrate("sqlite"), "there is no ledger to move")
        with self.served("--data-dir", self.data_dir) as server:
            server.spend()
        with self.served(*self.on_postgres) as server:
            server.spend()
        # Two ledgers of the same names: neither is overwritten.
        self.assert_refused(self.migrate("postgres"), "want an empty database")
        self.assert_refused(self.migrate("sqlite"), "want a folder without one")
        for place in (self.on_postgres, ("--data-dir", self.data_dir)):
            with self.served(*place) as server:
                server.ctl("budget", "get", "people")

    def test_nothing_is_written_beside_ledgers_of_another_source(self):
        with self.served("--data-dir", self.data_dir) as server:
            server.spend()
        killed = self.migrate("postgres", failpoint="commit.after:1")
        self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stderr)
        other = os.path.join(self.folder, "other")
        with self.served("--data-dir", other) as server:
            server.ctl("budget", "create", "mine", "--rho", "1", "--relation", "add-or-remove-one",
                       "--privacy-unit", "person")
        mixed = self.epsledgerd("ledger", "migrate", "--data-dir", other, *self.postgres, "--to", "postgres")
        self.assert_refused(mixed, "holds another ledger")
        self.assertEqual(self.cluster.sql("SELECT count(*) FROM ledgers WHERE root_budget = 'mine'",
                                          database=self.database).strip(), "0")
        # The right source still comes to its end.
        done = self.migrate("postgres")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
