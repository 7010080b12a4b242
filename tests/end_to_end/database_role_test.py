#!/usr/bin/env python3
"""database_role_test.py BUILD: the role and the database that docker/postgres/role.sh makes for servers, with a password
of docker/secrets.sh: a server starts and charges as that role, and the database refuses it to change what is written."""
import os
import subprocess
import sys
import tempfile
import unittest

from postgres_cluster import PostgresCluster, PostgresError, environment, programs
from served_ledger import ServedLedger

BUILD = None
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
APPEND_ONLY = ("budgets", "entries", "charges", "charge_blocks")
WARNING = "logs in as a superuser"


class DatabaseRole(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="epsledger-role.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        subprocess.run([os.path.join(ROOT, "docker", "secrets.sh"), self.folder], check=True, stdout=subprocess.DEVNULL)
        self.password = os.path.join(self.folder, "epsledger-password")
        self.cluster = PostgresCluster({"log_statement": "all"})
        self.addCleanup(self.cluster.close)

    def make_role(self, password):
        return subprocess.run(
            [os.path.join(ROOT, "docker", "postgres", "role.sh")], capture_output=True, text=True, timeout=60,
            env=dict(environment(), PATH=programs() + ":" + os.environ["PATH"], PGHOST="127.0.0.1",
                     PGPORT=str(self.cluster.port), POSTGRES_USER="postgres", EPSLEDGER_PASSWORD_FILE=password))

    def ask_for_passwords(self):
        """The role needs its password, as the image demands of everybody from another machine."""
        rules = os.path.join(self.cluster.data_folder, "pg_hba.conf")
        with open(rules, encoding="utf-8") as stream:
            others = stream.read()
        with open(rules, "w", encoding="utf-8") as stream:
            stream.write("host all epsledger 127.0.0.1/32 scram-sha-256\n" + others)
        self.cluster.configure({})

    def served(self, user, password):
        place = "host=127.0.0.1 port=%d user=%s dbname=epsledger" % (self.cluster.port, user)
        return ServedLedger(BUILD, place=["--postgres", place, "--postgres-password-file", password,
                                          "--postgres-without-standby",
                                          "--statement-key", os.path.join(self.folder, "statement.key")])

    @staticmethod
    def log_of(server):
        with open(server.log, encoding="utf-8") as stream:
            return stream.read()

    def test_a_server_works_as_a_role_that_cannot_change_what_is_written(self):
        made = self.make_role(self.password)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(self.cluster.sql("SELECT rolcanlogin, rolsuper, rolcreatedb, rolcreaterole, rolreplication,"
                                          " rolbypassrls FROM pg_roles WHERE rolname = 'epsledger'"), "t|f|f|f|f|f")
        self.assertEqual(self.cluster.sql("SELECT pg_get_userbyid(datdba) FROM pg_database"
                                          " WHERE datname = 'epsledger'"), "epsledger")
        with open(self.password, encoding="ascii") as stream:
            self.assertNotIn(stream.read().strip(), self.cluster.log())
        self.ask_for_passwords()
        with self.assertRaisesRegex(RuntimeError, "password authentication failed"):
            with self.served("epsledger", os.path.join(self.folder, "postgres-password")):
                pass
        with self.served("epsledger", self.password) as server:
            server.spend()
            self.assertIn("serving on", self.log_of(server))
            self.assertNotIn(WARNING, self.log_of(server))
        self.assertNotEqual(self.cluster.sql("SELECT count(*) FROM entries", "epsledger"), "0")
        for table in APPEND_ONLY:
            for change in ("UPDATE %s SET ledger_id = 1", "DELETE FROM %s", "TRUNCATE %s"):
                with self.assertRaisesRegex(PostgresError, "permission denied for table " + table):
                    self.cluster.sql("SET ROLE epsledger; " + change % table, "epsledger")
        for more in ("CREATE DATABASE other", "CREATE ROLE other", "ALTER ROLE epsledger SUPERUSER",
                     "ALTER SYSTEM SET fsync = off"):
            with self.assertRaisesRegex(PostgresError, "permission denied|must be superuser"):
                self.cluster.sql("SET ROLE epsledger; " + more, "epsledger")

    def test_a_superuser_is_warned_of_once(self):
        self.assertEqual(self.make_role(self.password).returncode, 0)
        with self.served("postgres", self.password) as server:
            server.ctl("server", "info")
            self.assertEqual(self.log_of(server).count(WARNING), 1)

    def test_without_a_password_no_role_is_made(self):
        empty = os.path.join(self.folder, "empty")
        with open(empty, "w", encoding="ascii") as stream:
            stream.write("\n")
        for password in (empty, os.path.join(self.folder, "missing")):
            made = self.make_role(password)
            self.assertEqual(made.returncode, 1)
            self.assertIn("is missing, or its first line is empty", made.stderr)
        self.assertEqual(self.cluster.sql("SELECT count(*) FROM pg_roles WHERE rolname = 'epsledger'"), "0")
        # One that is made twice fails, and its password is not in the log.
        self.assertEqual([self.make_role(self.password).returncode == 0 for _ in range(2)], [True, False])
        with open(self.password, encoding="ascii") as stream:
            self.assertNotIn(stream.read().strip(), self.cluster.log())


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
