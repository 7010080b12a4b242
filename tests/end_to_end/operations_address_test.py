"""--operations-listen: metrics of all tenants for operators, and nothing else: operations_address_test.py BUILD_DIR"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

from served_ledger import HeldPort, ServedLedger


class OperationsAddressTest(unittest.TestCase):
    build = None

    def get(self, address, target):
        try:
            with urllib.request.urlopen("http://%s%s" % (address, target), timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def test_operators_see_all_tenants_there_and_strangers_nothing_elsewhere(self):
        port = HeldPort()
        try:
            with ServedLedger(self.build, flags=["--operations-listen", port.address, "--require-tokens"]) as server:
                self.assertEqual(self.get(server.http, "/metrics")[0], 401)
                self.assertEqual(self.get(server.http, "/healthz")[0], 200)
                status, text = self.get(port.address, "/metrics")
                self.assertEqual(status, 200)
                self.assertIn("epsledger_budgets 0\n", text)
                self.assertIn("epsledger_commands_in_flight 0\n", text)
                for target in ("/healthz", "/readyz"):
                    self.assertEqual(self.get(port.address, target)[0], 200, target)
                for target in ("/", "/v1/budgets", "/openapi.json", "/epsledger.v1.BudgetService/ListBudgets"):
                    self.assertEqual(self.get(port.address, target)[0], 404, target)
        finally:
            port.close()

    def test_plaintext_for_others_is_refused(self):
        run = subprocess.run(
            [os.path.join(self.build, "server", "epsledgerd"), "--data-dir", "/nonexistent/epsledger", "--listen",
             "127.0.0.1:0", "--operations-listen", "0.0.0.0:0"], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertIn("--operations-listen: 0.0.0.0:0 can be reached by others and would speak plaintext", run.stderr)

    def test_the_log_says_every_address(self):
        with tempfile.TemporaryDirectory(prefix="epsledger-addresses.") as folder:
            for http, logged in (("127.0.0.1:0", True), ("none", False), (None, False)):
                server = subprocess.Popen(
                    [os.path.join(self.build, "server", "epsledgerd"), "--data-dir", os.path.join(folder, "data"),
                     "--listen", "127.0.0.1:0", "--operations-listen", "127.0.0.1:0",
                     *(("--http-listen", http) if http else ())], stderr=subprocess.PIPE, text=True)
                said = ""
                for line in server.stderr:
                    said += line
                    if "serving on" in line:
                        break
                server.terminate()
                server.communicate()
                self.assertRegex(said, r"serving on 127\.0\.0\.1:\d+ from")
                self.assertRegex(said, r"for operators: http://127\.0\.0\.1:\d+/metrics\n")
                dashboard = re.search(r"dashboard and HTTP API: http://127\.0\.0\.1:\d+/\n", said)
                self.assertEqual(dashboard is not None, logged, said)

    def test_the_version_is_told(self):
        run = subprocess.run([os.path.join(self.build, "server", "epsledgerd"), "--version"], capture_output=True,
                             text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertRegex(run.stdout, r"\Aepsledgerd \d+\.\d+\.\d+ \(API epsledger\.v1\)\n\Z")

    def test_an_address_of_nothing_is_named(self):
        for flag in ("--listen", "--http-listen", "--operations-listen"):
            listen = () if flag == "--listen" else ("--listen", "127.0.0.1:0")
            run = subprocess.run(
                [os.path.join(self.build, "server", "epsledgerd"), "--data-dir", "/nonexistent/epsledger", *listen,
                 flag, ""], capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, 1)
            self.assertIn(flag + ': got "", want HOST:PORT', run.stderr)


if __name__ == "__main__":
    OperationsAddressTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
