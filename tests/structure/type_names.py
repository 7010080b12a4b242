"""One word, one thing: a type's name stands in one header of the product, or names the same concept wherever it stands.

A class that is a member of another, or stands in a .cc file, has a context and is not looked at.
"""
import re

import cpp_text
from repository import Violation, is_below
from used_headers import PRODUCT

_TYPE = re.compile(r"^(?:class|struct|enum class|union)\s+([A-Z]\w*)\b(?!::|.*;)")

# Types of one name that are the same concept in two rooms, and how.
SAME = {
    "Connection": "a network connection: the client's end and the server's",
    "Progress": "the line that tells how far a run is: of epsctl and of each trainer",
}


def are_one_concept(name, files):
    """Whether the types of this name in these files are the same thing in rooms that do not see each other."""
    if all(is_below(file, "client/trainers") for file in files):
        return True  # each trainer has its own, in the same role
    # What crosses the wire has a form in the client and one in the server: they share no header.
    of_client = sum(is_below(file, "client/cpp") for file in files)
    return name in SAME or len(files) == 2 and of_client == 1


def check(repository):
    places = {}
    for file in repository.sources(*PRODUCT):
        if not file.endswith(".h"):
            continue
        for number, line in cpp_text.code_lines(repository.text(file)):
            name = _TYPE.match(line)
            if name:
                places.setdefault(name[1], []).append((file, number))
    for name, found in sorted(places.items()):
        if len(found) > 1 and not are_one_concept(name, [file for file, _ in found]):
            others = ", ".join(file for file, _ in found[:-1])
            yield Violation(*found[-1], "type-name", "%s is a type of %s too: one word, one thing" % (name, others))
