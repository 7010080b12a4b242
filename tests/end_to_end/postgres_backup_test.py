#!/usr/bin/env python3
"""postgres_backup_test.py BUILD: the backup of a PostgreSQL as docker/OPERATIONS.md has it, taken while a server goes on,
and restored as the ordinary user that owns the ledger's database."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from postgres_cluster import PostgresCluster, PostgresError, run
from served_ledger import ServedLedger

BUILD = None
CHARGE = ("--attempt", "1", "--gaussian", "1.1", "--sampling-probability", "0.01")


class PostgresBackup(unittest.TestCase):
    def setUp(self):
        self.cluster = PostgresCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.sql("CREATE ROLE keeper LOGIN")
        folder = tempfile.TemporaryDirectory(prefix="epsledger-keys.")
        self.addCleanup(folder.cleanup)
        self.key = os.path.join(folder.name, "statement.key")

    def create_database(self, name):
        self.cluster.sql("CREATE DATABASE %s OWNER keeper" % name)
        return "host=127.0.0.1 port=%d user=keeper dbname=%s" % (self.cluster.port, name)

    def served(self, conninfo):
        return ServedLedger(BUILD, place=["--postgres", conninfo, "--postgres-without-standby", "--statement-key", self.key])

    def public_key(self, server):
        return json.loads(server.ctl("-o", "json", "server", "info"))["statementPublicKey"]

    def verified(self, conninfo):
        """The heads of all ledgers, as `ledger verify` prints them after replaying them."""
        done = subprocess.run([os.path.join(BUILD, "server", "epsledgerd"), "ledger", "verify", "--postgres", conninfo],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("budgets/people: verified", done.stdout)
        return done.stdout

    def test_a_dump_beside_a_server_is_the_ledger_of_its_moment_and_goes_on(self):
        source = self.create_database("ledger")
        dump = os.path.join(self.cluster.folder, "ledger.dump")
        with self.served(source) as server:
            server.spend()
            head = server.head_of("people")
            heads = self.verified(source)
            run("pg_dump", "--format=custom", "--file=" + dump, "--dbname=" + source, folder=self.cluster.folder)
            server.ctl("charge", "create", "people/first-run", "--charge-id", "after-the-dump", *CHARGE)
            key = self.public_key(server)
        self.assertNotEqual(self.verified(source), heads)

        restored = self.create_database("restored")
        run("pg_restore", "--exit-on-error", "--dbname=" + restored, dump, folder=self.cluster.folder)
        self.assertEqual(self.verified(restored), heads)
        # What the schema took away from its own user has not come back.
        for table in ("entries", "charges", "budgets", "charge_blocks"):
            with self.assertRaisesRegex(PostgresError, "permission denied for table " + table):
                self.cluster.sql("SET ROLE keeper; DELETE FROM " + table, "restored")
        with self.served(restored) as server:
            self.assertEqual(server.head_of("people"), head)
            # The charge that the copy has forgotten is made again, and once.
            for _ in range(2):
                server.ctl("charge", "create", "people/first-run", "--charge-id", "after-the-dump", *CHARGE)
            self.assertEqual(self.public_key(server), key)
        self.assertEqual(self.verified(restored).count("\n"), heads.count("\n"))

    def test_a_half_restored_ledger_takes_no_charges(self):
        source = self.create_database("ledger")
        dump = os.path.join(self.cluster.folder, "ledger.dump")
        with self.served(source) as server:
            server.spend()
        run("pg_dump", "--format=custom", "--file=" + dump, "--dbname=" + source, folder=self.cluster.folder)
        restored = self.create_database("restored")
        # As if one table had come back in part.
        run("pg_restore", "--exit-on-error", "--dbname=" + restored, dump, folder=self.cluster.folder)
        self.cluster.sql("DELETE FROM entries WHERE sequence > 2", "restored")
        with self.served(restored) as server:
            with self.assertRaisesRegex(AssertionError, "DATA_LOSS"):
                server.ctl("--timeout", "5", "charge", "create", "people/first-run", "--charge-id", "late", *CHARGE)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
