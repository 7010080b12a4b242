"""A server that is started while its PostgreSQL is away waits for it and says so: await_database_test.py BUILD_DIR"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from postgres_cluster import PostgresCluster
from served_ledger import HeldPort

PATIENCE_SECONDS = 60


class AwaitDatabaseTest(unittest.TestCase):
    build = None

    def setUp(self):
        self.cluster = PostgresCluster()
        self.addCleanup(self.cluster.close)
        folder = tempfile.TemporaryDirectory(prefix="epsledger-await.")
        self.addCleanup(folder.cleanup)
        self.ports = [HeldPort(), HeldPort()]
        for port in self.ports:
            self.addCleanup(port.close)
        self.log = os.path.join(folder.name, "log")
        self.key = os.path.join(folder.name, "statement.key")

    def start(self):
        with open(self.log, "wb") as log:
            process = subprocess.Popen(
                [os.path.join(self.build, "server", "epsledgerd"), "--postgres", self.cluster.connection_string(),
                 "--postgres-without-standby", "--statement-key", self.key, "--listen", self.ports[0].address, "--http-listen",
                 self.ports[1].address], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def get(self, path):
        """(status, body), or (0, why not)."""
        try:
            with urllib.request.urlopen("http://%s%s" % (self.ports[1].address, path), timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def until(self, wanted):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            status, body = self.get("/readyz")
            if wanted(status, body):
                return
            self.assertLess(time.monotonic(), deadline, "%d %s" % (status, body))
            time.sleep(0.05)

    def test_it_waits_says_so_and_serves_when_the_database_is_there(self):
        self.cluster.stop()
        process = self.start()
        self.until(lambda status, body: status == 503 and "waiting for the database" in body)
        self.assertEqual(self.get("/healthz"), (200, "ok\n"))
        self.assertEqual(self.get("/v1/server")[0], 503)
        self.assertIsNone(process.poll())
        self.cluster.restart()
        self.until(lambda status, body: (status, body) == (200, "ready\n"))
        self.assertEqual(self.get("/v1/server")[0], 200)
        with open(self.log, encoding="utf-8") as log:
            said = log.read()
        self.assertEqual(said.count("waiting for the database"), 1, said)

    def test_it_can_be_stopped_while_it_waits(self):
        self.cluster.stop()
        process = self.start()
        self.until(lambda status, body: status == 503)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 0)

    def test_what_does_not_pass_by_itself_ends_it(self):
        self.cluster.configure({"fsync": "off"})
        process = self.start()
        self.assertEqual(process.wait(PATIENCE_SECONDS), 1)
        with open(self.log, encoding="utf-8") as log:
            self.assertIn("fsync", log.read())


if __name__ == "__main__":
    AwaitDatabaseTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
