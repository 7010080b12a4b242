"""The examples of --help, run as they stand: examples_test.py BUILD_DIR

Every verb's help has an example that shows that verb. Each example is run in a shell on a server of its
own, which starts on the budgets, sessions, charges and files that the examples speak of, and must end
with 0. What goes on until Ctrl-C is interrupted once it has printed something.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error

from command_tree import ServedLedger, walk

NO_SERVER = {"attack", "compute", "compare", "curve", "explain", "completion", "version"}
RELATION = ("--relation", "add-or-remove-one")


class CopiedLedger(ServedLedger):
    """One that starts on a copy of a data directory."""

    def __init__(self, build, data):
        super().__init__(build)
        self._copied = data

    def _prepare(self, data_dir):
        shutil.copytree(self._copied, data_dir)


def lose_a_charge(server, budget):
    """Restores the folder of before a charge that a client saw: the budget's ledger is in quarantine."""
    server.ctl("budget", "create", budget, "--epsilon", "1", "--delta", "1e-5", *RELATION, "--privacy-unit", "person")
    server.ctl("session", "create", budget + "/run", *RELATION, "--no-own-cap")
    attempt = server.post("SessionService/OpenAttempt", {"session": "budgets/%s/sessions/run" % budget})["name"]
    charge = {"attempt": attempt, "count": "1", "event": {"gaussian": {"noiseMultiplier": 40}}}
    server.stop()
    shutil.copytree(server.data_dir, server.data_dir + ".before")
    server.start_again()
    seen = server.post("ChargeService/Charge", {**charge, "chargeId": "lost"})
    server.stop()
    shutil.rmtree(server.data_dir)
    os.rename(server.data_dir + ".before", server.data_dir)
    server.start_again()
    head = {"rootBudget": "budgets/" + budget, "sequence": seen["sequence"], "hash": seen["hash"], "tag": seen["headTag"]}
    try:
        server.post("ChargeService/Charge", {**charge, "chargeId": "next", "lastSeenHead": head})
        raise AssertionError("nobody noticed that a charge was lost")
    except urllib.error.HTTPError as error:
        assert b"LEDGER_DAMAGED" in error.read()


def prepare(server, folder):
    """What the examples speak of. Returns the variables that they use."""
    server.ctl("budget", "create", "adult", "--epsilon", "1", "--delta", "1e-5", *RELATION,
               "--privacy-unit", "person")
    server.ctl("session", "create", "adult/run-1", *RELATION, "--no-own-cap")
    server.ctl("charge", "create", "adult/run-1", "--open-attempt", "--charge-id", "step-7", "--gaussian", "40")
    _, sequence, _, root = server.ctl("ledger", "head", "adult", "-o", "csv").splitlines()[1].split(",")
    assert sequence == "7", "the example of `ledger prove` speaks of entry 7, not %s" % sequence
    server.ctl("lease", "acquire", "adult/run-1", "--attempt", "1", "--lease-id", "lease-1", "--gaussian", "40",
               "--count", "10")
    server.ctl("session", "create", "adult/sweep-a", *RELATION, "--no-own-cap", "--group", "sweep-1")
    server.ctl("budget", "create", "organisation", "--epsilon", "5", "--delta", "1e-5", *RELATION,
               "--privacy-unit", "person", "--require-provenance")
    server.ctl("statement", "get", "adult/run-1", "--delta", "1e-5", "--save", os.path.join(folder, "run-1.json"))
    with open(os.path.join(folder, "answers.json"), "w", encoding="utf-8") as file:
        json.dump({"name": "A model", "curators": ["An institute"], "description": "A model of income", "intendedUse": "a test",
                   "productType": "Machine learning model", "region": "nowhere", "publicationDate": "2026-11-28",
                   "authors": ["Ada"]}, file)
    with open(os.path.join(folder, "history.jsonl"), "w", encoding="utf-8") as file:
        file.write('{"count": 100, "event": {"gaussian": {"noiseMultiplier": 40}}}\n')
    # A context of the user whose home the folder is.
    contexts = os.path.join(folder, ".config", "epsledger", "contexts.json")
    os.makedirs(os.path.dirname(contexts))
    with open(contexts, "w", encoding="utf-8") as file:
        production = {"server": "privacy.example.org:50551", "tls": True}
        json.dump({"current": "", "contexts": {"production": production}}, file)
    os.chmod(contexts, 0o600)
    with open(os.path.join(folder, "scores.csv"), "w", encoding="utf-8") as file:
        for number in range(200):
            file.write("member,%d\nnon-member,%d\n" % (number + 100, number))
    server.ctl("budget", "create", "paused", "--epsilon", "1", "--delta", "1e-5", *RELATION, "--privacy-unit", "person")
    server.ctl("budget", "freeze", "paused", "--reason", "a look at it")
    server.ctl("proposal", "close", "adult", "--id", "close-1", "--reason", "done")
    sequence = server.ctl("proposal", "list", "adult", "-o", "csv").splitlines()[1].split(",")[1]
    assert sequence == "12", "the example of `proposal approve` speaks of proposal 12, not %s" % sequence
    lose_a_charge(server, "mended")
    key = server.ctl("server", "info", "-o", "csv").splitlines()[1].split(",")[-1]
    # From the first token on, the server asks everybody for one.
    created = json.loads(server.ctl("token", "create", "--role", "admin"))
    # Whoever made that one proposed the change too; this one is another person's.
    server.stop()
    secret = subprocess.run([server.epsledgerd, "token", "create", "--data-dir", server.data_dir, "--role", "admin", "--days",
                             "1"], check=True, capture_output=True, text=True).stdout.strip()
    return {"ROOT": root, "PUBLIC_KEY": key, "TOKEN": created["token"]["name"], "EPSLEDGER_TOKEN": secret}


class ExamplesTest(unittest.TestCase):
    build = None

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="epsledger-examples.")
        cls.addClassCleanup(scratch.cleanup)
        cls.files = os.path.join(scratch.name, "files")
        cls.data = os.path.join(scratch.name, "data")
        os.mkdir(cls.files)
        with ServedLedger(cls.build) as server:
            cls.epsctl = server.epsctl
            cls.variables = prepare(server, cls.files)
            shutil.copytree(server.data_dir, cls.data)
        cls.commands = walk(cls.epsctl)

    def run_example(self, example, server, variables):
        with tempfile.TemporaryDirectory(prefix="epsledger-example.") as folder:
            shutil.copytree(self.files, folder, dirs_exist_ok=True)
            environment = {**variables, "HOME": folder, "EPSLEDGER_SERVER": server,
                           "PATH": os.path.dirname(self.epsctl) + os.pathsep + os.environ.get("PATH", os.defpath)}
            endless = "--limit" not in example and re.search(r"--watch|^epsctl watch ", example)
            line = ["bash", "-c", ("exec " if endless else "set -o pipefail\n") + example]
            # Unbuffered: communicate() would never see what readline() read ahead.
            process = subprocess.Popen(line, env=environment, cwd=folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
            alarm = threading.Timer(60, process.kill)
            alarm.start()
            try:
                first = process.stdout.readline() if endless else b""
                if endless:
                    process.send_signal(signal.SIGINT)
                output, errors = process.communicate()
            finally:
                alarm.cancel()
            return process.returncode, (first + output).decode(), errors.decode()

    def check(self, example, server, variables):
        code, output, errors = self.run_example(example, server, variables)
        self.assertEqual(code, 0, "%s\n%s%s" % (example, output, errors))
        # bash ends with 0 when what it sources is missing.
        self.assertNotIn("command not found", errors, example)
        self.assertNotIn("\033", output + errors, example)
        if output[:1] in ("{", "[") and "completion" not in example:
            try:
                json.loads(output)
            except ValueError:
                for line in output.splitlines():
                    json.loads(line)

    def test_every_verb_has_examples_of_itself_that_work(self):
        verbs = [command for command in self.commands if not command.verbs]
        self.assertGreater(len(verbs), 50)
        ran = 0
        for verb in verbs:
            name = " ".join(("epsctl", *verb.path))
            with self.subTest(name):
                examples = verb.examples()
                self.assertTrue(examples, verb.help)
                for example in examples:
                    self.assertIn(name, example)
                    ran += 1
                    if verb.path[0] in NO_SERVER:
                        self.check(example, "127.0.0.1:1", {})
                        continue
                    with CopiedLedger(self.build, self.data) as server:
                        self.check(example, server.grpc, self.variables)
        self.assertGreaterEqual(ran, len(verbs))

    def test_the_first_tour_works_from_an_empty_server(self):
        tour = self.commands[0].help.split("A first tour:\n")[1].replace("\\\n", " ")
        steps = [line.strip() for line in tour.split("\n") if line.startswith("  epsctl ")]
        self.assertGreater(len(steps), 4)
        with ServedLedger(self.build) as server:
            for step in steps:
                self.check(step, server.grpc, {})

    def test_the_help_tells_the_exit_codes(self):
        text = self.commands[0].help
        for code in range(6):
            self.assertRegex(text, r"Exit codes:[^\n]*\b%d " % code)

    def test_every_global_flag_is_a_variable_too(self):
        text = self.commands[0].help
        section = re.search(r"^Global options .*:\n((?:  .*\n)*)", text, re.MULTILINE).group(1)
        flags = re.findall(r"^  (?:-\w,)?--([a-z-]+)", section, re.MULTILINE)
        self.assertGreater(len(flags), 8)
        for flag in flags:
            self.assertIn("EPSLEDGER_" + flag.upper().replace("-", "_"), section)


if __name__ == "__main__":
    ExamplesTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
