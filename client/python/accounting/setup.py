"""Compiles the module by CMake, with the libraries that the rest of epsledger is built with (./dev installs them).

EPSLEDGER_BUILD_DIR names a build folder that is configured already; without it one is made, which takes minutes."""
import os
import pathlib
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parents[3]


class BuildByCMake(build_ext):
    def build_extension(self, extension):
        folder = pathlib.Path(os.environ.get("EPSLEDGER_BUILD_DIR") or pathlib.Path(self.build_temp) / "cmake").resolve()
        if not (folder / "CMakeCache.txt").exists():
            subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                            "-DEPSLEDGER_DASHBOARD=OFF"], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "epsledger_python_accounting"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "client/python/accounting/epsledger_accounting/_native.abi3.so", target)


class StableAbiWheel(bdist_wheel):
    """One wheel for every CPython from 3.9 on."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "cp39", "abi3", platform


setup(ext_modules=[Extension("epsledger_accounting._native", [], py_limited_api=True)],
      cmdclass={"build_ext": BuildByCMake, "bdist_wheel": StableAbiWheel})
