"""Production code that only tests call is no production code: the product names each function that its headers declare.

Names are compared, not overloads or classes: a function that another one of the same name hides is not found.
"""
import re

import cpp_text
from repository import Violation, is_below
from used_headers import PRODUCT, PUBLIC

_NAME = re.compile(r"\b[A-Z]\w*[a-z]\w*\b")
# Text before a name that declares or defines it: a type, and for definitions the class.
_TYPE = re.compile(r"(?!\s*(?:return|else|case|throw|new|co_return)\b)[\w:<>,&*\[\]\s]*[\w>&*][\s&*]+(?:[\w<>]+::)*$")
_TYPE_ABOVE = re.compile(r"^(?!.*\b(?:return|else)$)[\w:<>,&*\[\]\s]*[\w>&*]$")

# What the product only declares, and why it stays.
EXCEPTIONS = {
    # Operations on trade-off functions that the README proves: programs that link the mathematics may call them.
    "FromProfiles", "MaximumOfOrders", "RevealWithProbability",
    # What the papers print and how it is attacked: the errata of the README are measured with them.
    "CombinedCoordinatesLogMoment", "PrintedEpsilon", "Relevances", "RunAttack", "SoundLineSearchLoopScores",
    # DP-SGD on networks: what the sums of FSDP are compared with, and the benchmark measures.
    "LayerSquaredNorms", "SquaredNorms", "WeightedGradient",
    # The list of faults, of which a test checks that each entry has a source, versions and a date.
    "KnownFaults",
}


def declares(line, name, above):
    """Whether the name, a match in a line of code, is declared or defined there. `above` is the line before."""
    if not line[name.end():].startswith("("):
        return False
    before = line[:name.start()]
    if before.strip() and not before.rstrip().endswith("::"):
        return bool(_TYPE.match(before))
    scoped = bool(re.match(r"(?:[\w<>]+::)*$", before.strip()))
    return bool(_TYPE.match(before)) or scoped and bool(_TYPE_ABOVE.match(above.rstrip()))


def check(repository):
    declared, called = {}, set()
    for file in repository.sources(*PRODUCT):
        above = ""
        for number, line in cpp_text.code_lines(repository.text(file)):
            for name in _NAME.finditer(line):
                if not declares(line, name, above):
                    called.add(name[0])
                elif file.endswith(".h") and not is_below(file, PUBLIC):
                    declared.setdefault(name[0], (file, number))
            above = line
    for name, (file, number) in sorted(declared.items(), key=lambda item: item[1]):
        if name not in called and name not in EXCEPTIONS and not _is_override(repository, file, number):
            yield Violation(file, number, "uncalled-function",
                            "no code of the product calls %s: it goes, or goes to tests/" % name)
    for name in sorted(EXCEPTIONS & called):
        yield Violation("tests/structure/called_functions.py", 1, "called-exception",
                        "%s is called now: take it off the exceptions" % name)


def _is_override(repository, file, number):
    """Libraries call what overrides their functions."""
    rest = "\n".join(repository.text(file).split("\n")[number - 1:number + 3])
    return bool(re.search(r"\b(override|final)\b", re.split("[;{]", rest)[0]))
