"""Shell scripts parse, are clean under shellcheck, and stop at the first error."""
import os
import re
import shutil
import subprocess

from repository import Violation

_SHEBANG = re.compile(r"#!.*\b(ba|da)?sh\b")


def scripts(repository):
    for file in repository.files():
        if file.endswith((".sh", ".bash")):
            yield file
        elif "." not in os.path.basename(file):
            with open(repository.path(file), "rb") as stream:
                if _SHEBANG.match(stream.readline(200).decode("utf-8", "replace")):
                    yield file


def _run(command, repository):
    return subprocess.run(command, cwd=repository.root, capture_output=True, text=True)


def check(repository):
    shellcheck = shutil.which("shellcheck")
    found = list(scripts(repository))
    for file in found:
        parsed = _run(["bash", "-n", file], repository)
        if parsed.returncode:
            yield Violation(file, 1, "bash -n", parsed.stderr.strip())
        if not os.access(repository.path(file), os.X_OK):
            yield Violation(file, 1, "not-executable", "a script is run by its name: chmod +x")
        if not re.search(r"^set -eu|^set -o errexit", repository.text(file), re.MULTILINE):
            yield Violation(file, 1, "no-errexit", "a script says `set -euo pipefail` (`set -eu` in sh)")
        if shellcheck:
            for line in _run([shellcheck, "--format=gcc", file], repository).stdout.splitlines():
                name, number, _, message = (line.split(":", 3) + ["", "", ""])[:4]
                yield Violation(name, int(number or 1), "shellcheck", message.strip())
    if found and not shellcheck:
        repository.skipped.append("shellcheck is not installed (./dev deps tools)")
