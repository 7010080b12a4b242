"""C++ files are formatted by .clang-format; `./dev format` does it."""
import shutil
import subprocess

from repository import Violation

TOOL = "clang-format-14"  # another version formats differently


def check(repository):
    files = list(repository.sources("accounting", "server", "client", "proto", "tests"))
    if not shutil.which(TOOL):
        repository.skipped.append(TOOL + " is not installed (./dev deps tools)")
        return
    for start in range(0, len(files), 100):
        run = subprocess.run([TOOL, "--dry-run", "-Werror"] + files[start:start + 100],
                             cwd=repository.root, capture_output=True, text=True)
        first = {}
        for line in run.stderr.splitlines():
            parts = line.split(":", 3)
            if len(parts) == 4 and "clang-format-violations" in parts[3]:
                first.setdefault(parts[0], int(parts[1]))
        for file, line in first.items():
            yield Violation(file, line, "format", "run ./dev format")
        if run.returncode and not first:
            yield Violation(files[start], 1, TOOL, run.stderr.strip()[:500])
