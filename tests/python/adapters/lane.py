#!/usr/bin/env python3
"""Every adapter against the real libraries that are here, and what was skipped and why.

    lane.py BUILD_DIR [PYTHON ...]

Runs each *_test.py beside this file with each of the interpreters (default: this one), because no single
environment holds all frameworks. Prints a line for each: the versions that it ran against, or why it did not. Ends
with 1 if a test failed, with 77 if no interpreter has any of the libraries, else with 0."""
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(os.path.dirname(HERE), "run.py")
SKIPPED = 77
SECONDS_FOR_A_FILE = 600
# The distributions whose versions say what a test ran against.
LIBRARIES = {"dp_accounting_test.py": ["dp-accounting"], "dpsynth_test.py": ["dpsynth", "mbi"],
             "flower_accountant_test.py": ["flwr"], "flower_test.py": ["flwr"],
             "jax_privacy_test.py": ["jax-privacy", "jax"], "keras_test.py": ["keras", "jax", "jax-privacy"],
             "lightning_test.py": ["lightning", "torch"], "nvflare_test.py": ["nvflare"],
             "opacus_engine_test.py": ["opacus", "torch"],
             "opacus_test.py": ["opacus", "torch"], "opendp_test.py": ["opendp", "polars"],
             "pipeline_dp_test.py": ["pipeline-dp"],
             "split_test.py": ["lightning", "opacus", "torch", "transformers"], "steps_test.py": [],
             "trackers_test.py": ["mlflow-skinny", "wandb"],
             "transformers_test.py": ["transformers", "torch"]}
VERSIONS = """
import importlib.metadata, sys
for name in sys.argv[1:]:
    try:
        print(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        pass
"""


def versions(python, file):
    run = subprocess.run([python, "-c", VERSIONS, *LIBRARIES[file]], text=True, capture_output=True, timeout=60,
                         check=True)
    return ", ".join(run.stdout.split("\n")[:-1]) or ("none of its libraries" if LIBRARIES[file] else "needs none")


def run_one(python, build, file):
    """("ran" | "skipped" | "failed", what to print)."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    environment.pop("EPSLEDGER_FRAMEWORKS_PYTHON", None)  # the interpreters are said here
    try:
        run = subprocess.run([python, "-B", RUN, build, os.path.join(HERE, file)], text=True, capture_output=True,
                             env=environment, stdin=subprocess.DEVNULL, timeout=SECONDS_FOR_A_FILE)
    except subprocess.TimeoutExpired:
        return "failed", "not done in %d s" % SECONDS_FOR_A_FILE
    if run.returncode not in (0, SKIPPED):
        return "failed", run.stdout + run.stderr
    reasons = {line.split(": ", 2)[2] for line in run.stdout.splitlines() if line.startswith("skipped: ")}
    if run.returncode == SKIPPED:
        return "skipped", "; ".join(sorted(reasons))
    return "ran", versions(python, file) + "".join("; some skipped: " + reason for reason in sorted(reasons))


def main(build, *pythons):
    pythons = pythons or [sys.executable]
    files = sorted(os.path.basename(path) for path in glob.glob(os.path.join(HERE, "*_test.py")))
    assert files == sorted(LIBRARIES), "LIBRARIES names every test file, and no other"
    outcomes = []
    for file in files:
        for python in pythons:
            outcome, told = run_one(python, build, file)
            outcomes.append(outcome)
            print("%-22s %-8s %s%s" % (file, outcome, told, "" if len(pythons) == 1 else "  [%s]" % python), flush=True)
    if "failed" in outcomes:
        return 1
    if "ran" not in outcomes:
        print("none of the frameworks is installed")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
