"""The folder of the package, and copies of it to build in."""
import os
import shutil
import subprocess

PACKAGE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "client", "python"))


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
