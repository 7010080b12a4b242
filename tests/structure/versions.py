"""The version stands once, in CMakeLists.txt; every other place says the same, CHANGELOG.md has a section for it, and a
tag v1.2.3 is on a commit of that version whose changes are no longer called unreleased."""
import re
import subprocess

from repository import Violation

SOURCE = "CMakeLists.txt"
CHANGELOG = "CHANGELOG.md"
_SOURCE = re.compile(r"^project\(epsledger VERSION (\S+)", re.MULTILINE)
_NUMBER = r"(\d+\.\d+\.\d+)"
# file -> what is before the version in it; each must be there
PLACES = {
    "client/java/pom.xml": [r"<artifactId>epsledger</artifactId>\n  <version>"],
    "client/python/pyproject.toml": [r'^version = "', r'"epsledger-accounting=='],
    "client/python/accounting/pyproject.toml": [r'^version = "'],
    "client/python/epsledger/__init__.py": [r'^__version__ = "'],
    "client/rust/Cargo.toml": [r'^version = "'],
    "client/rust/Cargo.lock": [r'^name = "epsledger"\nversion = "'],
    "docker/Dockerfile": [r"epsledger/\w+:", r'image\.version="'],
    "docker/helm/Chart.yaml": [r"^version: ", r'^appVersion: "'],
    "docker/compose.yaml": [r"image: epsledger/\w+:"],
}
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def check_places(repository, version):
    for file, places in PLACES.items():
        text = repository.text(file) if repository.exists(file) else ""
        for place in places:
            found = list(re.finditer(place + _NUMBER, text, re.MULTILINE))
            if not found:
                yield Violation(file, 1, "version-place", "no version after '%s', and a release changes it here" % place)
            for match in found:
                if match[1] != version:
                    yield Violation(file, line_of(text, match.start()), "version",
                                    "says %s, and %s says %s" % (match[1], SOURCE, version))


def numbers(heading):
    return tuple(int(part) for part in heading.split("."))


def check_changelog(text, version, tags):
    """`tags`: the names of the tags on the commit that is checked."""
    headings = [(line_of(text, match.start()), match[1]) for match in _HEADING.finditer(text)]
    released = [(line, name) for line, name in headings if name != "Unreleased"]
    for line, name in released:
        if not re.fullmatch(_NUMBER, name):
            yield Violation(CHANGELOG, line, "changelog-heading", "'%s' is neither Unreleased nor a version" % name)
            return
    if not released or released[0][1] != version:
        yield Violation(CHANGELOG, 1, "changelog-version", "the newest section with a number is %s, and %s says %s"
                        % (released[0][1] if released else "absent", SOURCE, version))
    if "Unreleased" in [name for _, name in headings[1:]]:
        yield Violation(CHANGELOG, 1, "changelog-order", "Unreleased stands first")
    order = [numbers(name) for _, name in released]
    if order != sorted(set(order), reverse=True):
        yield Violation(CHANGELOG, 1, "changelog-order", "the newest version stands first, and each once")
    for tag in tags:
        if not re.fullmatch("v" + _NUMBER, tag):
            continue
        if tag != "v" + version:
            yield Violation(SOURCE, 1, "tag", "the commit is tagged %s, and its version is %s" % (tag, version))
        if headings and headings[0][1] == "Unreleased":
            yield Violation(CHANGELOG, headings[0][0], "tag", "the commit is tagged %s: what it changed is released" % tag)


def tags_of_head(repository):
    try:
        run = subprocess.run(["git", "-C", repository.root, "tag", "--points-at", "HEAD"], capture_output=True, text=True)
    except OSError:
        return []
    return run.stdout.split() if run.returncode == 0 else []


def check(repository):
    match = _SOURCE.search(repository.text(SOURCE)) if repository.exists(SOURCE) else None
    if not match or not re.fullmatch(_NUMBER, match[1]):
        yield Violation(SOURCE, 1, "version-place", "project(epsledger VERSION 1.2.3 is not there")
        return
    yield from check_places(repository, match[1])
    yield from check_changelog(repository.text(CHANGELOG), match[1], tags_of_head(repository))
