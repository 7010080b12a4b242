"""Ledgers that earlier releases wrote, read by this one: upgrade_test.py BUILD

old_ledgers/VERSION/ROOT.jsonl is what `epsledgerd ledger export` of that release wrote, and ROOT.json what its server
said of the budgets and sessions in it. This release imports the file, comes to the same head, says the same of them,
and charges on. A release that stores something new adds a folder of
its own, and never changes the others':

    python3 tests/end_to_end/upgrade_test.py BUILD --write VERSION
"""
import glob
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "client", "python"))
sys.path.insert(0, os.path.join(ROOT, "tests", "python"))

from served_ledger import ServedLedger  # noqa: E402
from valid_events import VALID_EVENTS  # noqa: E402

BUILD = None
NEWEST = "0.1.0"
OLD = os.path.join(HERE, "old_ledgers")
RELATION = ("--relation", "add-or-remove-one")
GAUSSIAN = ("--gaussian", "50")


def epsledgerd(*arguments):
    done = subprocess.run([os.path.join(BUILD, "server", "epsledgerd"), *arguments], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120)
    if done.returncode != 0:
        raise AssertionError("epsledgerd %s: %s" % (" ".join(arguments), done.stderr))
    return done.stdout


def answers(server, root):
    """What a server says of a root budget: the head, and every budget and session of its ledger, by name."""
    said = {"head": server.post("AuditService/GetLedgerHead", {"budget": root})}
    while root:
        for budget in server.post("BudgetService/GetBudgetTree", {"name": root})["budgets"]:
            name = budget["name"]
            said[name] = server.post("BudgetService/GetBudget", {"name": name})
            del said[name]["theorem"]  # words, which may become better ones
            for session in server.post("SessionService/ListSessions", {"parent": name}).get("sessions", []):
                said[session["name"]] = server.post("SessionService/GetSession", {"name": session["name"]})
                said[session["name"] + "/charges"] = server.post("ChargeService/ListCharges", {"parent": session["name"]})
        root = said[root]["supersededBy"]
    return said


class Upgrade(unittest.TestCase):
    def test_every_ledger_of_every_release_is_read_as_it_was_written(self):
        ledgers = sorted(glob.glob(os.path.join(OLD, "*", "*.jsonl")))
        self.assertGreaterEqual(len(ledgers), 8)
        for ledger in ledgers:
            with self.subTest(os.path.relpath(ledger, OLD)):
                with open(ledger[:-1], encoding="utf-8") as stream:
                    written = json.load(stream)
                with open(ledger, encoding="utf-8") as stream:
                    root = json.loads(stream.readline())["rootBudget"]
                with ImportedLedger(ledger) as server:
                    read = answers(server, root)
                    self.assertEqual(list(read), list(written))
                    for name, said in written.items():
                        # A later release may say more.
                        self.assertEqual({field: read[name].get(field) for field in said}, said, name)
                    self.charge_on(server, root, read)

    def test_the_ledgers_hold_every_kind_of_entry(self):
        with open(os.path.join(ROOT, "server", "core", "entry.h"), encoding="utf-8") as stream:
            kinds = dict(re.findall(r"^struct (\w+) \{\n  static constexpr uint8_t kTag = (\d+);", stream.read(), re.MULTILINE))
        self.assertGreater(len(kinds), 10)
        for kind in ("TokenCreated", "TokenRevoked", "CallsDenied"):  # of the ledger of access, which is not exported
            del kinds[kind]
        for version in os.listdir(OLD):
            tags = set()
            for file in glob.glob(os.path.join(OLD, version, "*.jsonl")):
                with open(file, encoding="utf-8") as stream:
                    contents = [json.loads(line).get("content") for line in stream]
                # After the version of the encoding, sequence and time: server/core/codec.h.
                tags |= {int(content[34:36], 16) for content in contents if content}
            if version == NEWEST:
                self.assertEqual(tags, {int(tag) for tag in kinds.values()})
            else:
                self.assertLessEqual(tags, {int(tag) for tag in kinds.values()})

    def charge_on(self, server, root, read):
        """The next charge is accepted or refused, as ever, and the chain goes on from the old head."""
        before = int(read["head"]["sequence"])
        open_sessions = [name for name, said in read.items() if said.get("state") == "ACTIVE" and "/sessions/" in name]
        for name in open_sessions:
            budget, session = name.removeprefix("budgets/").split("/sessions/")
            server.ctl("charge", "create", budget + "/" + session, "--open-attempt", "--charge-id", "after-the-upgrade",
                       *GAUSSIAN, expect=None)
        after = int(server.post("AuditService/GetLedgerHead", {"budget": root})["sequence"])
        # An attempt, and what became of the charge.
        self.assertGreaterEqual(after, before + 2 * len(open_sessions))
        server.stop()
        self.assertIn(root + ": verified, %d entries" % after, epsledgerd("ledger", "verify", "--data-dir", server.data_dir))


class ImportedLedger(ServedLedger):
    """A server on a new data directory that holds what an export file says."""

    def __init__(self, file):
        super().__init__(BUILD)
        self._file = file

    def _prepare(self, data_dir):
        epsledgerd("ledger", "import", self._file, "--data-dir", data_dir)


def spend_more(server):
    """Beside ServedLedger.spend: every cap, every event, and every other kind of entry."""
    def budget(name, *cap):
        server.ctl("budget", "create", name, *cap, *RELATION, "--privacy-unit", "person")

    def session(name, *more):
        server.ctl("session", "create", name, *RELATION, *(more or ("--no-own-cap",)))

    budget("events", "--no-guarantee")
    session("events/of-every-kind")
    for at, event in enumerate(VALID_EVENTS):
        server.ctl("charge", "create", "events/of-every-kind", *(("--attempt", "1") if at else ("--open-attempt",)),
                   "--charge-id", "event-%d" % at, "--event", json.dumps(event.to_json()), "--count", str(1 + at % 3),
                   expect=None)  # some are accepted, some are more than the ledger can price
    for name, cap in (("pure", ("--pure-epsilon", "0.3")), ("gdp", ("--mu", "0.1")),
                      ("renyi", ("--renyi-order", "8", "--renyi-divergence", "0.01")),
                      ("basic", ("--epsilon", "0.3", "--delta", "1e-5", "--filter", "basic")),
                      ("advanced", ("--epsilon", "0.5", "--delta", "1e-5", "--filter", "advanced")),
                      ("one-order", ("--epsilon", "1", "--delta", "1e-5", "--filter", "renyi-one-order",
                                     "--filter-order", "32")),
                      ("zcdp-filter", ("--epsilon", "1", "--delta", "1e-5", "--filter", "zcdp"))):
        budget(name, *cap)
        session(name + "/run")
        event = ("--pure-dp", "0.05") if name in ("pure", "basic", "advanced") else GAUSSIAN
        for at in range(10):
            server.ctl("charge", "create", name + "/run", *(("--attempt", "1") if at else ("--open-attempt",)),
                       "--charge-id", "step-%d" % at, *event, "--count", str(1 + 3 * at), expect=None)
    budget("curve", "--curve-point", "0:0.3", "--curve-point", "1:0.01")
    session("curve/planned", *GAUSSIAN, "--count", "20", "--plan-delta", "1e-6")
    server.ctl("charge", "create", "curve/planned", "--open-attempt", "--charge-id", "half", *GAUSSIAN, "--count", "10")
    server.ctl("session", "create", "curve/too-much", *RELATION, "--gaussian", "1", "--count", "1000", "--plan-delta", "1e-6",
               expect=3)
    session("gdp/closed")
    server.ctl("session", "close", "gdp/closed", "--reason", "a test", "--yes")
    server.ctl("budget", "update", "gdp", "--display-name", "another name")
    server.ctl("budget", "freeze", "gdp", "--reason", "a test")
    server.ctl("budget", "thaw", "gdp", "--reason", "a test")
    server.ctl("lease", "settle", "people/first-run/1/lease-2", "--used", "10")


def write(version):
    folder = os.path.join(OLD, version)
    os.makedirs(folder)
    with ServedLedger(BUILD) as server:
        server.spend()
        spend_more(server)
        roots = {}
        for budget in server.post("BudgetService/ListBudgets", {"pageSize": 1000})["budgets"]:
            if not budget["parent"] and not budget["supersedes"]:
                roots[budget["name"]] = answers(server, budget["name"])
        server.stop()
        for name, said in roots.items():
            file = os.path.join(folder, name.removeprefix("budgets/"))
            epsledgerd("ledger", "export", name.removeprefix("budgets/"), file + ".jsonl", "--data-dir",
                       server.data_dir)
            with open(file + ".json", "w", encoding="utf-8") as stream:
                json.dump(said, stream, indent=1)
                stream.write("\n")


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2])
    else:
        unittest.main()
