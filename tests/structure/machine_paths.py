"""No committed file knows the machine that it was written on."""
import re

from repository import Violation

# Written in pieces, so that this file does not break its own rule.
MACHINE_PATHS = [re.compile(r"(?<![\w.~-])" + start + end) for start, end in (("/wo", "rk/"), ("/tmp/", "build"))]


def check(repository):
    for file in repository.files():
        with open(repository.path(file), "rb") as stream:
            content = stream.read()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
            for pattern in MACHINE_PATHS:
                if pattern.search(line):
                    yield Violation(file, number, "machine-path", "a path of one machine: it is not there on the next")
