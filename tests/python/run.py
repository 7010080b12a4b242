"""run.py BUILD_DIR FILE: runs one test file against the programs of BUILD_DIR, and says by name what it skipped.

Ends with 0 if all is well, with 1 if something failed, and with 77 if nothing could run. Adapters are tested under the
interpreter that EPSLEDGER_FRAMEWORKS_PYTHON names, where the frameworks are installed; without it, under this one."""
import importlib.util
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.normpath(os.path.join(HERE, "..", "..", "client", "python"))
SKIPPED = 77


def main(build, file):
    frameworks = os.environ.pop("EPSLEDGER_FRAMEWORKS_PYTHON", None)
    if frameworks and os.path.basename(os.path.dirname(os.path.abspath(file))) == "adapters":
        os.execv(frameworks, [frameworks, "-B", os.path.abspath(__file__), build, file])
    # For the processes that tests start too.
    os.environ.update(EPSLEDGER_BUILD=os.path.abspath(build), PYTHONDONTWRITEBYTECODE="1",
                      PYTHONPATH=os.pathsep.join((PACKAGE, HERE)))
    sys.path[:0] = [os.path.dirname(os.path.abspath(file)), PACKAGE, HERE]
    name = os.path.splitext(os.path.basename(file))[0]
    specification = importlib.util.spec_from_file_location(name, file)
    sys.modules[name] = module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromModule(module))
    for test, reason in result.skipped:
        print("skipped: %s: %s" % (test, reason))
    if not result.wasSuccessful():
        return 1
    if not result.testsRun and not result.skipped:
        print("%s holds no test" % file)
        return 1
    # If setUpClass skips a class, none of its tests is in testsRun.
    ran = result.testsRun - sum(isinstance(test, unittest.TestCase) for test, _ in result.skipped)
    return 0 if ran > 0 else SKIPPED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
