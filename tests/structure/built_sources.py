"""A file that is not in the build does not exist: every source is named in a CMakeLists.txt that is reached."""
import os
import re

import cpp_text
from cmake_files import Build
from repository import Violation, is_below

# Projects of their own, for readers to copy: they know the installed tree and nothing of this one.
EXAMPLE = "example/CMakeLists.txt"
MADE_BY = {"_test.cc": "epsledger_test", "_benchmark.cc": "epsledger_benchmark", "_fuzz.cc": "epsledger_fuzzer"}


def read_examples(repository, build):
    """Adds the sources of the example projects to the build's, and complains of those that no test builds."""
    tests = "".join(repository.text(file) for file in repository.files() if is_below(file, "tests") and file.endswith("_test.py"))
    for file in repository.files():
        if file.endswith("/" + EXAMPLE) and "find_package(epsledger" in repository.text(file):
            folder = os.path.dirname(file)
            example = Build(repository, folder)
            build.reached.extend(example.reached)
            for source, makers in example.sources.items():
                build.sources.setdefault(source, set()).update(makers)
            if '"%s"' % folder not in tests:
                yield Violation(file, 1, "example-not-built", "no test in Python names this folder")


def check(repository):
    build = Build(repository)
    yield from read_examples(repository, build)
    for file, line, folder in build.absent:
        yield Violation(file, line, "absent-folder", "adds %s, which has no CMakeLists.txt" % folder)
    for file in repository.files():
        if os.path.basename(file) == "CMakeLists.txt" and file not in build.reached:
            yield Violation(file, 1, "unreached-folder", "no add_subdirectory() leads here from the root")
    for file in repository.sources():
        if not file.endswith(".cc"):
            continue
        named_by = build.sources.get(file, set())
        if not named_by:
            yield Violation(file, 1, "not-built", "no CMakeLists.txt that is reached names this file")
        for ending, maker in MADE_BY.items():
            if named_by and file.endswith(ending) and maker not in named_by:
                yield Violation(file, 1, "not-a-test", "a *%s is built by %s(), so that it is run" % (ending, maker))
    for file in build.sources:
        if not repository.exists(file):
            yield Violation(file, 1, "named-and-absent", "a CMakeLists.txt names this file, and it is not there")
    for file in repository.sources("tests"):
        for line, code in cpp_text.code_lines(repository.text(file)):
            if re.search(r"\bDISABLED_\w", code) or re.search(r"\bTEST(_F|_P)?\s*\(.*DISABLED_", code):
                yield Violation(file, line, "disabled-test", "a test that does not run is removed, or repaired")
            if (re.match(r"\s*(TEST(_F|_P)?|RC_GTEST_PROP)\s*\(", code) and file.endswith(".cc")
                    and not file.endswith("_test.cc") and is_below(file, "tests")):
                yield Violation(file, line, "test-file-name", "a file that defines a TEST() is named *_test.cc")
                break
