#!/usr/bin/env python3
"""Every adapter against the newest releases of the day: newest.py BUILD_DIR TOOLS_DIR [--write README]

Installs the frameworks from the package index into environments in TOOLS_DIR, newer ones over what is there, and runs
each adapter's tests in the environments that have its framework. Prints a table, or puts it between
<!-- peers:begin --> and <!-- peers:end --> of a file. Ends with 1 if a row is red."""
import argparse
import datetime
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "agreement")]

import lane
import markdown_section

# No single environment holds all frameworks.
CLIENT = ["grpcio", "protobuf"]
ENVIRONMENTS = {
    "torch": ["torch", "opacus", "transformers", "accelerate", "lightning"],
    "jax": ["jax", "jax-privacy", "keras"],
    "accounting": ["dp-accounting"],
    "flower": ["flwr"],
    "statistics": ["opendp[polars]", "pipeline-dp"],
    "trackers": ["mlflow-skinny", "wandb"],
}
ADAPTERS = {
    "dp_accounting_test.py": "accounting", "flower_test.py": "flower", "jax_privacy_test.py": "jax",
    "keras_test.py": "jax", "lightning_test.py": "torch", "opacus_engine_test.py": "torch", "opacus_test.py": "torch",
    "opendp_test.py": "statistics", "pipeline_dp_test.py": "statistics", "split_test.py": "torch",
    "trackers_test.py": "trackers", "transformers_test.py": "torch",
}
SECONDS_TO_INSTALL = 3600


def install(folder, packages):
    """(its Python, None), or (None, why there is none)."""
    python = os.path.join(folder, "bin", "python")
    steps = [[python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", *CLIENT, *packages]]
    if not os.path.exists(python):
        steps.insert(0, [sys.executable, "-m", "venv", folder])
    for step in steps:
        try:
            done = subprocess.run(step, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS_TO_INSTALL)
        except subprocess.TimeoutExpired:
            return None, "not installed in %d s" % SECONDS_TO_INSTALL
        if done.returncode:
            return None, ((done.stderr or done.stdout).strip().splitlines() or ["pip failed"])[-1]
    return python, None


def rows(build, tools):
    """(test file, green, what to say) of each adapter."""
    installed = {}
    for file, environment in sorted(ADAPTERS.items(), key=lambda item: (item[1], item[0])):
        if environment not in installed:
            print("installing: " + " ".join(ENVIRONMENTS[environment]), file=sys.stderr, flush=True)
            installed[environment] = install(os.path.join(tools, environment), ENVIRONMENTS[environment])
        python, why = installed[environment]
        if python is None:
            yield file, False, "not installed: " + why
            continue
        outcome, told = lane.run_one(python, build, file)
        if outcome != "ran":
            print(told, file=sys.stderr, flush=True)
        yield file, outcome == "ran", lane.versions(python, file) + ("" if outcome == "ran" else ": " + outcome)


def table(found):
    lines = ["%s, Python %d.%d, one machine without a GPU:" % (datetime.date.today(), *sys.version_info[:2]), "",
             "| adapter | newest releases | tests |", "|---|---|---|"]
    for file, green, told in sorted(found):
        lines.append("| `%s` | %s | %s |" % (file[:-len("_test.py")], told, "green" if green else "**red**"))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("tools")
    parser.add_argument("--write", metavar="README")
    arguments = parser.parse_args()
    assert set(ADAPTERS) == {file for file, libraries in lane.LIBRARIES.items() if libraries}, \
        "ADAPTERS names every test file that needs a framework"
    found = list(rows(os.path.abspath(arguments.build), os.path.abspath(arguments.tools)))
    if arguments.write:
        markdown_section.replace(arguments.write, "peers", table(found))
    print(table(found))
    return 0 if all(green for _, green, _ in found) else 1


if __name__ == "__main__":
    sys.exit(main())
