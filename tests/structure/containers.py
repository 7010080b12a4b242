"""docker/: the Dockerfile, the lists of packages and compose.yaml keep what docker/README.md promises.

No linter of Dockerfiles is packaged for Debian 12, so the rules that matter here are written out.
"""
import collections
import json
import re

import compose_file
from repository import Violation

DOCKERFILE = "docker/Dockerfile"
PACKAGES = "docker/packages/"
SHIPPED = compose_file.SHIPPED
SECTIONS = {"build", "ui", "runtime", "test", "tools", "browser", "demo", "docs", "trainer", "images"}

Instruction = collections.namedtuple("Instruction", "line word value")


class Stage:
    def __init__(self, base, name, line, parent):
        self.base, self.name, self.line, self.parent = base, name, line, parent
        self.instructions = []

    def all(self, word):
        inherited = self.parent.all(word) if self.parent else []
        return inherited + [i for i in self.instructions if i.word == word]


def instructions(text):
    pending, start = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#") or (not line.strip() and not pending):
            continue
        start = start or number
        pending += line.rstrip("\\")
        if not line.endswith("\\"):
            word, _, value = pending.strip().partition(" ")
            yield Instruction(start, word.upper(), value.strip())
            pending, start = "", 0


def stages(text):
    arguments, found = {}, collections.OrderedDict()
    stage = None
    for instruction in instructions(text):
        if instruction.word == "ARG" and stage is None:
            name, _, value = instruction.value.partition("=")
            arguments[name] = value
        elif instruction.word == "FROM":
            base, _, name = instruction.value.partition(" AS ")
            base = re.sub(r"\$\{?(\w+)\}?", lambda m: arguments.get(m.group(1), ""), base.strip())
            stage = Stage(base, name.strip(), instruction.line, found.get(base))
            found[stage.name or str(instruction.line)] = stage
        elif stage is not None:
            stage.instructions.append(instruction)
    return found


def is_exec_form(value):
    try:
        return isinstance(json.loads(value), list)
    except ValueError:
        return False


def check_dockerfile(text):
    def violation(line, rule, reason):
        return Violation(DOCKERFILE, line, rule, reason)

    found = stages(text)
    for name in sorted(SHIPPED - set(found)):
        yield violation(1, "no-stage", "there is no stage '%s'" % name)
    for stage in found.values():
        if not stage.parent and (":" not in stage.base or stage.base.endswith(":latest")) and "@" not in stage.base:
            yield violation(stage.line, "no-tag", "'%s' names no release: the same file gives another image tomorrow"
                            % stage.base)
        for instruction in stage.instructions:
            value = instruction.value
            if instruction.word == "ADD":
                yield violation(instruction.line, "add", "COPY does what it says; ADD also unpacks and downloads")
            if instruction.word in ("ENTRYPOINT", "CMD") and not is_exec_form(value):
                yield violation(instruction.line, "shell-form", "in exec form signals reach the program")
            if instruction.word == "RUN":
                if re.search(r"curl|wget|pip |npm ", value):
                    yield violation(instruction.line, "download", "everything comes from Debian packages and the tree")
                if "apt-get install" in value:
                    install = value.split("apt-get install", 1)[1].split("&&")[0]
                    if [word for word in install.split() if not word.startswith("-")]:
                        yield violation(instruction.line, "package-list",
                                        "packages are named in docker/packages, which ./dev reads too")
                    if not re.search(r"packages/\w+\.txt", value):
                        yield violation(instruction.line, "package-list", "installs from no file of docker/packages")
                    if "--no-install-recommends" not in install:
                        yield violation(instruction.line, "recommends", "apt-get install without --no-install-recommends")
                    if "rm -rf /var/lib/apt/lists" not in value:
                        yield violation(instruction.line, "apt-lists", "the package lists stay in the layer")
    for name in SHIPPED & set(found):
        stage = found[name]
        users = stage.all("USER")
        if not users or not re.match(r"[1-9]\d*(:[1-9]\d*)?$", users[-1].value):
            yield violation(stage.line, "root", "stage '%s' must end with a USER of a number other than 0" % name)
        if not stage.all("ENTRYPOINT"):
            yield violation(stage.line, "no-entrypoint", "stage '%s' has none" % name)
        labels = " ".join(label.value for label in stage.all("LABEL"))
        for label in ("title", "description", "licenses", "version", "revision"):
            if "org.opencontainers.image." + label + "=" not in labels:
                yield violation(stage.line, "no-label", "stage '%s' has no label %s" % (name, label))
    if "server" in found:
        checks = [c for c in found["server"].all("HEALTHCHECK") if "CMD" in c.value]
        command = checks[-1].value.split("CMD", 1)[1].strip() if checks else ""
        if not is_exec_form(command) or json.loads(command)[:2] != ["epsledgerd", "healthcheck"]:
            yield violation(found["server"].line, "no-healthcheck",
                            'the server stage needs HEALTHCHECK CMD ["epsledgerd", "healthcheck", ...]')
    for stage, section in (("ui", "ui"), ("build", "build"), ("runtime", "runtime"), ("data", "demo"), ("trainer", "trainer")):
        runs = " ".join(run.value for run in found[stage].all("RUN")) if stage in found else ""
        if PACKAGES[len("docker/"):] + section + ".txt" not in runs:
            yield violation(1, "package-list", "stage '%s' must install %s%s.txt" % (stage, PACKAGES, section))


def check_packages(repository):
    for section in sorted(SECTIONS):
        file = PACKAGES + section + ".txt"
        if not repository.exists(file):
            yield Violation(file, 1, "package-list", "./dev reads this file")
            continue
        seen = set()
        for number, line in enumerate(repository.text(file).split("\n"), 1):
            name = line.split("#")[0].strip()
            if name and not re.match(r"[a-z0-9][a-z0-9+.-]+$", name):
                yield Violation(file, number, "package-name", "'%s' is not one package name" % name)
            if name in seen and name:
                yield Violation(file, number, "package-twice", "'%s' stands here twice" % name)
            seen.add(name)


def check_ignored(repository):
    ignored = repository.text(".dockerignore").split() if repository.exists(".dockerignore") else []
    for folder in (".git", "build", "docker/.env", "docker/secrets"):
        if folder not in ignored:
            yield Violation(".dockerignore", 1, "context", "'%s' must not be sent to the image build" % folder)


def check(repository):
    yield from check_packages(repository)
    yield from check_ignored(repository)
    yield from check_dockerfile(repository.text(DOCKERFILE))
    yield from compose_file.check(repository)
