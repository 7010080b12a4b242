"""Compiles the module by CMake, with the libraries that the rest of epsledger is built with (./dev installs them).

EPSLEDGER_BUILD_DIR names a build folder that has the module already, such as build/release. If it is not set, a build
is made, which takes minutes."""
import os
import pathlib
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

MODULE = "client/python/accounting/epsledger_accounting/_native.abi3.so"


class BuildByCMake(build_ext):
    def build_extension(self, extension):
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.built() / MODULE, target)

    def built(self):
        if "EPSLEDGER_BUILD_DIR" in os.environ:
            return pathlib.Path(os.environ["EPSLEDGER_BUILD_DIR"])
        source = pathlib.Path(__file__).resolve().parents[3]
        folder = pathlib.Path(self.build_temp).resolve() / "cmake"
        subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DEPSLEDGER_DASHBOARD=OFF"], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "epsledger_python_accounting"], check=True)
        return folder


setup(ext_modules=[Extension("epsledger_accounting._native", [], py_limited_api=True)],
      # One wheel for every CPython from 3.9 on.
      options={"bdist_wheel": {"py_limited_api": "cp39"}},
      cmdclass={"build_ext": BuildByCMake})
