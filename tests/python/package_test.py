"""What the package ships: the protos' own descriptor set, and a wheel that holds all of it and needs nothing."""
import glob
import importlib.util
import os
import shutil
import sys
import tempfile
import unittest
import zipfile

from package_folder import PACKAGE, copy_of_package, run


class Package(unittest.TestCase):
    def test_the_descriptor_set_is_that_of_the_protos(self):
        if not shutil.which("protoc"):
            self.skipTest("protoc is not installed")
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "made")
            run(os.path.join(PACKAGE, "make_descriptor_set.sh"), made)
            shipped = os.path.join(PACKAGE, "epsledger", "descriptor_set.binpb")
            with open(made, "rb") as wanted, open(shipped, "rb") as found:
                self.assertTrue(wanted.read() == found.read(), "proto/ has changed: run make_descriptor_set.sh")

    def test_a_wheel_is_built_without_network_and_holds_the_whole_package(self):
        build = "import setuptools.build_meta as backend; print(backend.build_wheel('wheels'))"
        if not all(importlib.util.find_spec(name) for name in ("setuptools", "wheel")):
            self.skipTest("setuptools and wheel are not installed for " + sys.executable)
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
                 if os.path.isfile(file) and "__pycache__" not in file and not file.endswith(".md")}
        self.assertEqual(held, there)
        self.assertEqual([line for line in metadata.splitlines()
                          if line.startswith("Requires-Dist") and "extra ==" not in line], [])


if __name__ == "__main__":
    unittest.main()
