"""proto/google holds files of others, unmodified and with their licence."""
from repository import Violation

FOLDER = "proto/google"
LICENCE = FOLDER + "/LICENSE"


def check(repository):
    files = [file for file in repository.files() if file.startswith(FOLDER + "/")]
    if files and (LICENCE not in files or "Apache License" not in repository.text(LICENCE)):
        yield Violation(LICENCE, 1, "no-licence", "vendored files come with their licence (Apache-2.0)")
    for file in files:
        if file.endswith(".proto"):
            head = repository.text(file)[:2000]
            if "Copyright" not in head or "Apache License, Version 2.0" not in head:
                yield Violation(file, 1, "no-notice", "the vendored file has lost its copyright and licence notice")
        elif file not in (LICENCE, FOLDER + "/README.md", FOLDER + "/CMakeLists.txt"):
            yield Violation(file, 1, "not-vendored", "only vendored .proto files and their licence belong here")
