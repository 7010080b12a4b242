"""The command tree of epsctl as its own --help tells it, for the tests beside this file."""
import os
import re
import signal
import subprocess
import sys

# Programs that the tests start can be interrupted, also where the shell that started the tests cannot.
signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "end_to_end"))
from served_ledger import ServedLedger  # noqa: E402, F401  (the tests take it from here)


class Command:
    """One command: `path` is () for epsctl itself, ("budget", "get") for a verb."""

    def __init__(self, epsctl, path):
        self.path = path
        environment = {name: value for name, value in os.environ.items() if not name.startswith("EPSLEDGER_")}
        run = subprocess.run([epsctl, *path, "--help"], capture_output=True, text=True, timeout=60, check=True,
                             env=environment, stdin=subprocess.DEVNULL)
        self.help = run.stdout
        section = re.search(r"^Subcommands:\n((?:  .*\n)*)", self.help, re.MULTILINE)
        self.verbs = re.findall(r"^  ([a-z][a-z-]*)", section.group(1), re.MULTILINE) if section else []

    def options(self):
        """The names that the help starts a line with."""
        return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.help, re.MULTILINE))

    def examples(self):
        """The shell commands below "Example:" or "Examples:", continued lines in one."""
        found, pending, inside = [], "", False
        for line in self.help.split("\n"):
            if re.match(r"Examples?\b.*:$", line):
                inside = True
            elif inside and line.startswith("  "):
                pending += line[2:] + "\n"
                is_open = pending.count("'") % 2 == 1
                if not is_open and not pending.rstrip().endswith(("\\", "|")):
                    found.append(pending.strip())
                    pending = ""
            elif not pending:
                inside = False
        return found


def walk(epsctl, path=()):
    """Every command, epsctl itself first."""
    command = Command(epsctl, path)
    commands = [command]
    for verb in command.verbs:
        commands += walk(epsctl, (*path, verb))
    return commands
