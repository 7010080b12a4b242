"""One concept, one file, one name: no file has outgrown its concept, none is a drawer for leftovers."""
import os
import re

from repository import Violation

MOST_LINES = 600

# file: why it may be longer. An entry that is no longer needed fails.
LONG_FILES = {}

DRAWER = re.compile(r"(?:^|.*_)(utils?|helpers?|misc)$|^(common|types)$")


def stem(name):
    name = name.split(".")[0]
    for ending in ("_test", "_benchmark", "_fuzz"):
        if name.endswith(ending):
            name = name[: -len(ending)]
    return name


def check(repository, long_files=None):
    long_files = LONG_FILES if long_files is None else long_files
    for file in repository.sources():
        lines = repository.text(file).count("\n")
        if lines > MOST_LINES and file not in long_files:
            yield Violation(file, MOST_LINES + 1, "too-long",
                            "%d lines, the most is %d: split it by concept" % (lines, MOST_LINES))
        if lines <= MOST_LINES and file in long_files:
            yield Violation(file, 1, "stale-exception", "not long any more: take it out of LONG_FILES")
    for file in long_files:
        if not repository.exists(file):
            yield Violation(file, 1, "stale-exception", "not there any more: take it out of LONG_FILES")
    seen = set()
    for file in repository.files():
        parts = file.split("/")
        if parts[:2] == ["proto", "google"]:
            continue
        for depth, part in enumerate(parts, 1):
            here = "/".join(parts[:depth])
            if here not in seen and DRAWER.match(stem(part)):
                yield Violation(here, 1, "drawer", "'%s' names no concept; name what is in it" % part)
            seen.add(here)
