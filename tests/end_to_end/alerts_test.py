"""Alerts, from a real ledger to real receivers that say no at first: alerts_test.py BUILD_DIR"""
import email
import email.policy
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

from alert_receivers import PATIENCE_SECONDS, MailReceiver, WebhookReceiver
from served_ledger import ServedLedger

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SECRET = b"a secret of the test, long enough"
RELATION = ("--relation", "add-or-remove-one")


class Alerts:
    """A running epsledger-alerts. Its log is read while it runs."""

    def __init__(self, program, config, *flags):
        self._process = subprocess.Popen([program, "--config", config, "--json-log", *flags], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._changed = threading.Condition()
        self._ended = False
        self.lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stderr:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def await_line(self, *texts):
        def is_there():
            return any(all(text in line for text in texts) for line in self.lines)
        with self._changed:
            self._changed.wait_for(lambda: self._ended or is_there(), PATIENCE_SECONDS)
            if not is_there():
                raise AssertionError("no line with %s in:\n%s" % (texts, "".join(self.lines)))

    def stop(self):
        """The exit code, once it has stopped in good order."""
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(PATIENCE_SECONDS)
        self._close()
        return code

    def kill(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._close()

    def _close(self):
        self._reader.join()
        self._process.stdout.close()
        self._process.stderr.close()


class AlertsTest(unittest.TestCase):
    build = None

    def setUp(self):
        self.program = os.path.join(self.build, "client", "alerts", "epsledger-alerts")
        self.folder = tempfile.mkdtemp(prefix="epsledger-alerts.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.state = os.path.join(self.folder, "state.json")
        self.secret = os.path.join(self.folder, "secret")
        with open(self.secret, "wb") as stream:
            stream.write(SECRET + b"\n")

    def enter(self, context):
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def serve(self):
        """A ledger with a budget of pure epsilon 10 and a session, whose attempt is 1."""
        server = self.enter(ServedLedger(self.build))
        server.ctl("budget", "create", "people", "--pure-epsilon", "10", *RELATION, "--privacy-unit", "person", "--label",
                   "team=vision")
        server.ctl("session", "create", "people/run", *RELATION, "--no-own-cap")
        server.ctl("charge", "create", "people/run", "--open-attempt", "--charge-id", "first", "--pure-dp", "0.5")
        return server

    def charge(self, server, name, epsilon, session="people/run", expect=0):
        server.ctl("charge", "create", session, "--attempt", "1", "--charge-id", name, "--pure-dp", str(epsilon), expect=expect)

    def refused(self, server, name):
        before = json.loads(server.ctl("-o", "json", "budget", "get", "people"))["refusedChargeCount"]
        self.charge(server, name, 100, expect=None)
        after = json.loads(server.ctl("-o", "json", "budget", "get", "people"))["refusedChargeCount"]
        self.assertEqual(int(after), int(before) + 1)

    def configure(self, server, hook, mail=None, **more):
        destinations = [{"name": "hook", "webhook": {"url": hook.url, "secret_file": self.secret}}]
        if mail is not None:
            destinations.append({"name": "officer", "mail": {"url": mail.url, "from": "alerts@example.org",
                                                             "to": ["officer@example.org", "second@example.org"]}})
        refusals = ["hook"] + (["officer"] if mail is not None else [])
        config = {
            "server": {"address": server.grpc}, "dashboard": "http://" + server.http, "state_file": self.state,
            "poll_interval": "50ms", "reading_interval": "10ms", "retry": {"initial": "10ms", "most": "50ms"},
            "destinations": destinations,
            "rules": [
                {"name": "spending", "on": "threshold", "thresholds": [0.5, 0.8], "destinations": ["hook"]},
                {"name": "refusals", "on": "refusal", "destinations": refusals},
                {"name": "damage", "on": "quarantine", "destinations": ["hook"]},
                {"name": "waiting", "on": "approval", "waits": "1ms", "destinations": ["hook"]}],
            **more}
        path = os.path.join(self.folder, "alerts.json")
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(config, stream)
        return path

    def start(self, config, *flags):
        alerts = Alerts(self.program, config, *flags)
        self.addCleanup(alerts.kill)
        alerts.await_line("watching")
        return alerts

    def await_taken(self, receiver, count):
        receiver.wait_for(lambda: len(receiver.taken) >= count, "want %d alerts" % count)
        return receiver.taken

    def outbox(self):
        with open(self.state, encoding="utf-8") as stream:
            return {name: queue["waiting"] for name, queue in json.load(stream)["outbox"].items()}

    def test_exactly_what_happened_is_told_signed_in_order_and_once(self):
        server = self.serve()
        hook = self.enter(WebhookReceiver(SECRET, refusals=3))
        mail = self.enter(MailReceiver(refusals=2))
        self.refused(server, "before-the-first-start")  # is no news
        config = self.configure(server, hook, mail)
        alerts = self.start(config)

        self.charge(server, "half", 4.5)
        self.await_taken(hook, 1)
        self.refused(server, "too-large")
        self.await_taken(hook, 2)
        server.ctl("proposal", "close", "people", "--id", "done", "--reason", "the study is over")
        self.await_taken(hook, 3)
        self.await_taken(mail, 1)
        alerts.await_line("delivered", '"destination":"officer"')
        self.assertEqual(alerts.stop(), 0)
        self.assertEqual(self.outbox(), {"hook": [], "officer": []})

        # Nobody watches. A refusal within the hour is counted; the crossing is told at the next start.
        self.refused(server, "too-large-again")
        self.charge(server, "much", 3.5)
        alerts = self.start(config)
        self.await_taken(hook, 4)

        # A larger cap is a new budget: it starts with 8.5 of 16, and .8 is crossed again.
        server.ctl("budget", "supersede", "people", "people-2", "--pure-epsilon", "16", "--reason", "more", "--yes")
        self.await_taken(hook, 5)
        server.ctl("session", "create", "people-2/run", *RELATION, "--no-own-cap")
        server.ctl("charge", "create", "people-2/run", "--open-attempt", "--charge-id", "more", "--pure-dp", "4.5")
        self.await_taken(hook, 6)
        self.assertEqual(alerts.stop(), 0)

        self.assertEqual([(one["kind"], one["budget"]) for one in hook.taken],
                         [("threshold", "budgets/people"), ("refusal", "budgets/people"), ("approval", "budgets/people"),
                          ("threshold", "budgets/people"), ("threshold", "budgets/people-2"),
                          ("threshold", "budgets/people-2")])
        self.assertEqual(hook.unsigned, 0)
        half, refusal, approval, much, larger, raised = hook.taken
        # Each try had the same id.
        self.assertEqual([one["id"] for one in hook.refused], [half["id"]] * 3)
        self.assertEqual(len({one["id"] for one in hook.taken}), 6)
        self.assertTrue(all(one["id"] == one["key"] and one["version"] == 1 for one in hook.taken))
        self.assertEqual(half["facts"]["threshold"], "0.5")
        self.assert_rounded_up(half, 0.5)
        self.assertEqual(half["labels"], {"team": "vision"})
        self.assertEqual(half["link"], "http://%s/#/budgets/people" % server.http)
        self.assertEqual((refusal["facts"]["reason"], refusal["facts"]["requested"]), ("BUDGET_EXHAUSTED", "100"))
        self.assertTrue(refusal["facts"]["charge"].endswith("/charges/too-large"), refusal)
        self.assertEqual(approval["facts"]["proposal"], "budgets/people/proposals/done")
        self.assertEqual((much["facts"]["threshold"], much["facts"]["thresholdsCrossed"]), ("0.8", "0.8"))
        self.assertEqual(larger["facts"]["threshold"], "0.5")
        self.assert_rounded_up(larger, 8.5 / 16)
        self.assertEqual(raised["facts"]["threshold"], "0.8")
        self.check_mail(mail, refusal)

    def assert_rounded_up(self, alert, truth):
        """The fraction is rounded up, by a unit in the last place or two."""
        told = float(alert["facts"]["spentFraction"])
        self.assertTrue(truth <= told <= truth * (1 + 1e-15), told)

    def check_mail(self, mail, refusal):
        self.assertEqual((len(mail.taken), len(mail.refused)), (1, 2))
        sender, recipients, text = mail.taken[0]
        self.assertEqual((sender, recipients), ("<alerts@example.org>", ["<officer@example.org>", "<second@example.org>"]))
        message = email.message_from_bytes(text, policy=email.policy.default)
        self.assertEqual(message["subject"], "[epsledger] budgets/people: a charge was refused (BUDGET_EXHAUSTED)")
        self.assertEqual(message["to"], "officer@example.org, second@example.org")
        self.assertEqual(message.get_content_type(), "text/plain")
        self.assertIn(refusal["link"], message.get_content())
        self.assertIn("requested: 100\n", message.get_content())
        self.assertNotIn(SECRET.decode(), message.get_content())

    def test_what_was_not_taken_survives_a_kill_and_a_server_that_is_away(self):
        server = self.serve()
        hook = self.enter(WebhookReceiver(SECRET, refusals=10 ** 9))
        config = self.configure(server, hook)
        alerts = self.start(config)
        self.charge(server, "half", 4.5)
        self.refused(server, "too-large")
        hook.wait_for(lambda: len(hook.refused) >= 2, "two tries")
        # Both are in the file before they are sent.
        alerts.await_line("a charge was refused")
        alerts.await_line("not delivered")
        alerts.kill()
        kept = {alert["id"] for alert in self.outbox()["hook"]}
        self.assertTrue({one["id"] for one in hook.refused} <= kept)

        hook.refuse(1)
        server.stop()
        alerts = Alerts(self.program, config)
        self.addCleanup(alerts.kill)
        self.await_taken(hook, len(kept))  # while the ledger is away
        server.start_again()
        alerts.await_line("watching")
        self.charge(server, "much", 3.5)
        self.await_taken(hook, 3)
        server.kill()
        server.start_again()
        server.ctl("budget", "freeze", "people", "--reason", "a test")
        self.charge(server, "frozen", 0.1, expect=None)
        self.await_taken(hook, 4)
        self.assertEqual(alerts.stop(), 0)
        self.assertEqual(sorted((one["kind"], one["facts"].get("threshold", one["facts"].get("reason"))) for one in hook.taken),
                         [("refusal", "BUDGET_EXHAUSTED"), ("refusal", "BUDGET_FROZEN"), ("threshold", "0.5"),
                          ("threshold", "0.8")])
        self.assertEqual(len({one["id"] for one in hook.taken}), 4)
        self.assertEqual(hook.unsigned, 0)

    def test_a_ledger_that_lost_entries_and_its_quarantine_are_told(self):
        server = self.serve()
        hook = self.enter(WebhookReceiver(SECRET))
        config = self.configure(server, hook)
        server.stop()
        shutil.copytree(server.data_dir, server.data_dir + ".before")
        server.start_again()
        alerts = self.start(config)
        attempt = "budgets/people/sessions/run/attempts/1"
        charge = {"attempt": attempt, "count": "1", "event": {"pureDp": {"epsilon": 0.25}}}
        seen = server.post("ChargeService/Charge", {**charge, "chargeId": "lost"})
        # A refusal that was told says that the watch has seen the entry before it.
        self.refused(server, "too-large")
        self.await_taken(hook, 1)
        self.assertEqual(alerts.stop(), 0)
        server.stop()
        shutil.rmtree(server.data_dir)
        os.rename(server.data_dir + ".before", server.data_dir)
        server.start_again()
        alerts = self.start(config)
        lost = self.await_taken(hook, 2)[1]
        self.assertEqual((lost["kind"], lost["title"]), ("quarantine", "budgets/people: the ledger has lost entries"))
        self.assertGreater(int(lost["facts"]["seenSequence"]), int(lost["facts"]["lastSequence"]))
        head = {"rootBudget": "budgets/people", "sequence": seen["sequence"], "hash": seen["hash"], "tag": seen["headTag"]}
        with self.assertRaises(urllib.error.HTTPError) as error:
            server.post("ChargeService/Charge", {**charge, "chargeId": "next", "lastSeenHead": head})
        error.exception.close()
        quarantine = self.await_taken(hook, 3)[2]
        self.assertEqual((quarantine["kind"], quarantine["facts"]["canBeLifted"]), ("quarantine", "true"))
        self.assertEqual(quarantine["title"], "budgets/people: the ledger takes no charges")
        self.assertEqual(alerts.stop(), 0)
        self.assertEqual(len(hook.taken), 3)

    def test_a_rule_that_names_a_budget_follows_it_to_its_successor(self):
        server = self.serve()
        hook = self.enter(WebhookReceiver(SECRET))
        server.ctl("budget", "create", "others", "--pure-epsilon", "1", *RELATION, "--privacy-unit", "person")
        server.ctl("session", "create", "others/run", *RELATION, "--no-own-cap")
        server.ctl("charge", "create", "others/run", "--open-attempt", "--charge-id", "first", "--pure-dp", "0.1")
        rules = [{"name": "theirs", "on": "refusal", "budgets": ["budgets/people"], "destinations": ["hook"]}]
        alerts = self.start(self.configure(server, hook, rules=rules))
        server.ctl("budget", "supersede", "people", "people-2", "--pure-epsilon", "16", "--reason", "more", "--yes")
        server.ctl("session", "create", "people-2/run", *RELATION, "--no-own-cap")
        server.ctl("charge", "create", "people-2/run", "--open-attempt", "--charge-id", "more", "--pure-dp", "1")
        self.charge(server, "too-large", 100, "others/run", expect=None)
        self.charge(server, "too-large", 100, "people-2/run", expect=None)
        self.assertEqual([one["budget"] for one in self.await_taken(hook, 1)], ["budgets/people-2"])
        self.assertEqual(alerts.stop(), 0)
        self.assertEqual((len(hook.taken), self.outbox()), (1, {"hook": []}))

    def run_once(self, config, *flags):
        done = subprocess.run([self.program, "--config", config, *flags], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS)
        return done.returncode, done.stdout + done.stderr

    def certificate(self):
        paths = os.path.join(self.folder, "certificate.pem"), os.path.join(self.folder, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                        "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out", paths[0], "-keyout",
                        paths[1]], check=True, capture_output=True)
        return paths

    def test_a_test_alert_goes_to_one_destination_and_tls_is_verified(self):
        certificate = self.certificate()
        hook = self.enter(WebhookReceiver(SECRET, certificate=certificate))
        mail = self.enter(MailReceiver())
        destinations = [
            {"name": "trusted", "webhook": {"url": hook.url, "secret_file": self.secret, "ca_file": certificate[0]}},
            {"name": "unknown", "webhook": {"url": hook.url, "secret_file": self.secret}},
            {"name": "officer", "mail": {"url": mail.url, "from": "alerts@example.org", "to": ["officer@example.org"]}}]
        rules = [{"name": "all", "on": "refusal", "destinations": ["trusted"]}]

        class Nowhere:
            grpc, http = "127.0.0.1:1", "127.0.0.1:1"
        config = self.configure(Nowhere, hook, destinations=destinations, rules=rules)
        self.assertEqual(self.run_once(config, "--check"), (0, "%s: 3 destinations, 1 rules\n" % config))
        code, said = self.run_once(config, "--test", "trusted")
        self.assertEqual((code, len(hook.taken), hook.unsigned), (0, 1, 0), said)
        self.assertEqual(hook.taken[0]["kind"], "test")
        verification = {}
        exec(self.shown("python"), verification)  # pylint: disable=exec-used
        header, body = hook.last
        self.assertTrue(verification["is_genuine"](SECRET, header, body))
        self.assertFalse(verification["is_genuine"](SECRET, header, body + b" "))
        self.assertFalse(verification["is_genuine"](b"another secret", header, body))
        code, said = self.run_once(config, "--test", "unknown")
        self.assertEqual((code, len(hook.taken)), (1, 1), said)
        self.assertIn("certificate", said)
        code, said = self.run_once(config, "--test", "officer")
        self.assertEqual((code, len(mail.taken)), (0, 1), said)
        code, said = self.run_once(config, "--test", "nobody")
        self.assertEqual((code, "got nobody" in said), (2, True), said)
        code, said = self.run_once(self.configure(Nowhere, hook, poll_interval=7), "--check")
        self.assertEqual((code, "poll_interval: got 7" in said), (2, True), said)

    def shown(self, language):
        """The first block of the README in a language."""
        with open(os.path.join(ROOT, "client", "alerts", "README.md"), encoding="utf-8") as stream:
            return re.search(r"```%s\n(.*?)```" % language, stream.read(), re.DOTALL)[1]

    def test_the_configurations_that_are_shown_are_read(self):
        with open(os.path.join(ROOT, "docker", "alerts", "alerts.json"), encoding="utf-8") as stream:
            shipped = stream.read()
        for name in ("token", "admin", "pager-secret", "mail-password", "alerts-webhook-secret"):
            with open(os.path.join(self.folder, name), "w", encoding="ascii") as stream:
                stream.write("epsl_0123456789abcdef\n")
        config = os.path.join(self.folder, "shown.json")
        for text, counts in ((self.shown("json"), "2 destinations, 5 rules"), (shipped, "1 destinations, 4 rules")):
            with open(config, "w", encoding="utf-8") as stream:
                stream.write(re.sub(r"/(etc/epsledger-alerts|run/secrets|var/lib/epsledger-tokens)/", self.folder + "/", text))
            self.assertEqual(self.run_once(config, "--check"), (0, "%s: %s\n" % (config, counts)))

    def test_a_dry_run_prints_alerts_and_sends_and_writes_nothing(self):
        server = self.serve()
        hook = self.enter(WebhookReceiver(SECRET))
        alerts = self.start(self.configure(server, hook), "--dry-run")
        self.charge(server, "half", 4.5)
        printed = json.loads(alerts._process.stdout.readline())
        self.assertEqual((printed["destination"], printed["alert"]["kind"]), ("hook", "threshold"))
        self.assertEqual(alerts.stop(), 0)
        self.assertEqual((hook.taken, hook.refused, os.path.exists(self.state)), ([], [], False))

    def test_a_state_file_of_another_ledger_is_not_used(self):
        hook = self.enter(WebhookReceiver(SECRET))
        self.start(self.configure(self.serve(), hook)).stop()
        code, said = self.run_once(self.configure(self.serve(), hook))
        self.assertEqual((code, "is about the ledgers" in said), (1, True), said)


if __name__ == "__main__":
    AlertsTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
