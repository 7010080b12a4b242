"""The files of a ledger that are moved, replaced or removed under a server that serves from them: moved_files_test.py BUILD_DIR

What was acknowledged is in the files that the server has open. While a name leads elsewhere nothing is acknowledged, and
when it leads back the server goes on by itself.
"""
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

from served_ledger import ServedLedger

PATIENCE_SECONDS = 60


class MovedFilesTest(unittest.TestCase):
    build = None

    def setUp(self):
        self.server = ServedLedger(self.build)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.server.ctl("budget", "create", "people", "--pure-epsilon", "10", "--relation", "add-or-remove-one",
                        "--privacy-unit", "person")
        self.server.ctl("session", "create", "people/run", "--relation", "add-or-remove-one", "--no-own-cap")
        self.server.ctl("charge", "create", "people/run", "--open-attempt", "--charge-id", "first", "--pure-dp", "0.001")
        self.database = os.path.join(self.server.data_dir, "ledger.sqlite")
        self.aside = os.path.join(self.server._folder.name, "aside")

    def charge(self, name, timeout="30"):
        """(exit code, what it says)"""
        done = subprocess.run([self.server.epsctl, "--server", self.server.grpc, "--timeout", timeout, "charge", "create",
                               "people/run", "--attempt", "1", "--charge-id", name, "--pure-dp", "0.001"],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        return done.returncode, done.stderr

    def why_not_serving(self):
        return json.loads(self.server.ctl("-o", "json", "server", "info")).get("notServingReason", "")

    def charges(self):
        lines = self.server.ctl("-o", "jsonl", "charge", "list", "people/run").splitlines()
        return [json.loads(line)["name"].rsplit("/", 1)[-1] for line in lines]

    def is_away_and_comes_back(self, away, back, reason):
        self.assertEqual(self.charge("before")[0], 0)
        away()
        code, said = self.charge("while-away", "1")
        self.assertNotIn(code, (0, 3), said)
        self.assertIn(reason, self.why_not_serving())
        self.assertEqual(self.charges()[:2], ["first", "before"])  # reading goes on
        self.assertNotEqual(self.charge("refused", "1")[0], 0)
        back()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.why_not_serving():
            self.assertLess(time.monotonic(), deadline, self.why_not_serving())
            time.sleep(0.05)
        # Unknown is known again, and nothing is charged twice.
        for name in ("while-away", "after"):
            self.assertEqual(self.charge(name)[0], 0)
        self.assertEqual(sorted(self.charges()), ["after", "before", "first", "while-away"])
        self.server.kill()
        self.server.start_again()
        self.assertEqual(sorted(self.charges()), ["after", "before", "first", "while-away"])
        info = json.loads(self.server.ctl("-o", "json", "server", "info"))
        self.assertEqual(len(info["incarnations"]), 1)

    def moved(self, name):
        path = os.path.join(self.server.data_dir, name)
        self.is_away_and_comes_back(lambda: os.rename(path, self.aside), lambda: os.rename(self.aside, path),
                                    "was moved, replaced or removed")

    def test_a_database_that_is_moved_away(self):
        self.moved("ledger.sqlite")

    def test_a_log_that_is_moved_away(self):
        self.moved("ledger.sqlite-wal")

    def test_an_anchor_that_is_moved_away(self):
        self.moved("ledger.sqlite-anchor")

    def test_a_folder_that_is_moved_away(self):
        data = self.server.data_dir
        self.is_away_and_comes_back(lambda: os.rename(data, self.aside), lambda: os.rename(self.aside, data),
                                    "was moved, replaced or removed")

    def test_a_database_that_is_replaced_by_a_copy_of_itself(self):
        def replace():
            shutil.copy(self.database, self.aside + ".copy")
            os.rename(self.database, self.aside)
            os.rename(self.aside + ".copy", self.database)
        self.is_away_and_comes_back(replace, lambda: os.replace(self.aside, self.database), "was moved, replaced or removed")

    def test_nobody_serves_from_the_folder_meanwhile(self):
        for away in (False, True):
            if away:
                os.rename(self.database, self.aside)
            done = subprocess.run([self.server.epsledgerd, "--data-dir", self.server.data_dir, "--listen", "127.0.0.1:0"],
                                  capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn("holds this folder", done.stderr)


if __name__ == "__main__":
    MovedFilesTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
