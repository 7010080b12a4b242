"""epsledger.testing: a server for other people's tests."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import epsledger
from epsledger.testing import LocalServer
from killable_ledger import BUILD
from ledger_case import CAP, STEP
from package_folder import PACKAGE

EPSLEDGERD = os.path.join(BUILD, "server", "epsledgerd")


class Testing(unittest.TestCase):
    def test_a_server_is_empty_is_real_and_is_gone_after_its_block(self):
        with LocalServer(program=EPSLEDGERD) as server:
            with server.connect() as client:
                self.assertEqual(client.budgets(), [])
                client.create_budget(name="b", cap=CAP, privacy_unit="person")
                with client.open(session="s", budget="b", delta=1e-5).step(STEP):
                    pass
            address = server.address
        self.assertEqual(server.address, "")
        with epsledger.connect(address=address, retry=epsledger.Retry(max_tries=1)) as client:
            with self.assertRaises(epsledger.Unavailable):
                client.budgets()
        with LocalServer(program=EPSLEDGERD) as server, server.connect() as client:
            self.assertEqual(client.budgets(), [])

    def test_two_servers_are_two_ledgers(self):
        with LocalServer(program=EPSLEDGERD) as one, LocalServer(program=EPSLEDGERD) as other:
            with one.connect() as client:
                client.create_budget(name="b", cap=CAP, privacy_unit="person")
            with other.connect() as client:
                self.assertEqual(client.budgets(), [])

    def test_a_program_that_is_not_there_or_does_not_start_is_said(self):
        with mock.patch.dict(os.environ, {"PATH": "", "EPSLEDGER_EPSLEDGERD": ""}):
            with self.assertRaisesRegex(FileNotFoundError, "epsledgerd: got None, want"):
                LocalServer()
        with self.assertRaisesRegex(epsledger.EpsledgerError, "did not start: .*--no-such-flag"):
            with LocalServer(program=EPSLEDGERD, flags=["--no-such-flag"]):
                pass

    @unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
    def test_pytest_has_the_fixture(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "conftest.py"), "w", encoding="utf-8") as stream:
                stream.write('pytest_plugins = ["epsledger.testing"]\n')
            with open(os.path.join(folder, "test_it.py"), "w", encoding="utf-8") as stream:
                stream.write("def test_it(epsledger_server):\n    assert epsledger_server.connect().budgets() == []\n")
            run = subprocess.run(
                [sys.executable, "-B", "-m", "pytest", "-q", folder], capture_output=True, text=True, timeout=120,
                env={**os.environ, "PYTHONPATH": PACKAGE, "EPSLEDGER_EPSLEDGERD": EPSLEDGERD})
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
