"""The recipes of README.md, run in their order: recipes_test.py BUILD_DIR

Takes every epsctl and curl command out of the section "Five minutes" of README.md, and the calculator's
examples out of client/cli/README.md, and runs them in a shell as they stand. Only the addresses of the
servers are others. What a command must answer stands in EXPECTED; a command that is not there fails, so
that no recipe goes untested. Ends with 77 where curl is missing.
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

from served_ledger import ServedLedger

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
HTTP_ADDRESS = "127.0.0.1:8080"  # of the README
# Started by the reader, not by this test: the build, the search path, the server.
NOT_RUN = re.compile(r"\./dev |export PATH=|epsledgerd ")


def commands(markdown):
    """The commands of indented and fenced blocks, continued lines joined, remarks cut off."""
    blocks, fence = [], None
    for line in markdown.split("\n"):
        if line.startswith("```"):
            fence = None if fence is not None else line[3:].strip()
        elif fence in ("", "sh", "bash", "console") or (fence is None and line.startswith("    ")):
            blocks.append(line.strip())
    found, pending = [], ""
    for line in blocks:
        pending += line.removesuffix("\\")
        if not line.endswith("\\"):
            command = re.sub(r"\s+# .*$", "", re.sub(r"\s+", " ", pending)).strip()
            pending = ""
            if command and not command.startswith("#") and not NOT_RUN.match(command):
                found.append(command)
    return found


def section(file, title=None):
    with open(os.path.join(ROOT, file), encoding="utf-8") as stream:
        text = stream.read()
    if title is None:
        return text
    start = text.index("\n## %s\n" % title)
    end = text.find("\n## ", start + 1)
    return text[start:end if end >= 0 else len(text)]


def an_object(*names):
    def check(test, output):
        answer = json.loads(output)
        test.assertIsInstance(answer, dict)
        for name in names:
            test.assertIn(name, answer)
        return answer
    return check


def is_json(test, output):
    test.assertTrue(json.loads(output))


def accepted(test, output):
    answer = an_object("name", "decision", "sequence", "hash")(test, output)
    test.assertEqual((answer["decision"], answer["count"]), ("ACCEPTED", "100"))


def hundred_steps(test, output):
    series = an_object("points", "ahead", "attempts")(test, output)
    test.assertEqual((series["steps"], series["points"][-1]["steps"], series["epsilonCap"]), ("100", "100", 3))
    test.assertLess(series["points"][-1]["epsilon"]["upper"], series["ahead"][-1]["epsilon"]["upper"])


def bounds(test, output):
    """The readings of all accountants: a list from epsctl, in an object over HTTP."""
    answer = json.loads(output)
    readings = answer if isinstance(answer, list) else answer["readings"]
    best = next(r["guarantee"] for r in readings if r["accountant"] == "BEST")
    test.assertEqual(best["kind"], "UPPER_BOUND")
    test.assertTrue(0 < best["upper"] < 3, best)


def rows(test, output):
    table = list(csv.reader(io.StringIO(output)))
    test.assertIn("name", table[0])
    test.assertGreater(len(table), 1)
    for row in table:
        test.assertEqual(len(row), len(table[0]))


def budget_named_people(test, output):
    test.assertEqual(an_object("cap", "cells", "state")(test, output)["name"], "budgets/people")


def the_document(test, output):
    test.assertTrue(an_object("paths", "components")(test, output)["openapi"].startswith("3."))


def words(test, output):
    test.assertIn("Usage:", output)


# What a command answers, by how it begins.
EXPECTED = [
    ("epsctl budget create ", budget_named_people),
    ("epsctl session create ", an_object("name", "mode", "state")),
    ("epsctl charge create ", accepted),
    ("epsctl charge preview ", is_json),
    ("epsctl budget get ", budget_named_people),
    ("epsctl session guarantees ", bounds),
    ("epsctl compare ", is_json),
    ("epsctl calibrate ", is_json),
    ("epsctl attack ", is_json),
    ("epsctl curve ", is_json),
    ("epsctl audit --help", words),
    ("epsctl audit --method ", is_json),
    ("curl -s 'http://127.0.0.1:8080/v1/budgets?format=csv'", rows),
    ("curl -s 'http://127.0.0.1:8080/v1/budgets/people/guarantees", bounds),
    ("curl -s 'http://127.0.0.1:8080/v1/budgets/people/sessions/first-run/series", hundred_steps),
    ("curl -s http://127.0.0.1:8080/v1/budgets/people/refusals", an_object("charges", "nextPageToken")),
    ("curl -s -H 'content-type: application/json' -d '{\"name\": \"budgets/people\"}'", budget_named_people),
    ("curl -s http://127.0.0.1:8080/openapi.json", the_document),
    ("curl -sN http://127.0.0.1:8080/v1/events", None),  # has no end: the_stream_tells_a_charge()
]


class RecipesTest(unittest.TestCase):
    build = None

    def setUp(self):
        server = ServedLedger(self.build)
        self.server = server.__enter__()
        self.addCleanup(server.__exit__)
        folder = tempfile.TemporaryDirectory(prefix="epsledger-recipes.")
        self.addCleanup(folder.cleanup)
        search = [os.path.dirname(self.server.epsctl), os.path.dirname(self.server.epsledgerd)]
        self.environment = {
            "PATH": os.pathsep.join(search + [os.environ.get("PATH", os.defpath)]), "HOME": folder.name,
            "EPSLEDGER_SERVER": self.server.grpc, "no_proxy": "*"}

    def shell(self, command):
        line = ["bash", "-c", command.replace(HTTP_ADDRESS, self.server.http)]
        return subprocess.run(line, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=90)

    def check(self, command):
        known = [check for begin, check in EXPECTED if command.startswith(begin)]
        self.assertEqual(len(known), 1, "EXPECTED does not say what it answers: " + command)
        if known[0] is None:
            return self.the_stream_tells_a_charge(command)
        run = self.shell(command)
        self.assertEqual(run.returncode, 0, "%s\n%s" % (command, run.stderr))
        try:
            known[0](self, run.stdout)
        except (AssertionError, ValueError, KeyError) as error:
            raise AssertionError("%s answers:\n%s" % (command, run.stdout[:2000])) from error

    def the_stream_tells_a_charge(self, command):
        watcher = subprocess.Popen(["bash", "-c", "exec " + command.replace(HTTP_ADDRESS, self.server.http)],
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        alarm = threading.Timer(30, watcher.kill)
        alarm.start()
        try:
            beginning = [watcher.stdout.readline() for _ in range(3)]
            self.assertEqual(beginning, ["retry: 500\n", "\n", ": alive\n"])
            self.server.ctl("charge", "create", "people/first-run", "--attempt", "1", "--charge-id", "watched",
                            "--gaussian", "50")
            event, fields = {}, {}
            for line in watcher.stdout:
                name, _, value = line.rstrip("\n").partition(": ")
                fields[name] = value
                if name == "data" and "watched" in value:
                    event = json.loads(value)
                    break
            self.assertTrue(event, "no event told of the charge")
            self.assertRegex(fields["id"], r"\d")
        finally:
            alarm.cancel()
            watcher.kill()
            watcher.stdout.close()
            watcher.wait()

    def test_the_readme_works_as_it_stands(self):
        recipes = commands(section("README.md", "Five minutes"))
        self.assertGreater(len([c for c in recipes if c.startswith("curl ")]), 4)
        self.assertGreater(len([c for c in recipes if c.startswith("epsctl ")]), 9)
        for command in recipes:
            self.check(command)
        for begin, _ in EXPECTED:
            self.assertTrue(any(c.startswith(begin) for c in recipes + self.of_the_calculator()), "stale: " + begin)
        self.goes_on_until_it_refuses(next(c for c in recipes if c.startswith("epsctl charge create ")))

    def goes_on_until_it_refuses(self, charge):
        """As the README says: other keys under attempt 1, until exit code 3 with its four numbers."""
        for number in range(2, 200):
            command = charge.replace("--open-attempt", "--attempt 1").replace("block-1", "block-%d" % number)
            run = self.shell(command)
            if run.returncode:
                break
            accepted(self, run.stdout)
        self.assertEqual(run.returncode, 3, run.stderr)
        for number in ("cap ", "spent ", "requested "):
            self.assertRegex(run.stderr, number + r"[\d.]+")
        refused = json.loads(run.stdout)
        self.assertEqual((refused["decision"], refused["refusal"]["reason"]), ("REFUSED", "BUDGET_EXHAUSTED"))
        self.assertIn("%s of it" % refused["refusal"]["stepsThatFit"], run.stderr)
        self.assertEqual(self.shell(command).returncode, 3, "the same key is refused for ever")

    @staticmethod
    def of_the_calculator():
        return commands(section("client/cli/README.md"))

    def test_the_examples_of_the_calculator_work_as_they_stand(self):
        recipes = self.of_the_calculator()
        self.assertGreater(len(recipes), 3)
        for command in recipes:
            self.check(command)


if __name__ == "__main__":
    if not shutil.which("curl"):
        print("skipped: curl is not installed (docker/packages/test.txt)")
        sys.exit(77)
    RecipesTest.build = sys.argv.pop(1)
    unittest.main()
