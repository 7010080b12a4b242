#!/usr/bin/env python3
"""Every adapter against the newest releases of the day: newest.py BUILD_DIR TOOLS_DIR [--write README]

Installs the frameworks from the package index, and one from GitHub, into environments in TOOLS_DIR, newer ones over what
is there. Runs each adapter's tests in the environment that has its framework, and the tests of own_tests.py against our
accountants. Prints tables, or puts them between <!-- peers:begin --> and <!-- peers:end --> of a file. Ends with 1 if a
row is red."""
import argparse
import datetime
import glob
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "agreement")]

import lane
import markdown_section

# No single environment holds all frameworks.
CLIENT = ["grpcio", "protobuf"]
ENVIRONMENTS = {
    "torch": ["torch", "opacus", "hypothesis", "transformers", "accelerate", "lightning"],
    "jax": ["jax", "jax-privacy", "keras"],
    "accounting": ["dp-accounting"],
    # Its package imports etils and does not require it.
    "dpsynth": ["dpsynth @ git+https://github.com/google/dpsynth", "etils[epath]"],
    "flower": ["flwr"],
    "nvflare": ["nvflare"],
    "statistics": ["opendp[polars]", "pipeline-dp"],
    "trackers": ["mlflow-skinny", "wandb"],
}
# Where the framework is too new for the interpreter that runs this.
INTERPRETERS = {"dpsynth": ("python3.13", "python3.12")}
ADAPTERS = {
    "dp_accounting_test.py": "accounting", "dpsynth_test.py": "dpsynth", "flower_accountant_test.py": "flower",
    "flower_test.py": "flower", "jax_privacy_test.py": "jax", "keras_test.py": "jax", "lightning_test.py": "torch",
    "nvflare_test.py": "nvflare", "opacus_engine_test.py": "torch", "opacus_test.py": "torch",
    "opendp_test.py": "statistics", "pipeline_dp_test.py": "statistics", "split_test.py": "torch",
    "trackers_test.py": "trackers", "transformers_test.py": "torch",
}
# Peers whose own tests are run against our accountants.
OWN_TESTS = {"dp-accounting": "accounting", "jax-privacy": "jax", "opacus": "torch"}
# Where the tests are only in what a peer publishes as its source.
FOLDERS_IN_SOURCE = {"jax-privacy": os.path.join("tests", "accounting")}
SECONDS_TO_INSTALL = 3600
SECONDS_FOR_OWN_TESTS = 1800


def install(name, folder):
    """(the Python of an environment, None), or (None, why there is none)."""
    python = os.path.join(folder, "bin", "python")
    steps = [[python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", *CLIENT,
              *ENVIRONMENTS[name]]]
    if not os.path.exists(python):
        base = interpreter(name)
        if base is None:
            return None, "none of %s is here" % ", ".join(INTERPRETERS[name])
        steps.insert(0, [base, "-m", "venv", folder])
    for step in steps:
        try:
            done = subprocess.run(step, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS_TO_INSTALL)
        except subprocess.TimeoutExpired:
            return None, "not installed in %d s" % SECONDS_TO_INSTALL
        if done.returncode:
            return None, error_in(done)
    return python, None


def error_in(done):
    """The line of a failed command that says most."""
    lines = (done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
    return next((line.strip() for line in lines if "error:" in line.lower()), lines[-1])


def interpreter(name):
    """A Python that runs and is new enough; None if there is none. A name on PATH may be a stub that does not run."""
    found = (shutil.which(one) for one in INTERPRETERS.get(name, (sys.executable,)))
    return next((path for path in found if path and not subprocess.run(
        [path, "-c", ""], capture_output=True, stdin=subprocess.DEVNULL, timeout=60).returncode), None)


class Environments:
    def __init__(self, tools):
        self._tools = tools
        self._installed = {}

    def __getitem__(self, name):
        """As install(), once."""
        if name not in self._installed:
            print("installing: " + " ".join(ENVIRONMENTS[name]), file=sys.stderr, flush=True)
            self._installed[name] = install(name, os.path.join(self._tools, name))
        return self._installed[name]


def adapter_rows(build, environments):
    """(test file, green, what to say) of each adapter."""
    for file, environment in sorted(ADAPTERS.items(), key=lambda item: (item[1], item[0])):
        python, why = environments[environment]
        if python is None:
            yield file, False, "not installed: " + why
            continue
        outcome, told = lane.run_one(python, build, file)
        if outcome != "ran":
            print(told, file=sys.stderr, flush=True)
        yield file, outcome == "ran", lane.versions(python, file) + ("" if outcome == "ran" else ": " + outcome)


def source_of(python, peer, version, folder):
    """Where the source of a release was unpacked. RuntimeError says why it is not there."""
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run([python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                           "--no-binary", ":all:", "--dest", folder, "%s==%s" % (peer, version)], text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS_TO_INSTALL)
    archives = glob.glob(os.path.join(folder, "*.tar.gz"))
    if done.returncode or len(archives) != 1:
        raise RuntimeError(error_in(done))
    shutil.unpack_archive(archives[0], folder)
    (unpacked,) = [entry.path for entry in os.scandir(folder) if entry.is_dir()]
    return unpacked


def own_tests(build, python, peer, version, folder):
    """(green, how many passed, what is not counted) of one peer."""
    try:
        inside = FOLDERS_IN_SOURCE.get(peer)
        tests = [os.path.join(source_of(python, peer, version, folder), inside)] if inside else []
        done = subprocess.run([python, "-B", os.path.join(HERE, "own_tests.py"), peer, *tests], text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS_FOR_OWN_TESTS,
                              env={**os.environ, "EPSLEDGER_BUILD": build, "PYTHONWARNINGS": "ignore"})
        told = json.loads(done.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        return False, "not done in %d s" % SECONDS_FOR_OWN_TESTS, ""
    except RuntimeError as error:
        return False, "no source: %s" % error, ""
    except (IndexError, ValueError):
        return False, "not run: %s" % error_in(done), ""
    if done.returncode:
        print(done.stderr, file=sys.stderr, flush=True)
    return done.returncode == 0, "%d of %d" % (told["passed"], told["passed"] + told["wrong"]), "; ".join(
        "%d %s" % (count, reason) for reason, count in told["excluded"].items())


def own_rows(build, tools, environments):
    """(peer, green, how many passed, what is not counted) of each peer whose own tests are run."""
    for peer, environment in OWN_TESTS.items():
        python, why = environments[environment]
        if python is None:
            yield peer, False, "not installed: " + why, ""
            continue
        print("own tests of " + peer, file=sys.stderr, flush=True)
        version = subprocess.run([python, "-c", lane.VERSIONS, peer], text=True, capture_output=True, timeout=60,
                                 check=True).stdout.split()[-1]
        yield ("%s %s" % (peer, version),
               *own_tests(build, python, peer, version, os.path.join(tools, "source-of-" + peer)))


def table(adapters, own):
    lines = ["%s, one machine without a GPU:" % datetime.date.today(), "",
             "| adapter | newest releases | tests |", "|---|---|---|"]
    for file, green, told in sorted(adapters):
        lines.append("| `%s` | %s | %s |" % (file[:-len("_test.py")], told, "green" if green else "**red**"))
    lines += ["", "| own tests of | with our accountant | passed | not counted |", "|---|---|---|---|"]
    lines += ["| %s | %s | %s | %s |" % (peer, "green" if green else "**red**", passed, rest)
              for peer, green, passed, rest in own]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("tools")
    parser.add_argument("--write", metavar="README")
    arguments = parser.parse_args()
    assert set(ADAPTERS) == {file for file, libraries in lane.LIBRARIES.items() if libraries}, \
        "ADAPTERS names every test file that needs a framework"
    build, tools = os.path.abspath(arguments.build), os.path.abspath(arguments.tools)
    environments = Environments(tools)
    adapters, own = list(adapter_rows(build, environments)), list(own_rows(build, tools, environments))
    if arguments.write:
        markdown_section.replace(arguments.write, "peers", table(adapters, own))
    print(table(adapters, own))
    return 0 if all(row[1] for row in adapters + own) else 1


if __name__ == "__main__":
    sys.exit(main())
