"""The package in a clean environment, installed from the package index's tools: its first charge, mypy --strict, and
current gRPC. Skipped where the index is out of reach."""
import os
import subprocess
import tempfile
import unittest
import venv

from killable_ledger import BUILD, KillableLedger
from package_folder import PACKAGE, copy_of_package, run

HERE = os.path.dirname(os.path.abspath(__file__))
INSTALL_SECONDS = 400


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.environment = os.path.join(folder.name, "environment")
        cls.python = os.path.join(cls.environment, "bin", "python")
        try:
            venv.create(cls.environment, with_pip=True)
            cls.pip(copy_of_package(folder.name) + "[grpc]")
            cls.pip("mypy")
        except (AssertionError, subprocess.SubprocessError) as error:
            raise unittest.SkipTest("no environment, or no package index: " + str(error).splitlines()[-1])

    @classmethod
    def pip(cls, what):
        run(cls.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what, timeout=INSTALL_SECONDS)

    def test_six_lines_after_the_installation_is_a_charge(self):
        with open(os.path.join(PACKAGE, "README.md"), encoding="utf-8") as stream:
            lines = stream.read().split("```python\n")[1].split("```")[0]
        with KillableLedger() as server:
            server.ctl("budget", "create", "people", "--epsilon", "3", "--delta", "1e-5", "--relation",
                       "add-or-remove-one", "--privacy-unit", "person")
            clean = {"PATH": os.environ["PATH"], "EPSLEDGER_HTTP": server.address}
            self.assertIn("charged", run(self.python, "-I", "-c", lines, env=clean, timeout=60))

    def test_mypy_is_strict_and_content(self):
        self.assertIn("no issues found", run(os.path.join(self.environment, "bin", "mypy"), "--cache-dir", os.devnull,
                                             cwd=PACKAGE, timeout=INSTALL_SECONDS))

    def test_current_grpc_is_as_good_as_the_oldest(self):
        environment = {"PATH": os.environ["PATH"], "EPSLEDGER_BUILD": BUILD}
        run(self.python, "-B", os.path.join(HERE, "grpc_test.py"), env=environment, timeout=INSTALL_SECONDS)


if __name__ == "__main__":
    unittest.main()
