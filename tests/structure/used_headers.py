"""Production code that only tests call is no production code: each header is included by another file of the product."""
import os
import re

from repository import Violation, is_below

PRODUCT = ("accounting", "proto", "server", "client")
PUBLIC = "client/cpp/include"  # included by the programs of others
# A header that only tests include, and why it stays.
EXCEPTIONS = {
    "client/trainers/network/clipping.h": "DP-SGD on networks; its trainer is not there yet",
}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def check(repository):
    included_by = {}
    for file in repository.sources(*PRODUCT):
        for name in INCLUDE.findall(repository.text(file)):
            included_by.setdefault(name, set()).add(file)
    for file in repository.sources(*PRODUCT):
        if not file.endswith(".h") or is_below(file, PUBLIC):
            continue
        own = os.path.splitext(file)[0] + ".cc"
        used = bool(included_by.get(file, set()) - {own})
        if not used and file not in EXCEPTIONS:
            yield Violation(file, 1, "unused-header", "no file of the product includes it but its own: it goes, or goes to tests/")
        if used and file in EXCEPTIONS:
            yield Violation(file, 1, "used-exception", "it is included now: take it off the exceptions of used_headers.py")
