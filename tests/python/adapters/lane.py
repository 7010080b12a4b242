#!/usr/bin/env python3
"""Every adapter against the real libraries that are here, and what was skipped and why.

    lane.py [PYTHON ...]

Runs each *_test.py beside this file with each of the interpreters (default: this one), because no single
environment holds all frameworks. Prints a line for each: the versions that it ran against, or why it did not. Ends
with 1 if a test failed, with 77 if no interpreter has any of the libraries, else with 0. EPSLEDGER_BUILD names the
build folder with the server, PYTHONPATH the package."""
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
SECONDS_FOR_A_FILE = 600
# The distributions whose versions say what a test ran against.
LIBRARIES = {"dp_accounting_test.py": ["dp-accounting"], "flower_test.py": ["flwr"],
             "jax_privacy_test.py": ["jax-privacy", "jax"], "keras_test.py": ["keras", "jax", "jax-privacy"],
             "lightning_test.py": ["lightning", "torch"], "opacus_test.py": ["opacus", "torch"],
             "trackers_test.py": ["mlflow-skinny", "wandb"], "transformers_test.py": ["transformers", "torch"]}
VERSIONS = """
import importlib.metadata, sys
for name in sys.argv[1:]:
    try:
        print(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        pass
"""


def versions(python, file):
    run = subprocess.run([python, "-c", VERSIONS, *LIBRARIES[file]], text=True, capture_output=True, timeout=60, check=True)
    return ", ".join(run.stdout.split("\n")[:-1]) or "none of its libraries"


def run_one(python, file):
    """("ran" | "skipped" | "failed", what to print)."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "KERAS_BACKEND": "jax", "PYTHONWARNINGS": "ignore"}
    try:
        run = subprocess.run([python, os.path.join(HERE, file), "-v"], text=True, capture_output=True, env=environment,
                             stdin=subprocess.DEVNULL, timeout=SECONDS_FOR_A_FILE)
    except subprocess.TimeoutExpired as hung:
        return "failed", "not done in %d s: %s" % (SECONDS_FOR_A_FILE, hung)
    if run.returncode != 0:
        return "failed", run.stderr
    count = int(re.search(r"Ran (\d+) tests?", run.stderr)[1])
    reasons = re.findall(r"\.\.\. skipped ['\"](.*)['\"]$", run.stderr, re.M)
    if len(reasons) == count:
        return "skipped", "; ".join(sorted(set(reasons)))
    told = "%d tests, %s" % (count - len(reasons), versions(python, file))
    return "ran", told + "".join("; %d skipped: %s" % (reasons.count(reason), reason) for reason in sorted(set(reasons)))


def main(pythons):
    files = sorted(os.path.basename(path) for path in glob.glob(os.path.join(HERE, "*_test.py")))
    assert files == sorted(LIBRARIES), "LIBRARIES names every test file, and no other"
    outcomes = []
    for file in files:
        for python in pythons:
            outcome, told = run_one(python, file)
            outcomes.append(outcome)
            print("%-22s %-8s %s%s" % (file, outcome, told, "" if len(pythons) == 1 else "  [%s]" % python), flush=True)
    if "failed" in outcomes:
        return 1
    if "ran" not in outcomes:
        print("none of the frameworks is installed, or EPSLEDGER_BUILD is not set")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [sys.executable]))
