"""The package as it is installed: what it ships, and that it passes mypy --strict.

    package_test.py             with the standard library, protoc and, where it is installed, setuptools
    package_test.py --network   in a clean environment, from the package index: pip install, mypy, current gRPC

Ends with 77 when something was skipped that it names."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile

from killable_ledger import BUILD, KillableLedger

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.normpath(os.path.join(HERE, "..", "..", "client", "python"))
INSTALL_SECONDS = 400
SKIPPED = 77
skipped = []


def copy_of_package(folder):
    """A copy to build in, with nothing that a build or an interpreter left behind."""
    copy = os.path.join(folder, "python")
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info", ".mypy_cache"))
    return copy


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError("%s ended with %d:\n%s%s" % (command, done.returncode, done.stdout, done.stderr))
    return done.stdout


class Offline(unittest.TestCase):
    def test_the_descriptor_set_is_that_of_the_protos(self):
        if not shutil.which("protoc"):
            skipped.append("the descriptor set: protoc is not installed")
            self.skipTest(skipped[-1])
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "made")
            run(os.path.join(PACKAGE, "make_descriptor_set.sh"), made)
            shipped = os.path.join(PACKAGE, "epsledger", "descriptor_set.binpb")
            with open(made, "rb") as wanted, open(shipped, "rb") as found:
                self.assertTrue(wanted.read() == found.read(), "proto/ has changed: run make_descriptor_set.sh")

    def test_a_wheel_is_built_without_network_and_holds_the_whole_package(self):
        build = "import setuptools.build_meta as backend; print(backend.build_wheel('wheels'))"
        try:
            run(sys.executable, "-c", "import setuptools, wheel")
        except AssertionError:
            skipped.append("the wheel: setuptools and wheel are not installed for " + sys.executable)
            self.skipTest(skipped[-1])
        with tempfile.TemporaryDirectory() as folder:
            copy = copy_of_package(folder)
            os.mkdir(os.path.join(copy, "wheels"))
            name = run(sys.executable, "-c", build, cwd=copy).split()[-1]
            self.assertRegex(name, r"^epsledger-[\d.]+-py3-none-any.whl$")
            with zipfile.ZipFile(os.path.join(copy, "wheels", name)) as wheel:
                held = {file for file in wheel.namelist() if file.startswith("epsledger/")}
                metadata = wheel.read(next(file for file in wheel.namelist() if file.endswith("METADATA"))).decode()
        there = {os.path.relpath(file, PACKAGE).replace(os.sep, "/")
                 for file in glob.glob(os.path.join(PACKAGE, "epsledger", "**"), recursive=True)
                 if os.path.isfile(file) and "__pycache__" not in file}
        self.assertEqual(held, there)
        self.assertEqual([line for line in metadata.splitlines()
                          if line.startswith("Requires-Dist") and "extra ==" not in line], [])


class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.environment = os.path.join(folder.name, "environment")
        venv.create(cls.environment, with_pip=True)
        cls.python = os.path.join(cls.environment, "bin", "python")
        try:
            cls.pip(copy_of_package(folder.name) + "[grpc]")
            cls.pip("mypy")
        except AssertionError as error:
            skipped.append("the package index: " + str(error).splitlines()[-1])
            raise unittest.SkipTest(skipped[-1])

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
        answer = run(self.python, "-B", os.path.join(HERE, "grpc_test.py"), env=environment, timeout=INSTALL_SECONDS)
        self.assertTrue(answer.startswith("with grpc"), answer)
        print(answer.strip())


if __name__ == "__main__":
    wanted = Network if "--network" in sys.argv[1:] else Offline
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(wanted))
    for reason in skipped:
        print("skipped: " + reason)
    sys.exit(0 if result.wasSuccessful() and not skipped else SKIPPED if result.wasSuccessful() else 1)
