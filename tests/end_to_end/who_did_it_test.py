"""Who did it: every entry names its actor, hashed with the rest: who_did_it_test.py BUILD"""
import datetime
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "client", "python"))

import epsledger  # noqa: E402
import grpc  # noqa: E402
from epsledger.events import Gaussian  # noqa: E402
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory  # noqa: E402
from served_ledger import ServedLedger  # noqa: E402

BUILD = None


class TokenLedger(ServedLedger):
    """A server that wants tokens, with those of two ADMINs that the offline program made."""

    def _prepare(self, data_dir):
        self.admin, self.other_admin = [
            subprocess.run([self.epsledgerd, "token", "create", "--data-dir", data_dir, "--tenant", "acme", "--role",
                            "admin", "--days", "1"], check=True, capture_output=True, text=True).stdout.strip()
            for _ in range(2)]

    def post_as(self, token, method, message, user_agent):
        request = urllib.request.Request("http://%s/epsledger.v1.%s" % (self.http, method), json.dumps(message).encode(),
                                         {"content-type": "application/json", "authorization": "Bearer " + token,
                                          "user-agent": user_agent})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def ctl_as(self, token, *arguments):
        run = subprocess.run([self.epsctl, "--server", self.grpc, *arguments], capture_output=True, text=True, timeout=60,
                             stdin=subprocess.DEVNULL, env=dict(os.environ, EPSLEDGER_TOKEN=token))
        if run.returncode != 0:
            raise AssertionError("epsctl %s: %s" % (" ".join(arguments), run.stderr))
        return run.stdout

    def verify(self, data_dir):
        return subprocess.run([self.epsledgerd, "ledger", "verify", "--data-dir", data_dir], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)


class Messages:
    """The messages of epsledger.v1, from the descriptors that the Python client carries."""

    def __init__(self):
        with open(os.path.join(os.path.dirname(epsledger.__file__), "descriptor_set.binpb"), "rb") as stream:
            files = descriptor_pb2.FileDescriptorSet.FromString(stream.read())
        self._pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            self._pool.Add(file)
        self._factory = message_factory.MessageFactory(self._pool)

    def of(self, name):
        return self._factory.GetPrototype(self._pool.FindMessageTypeByName("epsledger.v1." + name))


def token_name(server, token):
    """The name of the token that calls."""
    return server.post_as(token, "AccessService/GetCaller", {}, "")["principal"]


class WhoDidItTest(unittest.TestCase):
    def test_every_entry_names_who_asked_for_it(self):
        with TokenLedger(BUILD) as server:
            made = server.post_as(server.admin, "AccessService/CreateToken", {
                "token": {"role": "TRAINER", "description": "the trainer", "expireTime": in_a_day()}}, "a page")
            trainer = made["secret"]
            admin_name, trainer_name = token_name(server, server.admin), token_name(server, trainer)
            self.assertNotEqual(admin_name, trainer_name)

            server.ctl_as(server.admin, "budget", "create", "people", "--rho", "1", "--relation", "add-or-remove-one",
                          "--privacy-unit", "person")
            server.ctl_as(trainer, "session", "create", "people/run", "--relation", "add-or-remove-one", "--no-own-cap")
            with epsledger.connect(address=server.grpc, transport="grpc", token=trainer) as client:
                session = client.open(session="run", budget="people")
                session.charge(Gaussian(noise_multiplier=100))
            attempt = "budgets/people/sessions/run/attempts/1"
            charge = {"attempt": attempt, "chargeId": "by-http", "event": {"gaussian": {"noiseMultiplier": 100}}, "count": 1}
            server.post_as(trainer, "ChargeService/Charge", charge, "notebook/1")
            # What a client says of itself is cut, and left out where it is no text.
            server.post_as(trainer, "ChargeService/Charge", {**charge, "chargeId": "long"}, "x" * 5000)
            server.post_as(trainer, "ChargeService/Charge", {**charge, "chargeId": "odd"}, "\xe9t\xe9")
            server.post_as(server.admin, "BudgetService/FreezeBudget", {"name": "budgets/people", "reason": "a question"}, "")

            entries = json.loads(server.ctl_as(server.admin, "ledger", "entries", "people", "-o", "json"))
            actors = [(entry["actor"]["principal"], entry["actor"]["door"]) for entry in entries]
            self.assertEqual(actors[0], (admin_name, "GRPC"))  # created
            self.assertEqual(actors[-1], (admin_name, "HTTP"))  # froze
            self.assertEqual(set(actors[1:-1]), {(trainer_name, "GRPC"), (trainer_name, "HTTP")})
            by_text = {entry["description"]: entry["actor"].get("client", "") for entry in entries}
            said = {name: next(client for text, client in by_text.items() if name in text)
                    for name in ("by-http", "long", "odd")}
            self.assertEqual(said, {"by-http": "notebook/1", "long": "x" * 128, "odd": ""})
            self.assertIn("grpc", entries[0]["actor"]["client"])

            table = server.ctl_as(server.admin, "ledger", "entries", "people", "-o", "table")
            self.assertIn(admin_name + " over HTTP", table)
            self.assertNotIn("notebook/1", table)  # a claim

    def test_two_tokens_of_the_offline_program_are_two_people(self):
        with TokenLedger(BUILD) as server:
            server.ctl_as(server.admin, "budget", "create", "people", "--rho", "1", "--relation", "add-or-remove-one",
                          "--privacy-unit", "person")
            server.ctl_as(server.admin, "budget", "guard", "people", "--change", "close")
            server.ctl_as(server.admin, "proposal", "close", "people", "--id", "done", "--reason", "the study is over")
            listed, = json.loads(server.ctl_as(server.other_admin, "proposal", "list", "-o", "json"))
            approve = ("proposal", "approve", listed["name"], "--sequence", listed["sequence"], "--reason", "agreed", "--yes")
            with self.assertRaises(AssertionError) as alone:
                server.ctl_as(server.admin, *approve)
            self.assertIn("another person", str(alone.exception))
            # What a token makes is its own.
            made = server.post_as(server.other_admin, "AccessService/CreateToken", {
                "token": {"role": "ADMIN", "expireTime": in_a_day()}}, "")
            server.ctl_as(made["secret"], "proposal", "close", "people", "--id", "again", "--reason", "by a puppet")
            again = server.post_as(server.admin, "ProposalService/GetProposal", {"name": "budgets/people/proposals/again"}, "")
            with self.assertRaises(AssertionError):
                server.ctl_as(server.other_admin, "proposal", "approve", again["name"], "--sequence", again["sequence"],
                              "--reason", "agreed", "--yes")
            # One proposal says nothing of another.
            with self.assertRaises(AssertionError) as other:
                server.ctl_as(server.other_admin, *approve[:4], again["sequence"], *approve[5:])
            self.assertIn("another one bears the name", str(other.exception))
            server.post_as(server.admin, "ProposalService/CreateProposal", {
                "parent": "budgets/people", "proposalId": "child", "proposal": {"reason": "a share", "createChild": {
                    "budgetId": "hidden", "budget": {
                        "cap": {"zcdp": {"rho": .1}}, "neighboringRelation": "ADD_OR_REMOVE_ONE", "privacyUnit": "person",
                        "partition": {"function": "by hospital"}, "labels": {"team": "a"}}}}}, "")
            shown = server.ctl_as(server.other_admin, "proposal", "list", "people", "-o", "csv")
            for part in ("by hospital", "team", "ADD_OR_REMOVE_ONE", "person", "hidden"):
                self.assertIn(part, shown)
            server.ctl_as(server.other_admin, *approve)
            budget = server.post_as(server.admin, "BudgetService/GetBudget", {"name": "budgets/people"}, "")
            self.assertEqual(budget["state"], "CLOSED")

    def test_every_charge_of_a_stream_that_is_not_accepted_has_a_line(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "access.jsonl")
            with TokenLedger(BUILD, flags=["--access-log", log]) as server:
                for name, rho in (("wide", "100"), ("full", "1e-9")):
                    server.ctl_as(server.admin, "budget", "create", name, "--rho", rho, "--relation",
                                  "add-or-remove-one", "--privacy-unit", "person")
                    server.ctl_as(server.admin, "session", "create", name + "/run", "--relation", "add-or-remove-one",
                                  "--no-own-cap")
                    server.post_as(server.admin, "SessionService/OpenAttempt",
                                   {"session": "budgets/%s/sessions/run" % name}, "")
                names = ["budgets/%s/sessions/run/attempts/1" % name for name in ("wide", "full", "none", "wide")]
                messages = Messages()
                with grpc.insecure_channel(server.grpc) as channel:
                    stream = channel.stream_stream("/epsledger.v1.ChargeService/StreamCharges",
                                                   request_serializer=lambda message: message.SerializeToString(),
                                                   response_deserializer=messages.of("ChargeResult").FromString)
                    requests = [json_format.ParseDict({"attempt": name, "chargeId": "c%d" % number, "count": "1",
                                                       "event": {"gaussian": {"noiseMultiplier": 1}}},
                                                      messages.of("ChargeRequest")())
                                for number, name in enumerate(names)]
                    results = list(stream(iter(requests), timeout=60,
                                          metadata=[("authorization", "Bearer " + server.admin)]))
                self.assertEqual([result.WhichOneof("result") for result in results],
                                 ["accepted", "refused", "error", "accepted"])
                server.stop()
            with open(log, encoding="utf-8") as stream:
                lines = [json.loads(line) for line in stream]
        lines = [line for line in lines if line["method"].endswith(".StreamCharges")]
        lines = [(line["resource"], line["outcome"], line.get("reason", "")) for line in lines]
        # Each line is written when its outcome is known. Two groups of commits may come in either order.
        self.assertEqual(sorted(lines[:2]), [("budgets/full/sessions/run", "FAILED_PRECONDITION", "BUDGET_EXHAUSTED"),
                                             ("budgets/none/sessions/run", "NOT_FOUND", "RESOURCE_NOT_FOUND")])
        self.assertEqual(lines[2:], [("budgets/wide/sessions/run", "OK", "")])

    def test_every_call_has_a_line_in_the_access_log(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "access.jsonl")
            with TokenLedger(BUILD, flags=["--access-log", log]) as server:
                made = server.post_as(server.admin, "AccessService/CreateToken", {
                    "token": {"role": "VIEWER", "expireTime": in_a_day()}}, "a page")
                viewer, viewer_name = made["secret"], made["token"]["name"]
                admin_name = token_name(server, server.admin)
                server.ctl_as(server.admin, "budget", "create", "people", "--rho", "1", "--relation",
                              "add-or-remove-one", "--privacy-unit", "person")
                server.ctl_as(viewer, "budget", "get", "people")
                server.ctl_as(server.admin, "ledger", "export", "people", os.path.join(folder, "exported"))
                trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
                request = urllib.request.Request(
                    "http://%s/epsledger.v1.BudgetService/FreezeBudget" % server.http,
                    json.dumps({"name": "budgets/people", "reason": "x"}).encode(),
                    {"content-type": "application/json", "authorization": "Bearer " + viewer, "x-request-id": "ticket-7",
                     "traceparent": trace})
                with self.assertRaises(urllib.error.HTTPError) as denied:
                    urllib.request.urlopen(request, timeout=60)
                self.assertEqual((denied.exception.code, denied.exception.headers["x-request-id"],
                                  denied.exception.headers["traceparent"]), (403, "ticket-7", trace))
                request.remove_header("Authorization")
                with self.assertRaises(urllib.error.HTTPError):
                    urllib.request.urlopen(request, timeout=60)
                server.stop()
            with open(log, encoding="utf-8") as stream:
                lines = [json.loads(line) for line in stream]

        def calls(method):
            return [line for line in lines if line["method"].endswith("." + method)]

        created, = calls("CreateBudget")
        self.assertEqual((created["tenant"], created["principal"], created["role"], created["door"], created["outcome"],
                          created["resource"]), ("acme", admin_name, "ADMIN", "GRPC", "OK", "people"))
        looked = calls("GetBudget")[0]
        self.assertEqual((looked["principal"], looked["resource"]), (viewer_name, "budgets/people"))
        exported, = calls("ExportLedger")
        self.assertEqual((exported["principal"], exported["resource"], exported["outcome"]),
                         (admin_name, "budgets/people", "OK"))
        denied, unknown = calls("FreezeBudget")
        self.assertEqual((denied["principal"], denied["outcome"], denied["requestId"],
                          denied["traceparent"], denied["door"]),
                         (viewer_name, "PERMISSION_DENIED", "ticket-7", trace, "HTTP"))
        self.assertEqual((unknown["outcome"], "principal" in unknown), ("UNAUTHENTICATED", False))
        self.assertTrue(all(line["requestId"] and line["seconds"] >= 0 and line["peer"] for line in lines))
        self.assertEqual(len({line["requestId"] for line in lines if line["requestId"] != "ticket-7"}), len(lines) - 2)

    def test_tokens_say_who_made_and_who_revoked_them(self):
        with TokenLedger(BUILD) as server:
            admin_name = token_name(server, server.admin)
            made = server.post_as(server.admin, "AccessService/CreateToken", {
                "token": {"role": "VIEWER", "expireTime": in_a_day()}}, "a page")
            name = made["token"]["name"]
            server.ctl_as(server.admin, "token", "revoke", name, "--yes")
            tokens = {token["name"]: token for token in json.loads(server.ctl_as(server.admin, "token", "list", "-o", "json"))}
            self.assertEqual(tokens[admin_name]["createdBy"], {"principal": "epsledgerd token", "door": "OFFLINE", "client": ""})
            self.assertNotIn("revokedBy", tokens[admin_name])
            self.assertEqual(tokens[name]["createdBy"], {"principal": admin_name, "door": "HTTP", "client": "a page"})
            self.assertEqual(tokens[name]["revokedBy"]["principal"], admin_name)
            self.assertEqual(tokens[name]["revokedBy"]["door"], "GRPC")
            # After a start too, which reads it from the ledger.
            server.stop()
            server.start_again()
            again = {token["name"]: token for token in json.loads(server.ctl_as(server.admin, "token", "list", "-o", "json"))}
            self.assertEqual(again, tokens)

    def test_another_name_in_an_entry_is_found_out(self):
        with TokenLedger(BUILD) as server:
            server.ctl_as(server.admin, "budget", "create", "people", "--rho", "1", "--relation", "add-or-remove-one",
                          "--privacy-unit", "person")
            admin_name = token_name(server, server.admin)
            server.stop()
            self.assertEqual(server.verify(server.data_dir).returncode, 0)
            copy = server.data_dir + ".copy"
            shutil.copytree(server.data_dir, copy)
            with sqlite3.connect(os.path.join(copy, "ledger.sqlite")) as database:
                for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                    database.execute("DROP TRIGGER %s" % name)
                changed = database.execute(
                    "UPDATE entries SET content = CAST(replace(CAST(content AS TEXT), ?, ?) AS BLOB) WHERE instr(content, ?)",
                    (admin_name, admin_name[:-1] + "~", admin_name.encode())).rowcount
            database.close()
            self.assertGreater(changed, 0)
            self.assertNotEqual(server.verify(copy).returncode, 0)


def in_a_day():
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
