"""Signed statements say whose they are, whether they are the newest, and outlive the key: statements_test.py BUILD_DIR"""
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from served_ledger import ServedLedger

BUILD = None


class StatementsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="epsledger-statements.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.place = ["--data-dir", self.path("data")]

    def path(self, name):
        return os.path.join(self.folder, name)

    def serve(self, *flags):
        return ServedLedger(BUILD, flags=[*flags, "--publish-heads", self.path("heads"), "--publish-heads-interval", "1"],
                            place=self.place)

    def check(self, server, name, *more):
        """(exit code, what it says) of `statement check` of a saved file."""
        run = subprocess.run([server.epsctl, "--server", server.grpc, "statement", "check", self.path(name), "-o", "json",
                              *more], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        return run.returncode, run.stdout + run.stderr

    @staticmethod
    def info(server):
        return json.loads(server.ctl("server", "info", "-o", "json"))

    @staticmethod
    def key_of(info):
        return base64.b64decode(info["statementPublicKey"]).hex()

    def charge(self, server, session, charge_id):
        return json.loads(server.ctl("charge", "create", session, "--gaussian", "100", "--charge-id", charge_id,
                                     "--attempt", "1", "-o", "json"))

    def test_a_saved_statement_fills_the_forms_of_others_offline_and_only_as_it_was_signed(self):
        with self.serve() as server:
            server.ctl("budget", "create", "people", "--epsilon", "3", "--delta", "1e-5", "--relation", "add-or-remove-one",
                       "--privacy-unit", "person")
            server.ctl("session", "create", "people/run", "--relation", "add-or-remove-one", "--no-own-cap")
            server.ctl("charge", "create", "people/run", "--gaussian", "40", "--charge-id", "a", "--open-attempt")
            server.ctl("statement", "get", "people/run", "--delta", "1e-5", "--save", self.path("run.json"))
            server.ctl("statement", "get", "people", "--delta", "1e-5", "--save", self.path("people.json"))
            epsctl, key = server.epsctl, self.key_of(self.info(server))
        with open(self.path("run.json"), encoding="utf-8") as stream:
            saved = json.load(stream)
        with open(self.path("answers.json"), "w", encoding="utf-8") as stream:
            json.dump({"name": "The \"model\"", "curators": ["A", "B"], "description": "two\nlines", "intendedUse": "x",
                       "productType": "Machine learning model", "region": "EU", "publicationDate": "2024-02-29",
                       "authors": ["Ada"]}, stream)
        with open(self.path("model"), "wb") as stream:
            stream.write(b"weights")

        def export(form, *more, file="run.json"):
            run = subprocess.run([epsctl, "statement", "export", self.path(file), "--public-key", key, "--format", form,
                                  *more], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
            return run.returncode, run.stdout, run.stderr

        answers = ("--answers", self.path("answers.json"))
        epsilon = json.loads(saved["json"])["epsilon"]["epsilon"]
        for name in ("run.json", "people.json"):
            code, text, blanks = export("opendp-registry", *answers, file=name)
            self.assertEqual(code, 0, blanks)
            self.assertIn('\nstatus: "Draft"\ntier: 3\n', text)
            self.assertIn('    name: "The \\"model\\""\n    data_curators:\n      - "A"\n      - "B"\n', text)
            self.assertIn('    publication_date: "2024-02-29"\n', text)
            self.assertIn("      delta: 1.0e-05\n", text)
            self.assertIn("dataDomain", blanks)
            self.assertNotIn("not stated", text)
            # The registry takes no section without fields. No answer here is of the deployment model.
            self.assertNotIn("deployment_model", text)
            self.assertNotRegex(text, r"(?m)^( *)\w+:\n(?!\1  )")
            # What it says is at least the truth.
            self.assertGreaterEqual(float(text.split("      epsilon: ")[1].split("\n")[0]),
                                    epsilon if name == "run.json" else 0)
        for form in ("nist-800-226", "model-card"):
            code, text, blanks = export(form)
            self.assertEqual((code, text.count("_not stated_") > 0, "contributionBounding" in blanks), (0, True, True))
            self.assertIn("gaussian{noiseMultiplier: 40}", text)
            self.assertIn(key, text)
        facet = json.loads(export("openlineage")[1])["epsledger_privacyStatement"]
        self.assertEqual((facet["epsilonUpperBound"], facet["signed"]["statement"]), (epsilon, saved["json"]))
        attested = json.loads(export("in-toto", "--subject", self.path("model"))[1])
        self.assertEqual(attested["_type"], "https://in-toto.io/Statement/v1")
        self.assertEqual(attested["subject"], [{"name": "model", "digest": {
            "sha256": hashlib.sha256(b"weights").hexdigest()}}])
        self.assertEqual(attested["predicate"]["signature"], saved["signature"])
        # A number that was changed is not copied into any form.
        saved["json"] = saved["json"].replace('"epsilon":%r' % epsilon, '"epsilon":0.001')
        with open(self.path("changed.json"), "w", encoding="utf-8") as stream:
            json.dump(saved, stream)
        for form in ("opendp-registry", "nist-800-226", "model-card", "openlineage", "in-toto"):
            code, text, error = export(form, *answers, file="changed.json")
            self.assertNotEqual(code, 0)
            self.assertEqual(text, "")
            self.assertIn("changed.json", error)
        code, _, error = export("model-card", "--subject", self.path("model"))
        self.assertIn("--subject: only the in-toto form", error)
        self.assertNotEqual(code, 0)

    def test_a_statement_is_known_as_the_newest_and_through_a_new_key(self):
        with self.serve("--server-name", "https://privacy.example.org") as server:
            server.ctl("budget", "create", "people", "--rho", "1", "--relation", "add-or-remove-one", "--privacy-unit",
                       "person")
            for run in ("run", "other"):
                server.ctl("session", "create", "people/" + run, "--relation", "add-or-remove-one", "--no-own-cap")
                server.ctl("charge", "create", "people/" + run, "--gaussian", "100", "--charge-id", "c1", "--open-attempt")
            old_key = self.key_of(self.info(server))
            server.ctl("statement", "get", "people/run", "--delta", "1e-5", "--save", self.path("run"))
            with open(self.path("run"), encoding="utf-8") as stream:
                said = json.loads(json.load(stream)["json"])
            self.assertEqual(said["server"], "https://privacy.example.org")
            self.assertEqual(said["ledger"]["tenant"], "")
            self.assertEqual(said["ledger"]["store"],
                             base64.b64decode(self.info(server)["incarnations"][0]["id"]).hex())
            self.assertEqual(self.check(server, "run")[0], 0)
            # Another session's charge moves the ledger and the budget above, and what that has left.
            self.charge(server, "people/other", "c2")
            code, text = self.check(server, "run")
            self.assertEqual((code, "caps" in text, "resource" in text), (1, True, False), text)
            seen = self.charge(server, "people/run", "c2")
            code, text = self.check(server, "run")
            self.assertEqual((code, "caps" in text and "resource" in text), (1, True), text)
            server.ctl("statement", "get", "people/run", "--delta", "1e-5", "--save", self.path("newer"))
            self.assertEqual(self.check(server, "newer", "--public-key", old_key)[0], 0)

            # Somebody's own signature, and a statement that was changed.
            with open(self.path("newer"), encoding="utf-8") as stream:
                statement = json.load(stream)
            for change in ({"json": statement["json"].replace("c2", "c3").replace("person", "group")},
                           {"text": statement["text"] + " "},
                           {"publicKey": base64.b64encode(bytes(32)).decode()},
                           {"head": {**statement["head"], "sequence": "3"}}):
                with open(self.path("forged"), "w", encoding="utf-8") as stream:
                    json.dump({**statement, **change}, stream)
                code, text = self.check(server, "forged")
                self.assertEqual(code, 1, text)
                self.assertIn("forged", text)

        # The key is replaced: with the one before it, what was signed is known, and so are heads of clients.
        os.rename(self.path("data/statement.key"), self.path("before.key"))
        head = {"rootBudget": "budgets/people", "sequence": seen["sequence"], "hash": seen["hash"], "tag": seen["headTag"]}
        charge = {"attempt": "budgets/people/sessions/run/attempts/1", "count": 1, "lastSeenHead": head,
                  "event": {"gaussian": {"noiseMultiplier": 100}}}
        with self.serve("--statement-key-before", self.path("before.key")) as server:
            info = self.info(server)
            new_key = self.key_of(info)
            self.assertNotEqual(new_key, old_key)
            self.assertEqual([base64.b64decode(key).hex() for key in info["formerStatementPublicKeys"]], [old_key])
            self.assertEqual(self.check(server, "newer")[0], 0)
            self.assertEqual(self.check(server, "newer", "--public-key", new_key)[0], 1)
            server.ctl("statement", "get", "people/run", "--delta", "1e-5", "--save", self.path("by-new"))
            self.assertEqual(self.check(server, "by-new")[0], 0)
            server.ctl("statement", "verify", self.path("newer"), "--public-key", old_key)
            server.ctl("statement", "verify", self.path("by-new"), "--public-key", new_key)
            # An authentic head of an entry that is not there stops the ledger, under the key of then as well.
            server.post("ChargeService/Charge", {**charge, "chargeId": "c3"})
        # Both keys signed the published heads.
        verify = [os.path.join(BUILD, "server", "epsledgerd"), "ledger", "verify", "--data-dir", self.path("data"), "--heads",
                  self.path("heads")]
        said = subprocess.run(verify, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(said.returncode, 0)  # by the newer key alone
        said = subprocess.run([*verify, "--public-key", old_key, "--public-key", new_key], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)

        # Without it nothing of before is the server's.
        os.unlink(self.path("heads"))
        with self.serve() as server:
            code, text = self.check(server, "newer")
            self.assertEqual(code, 1)
            self.assertIn("not one of this server's", text)
            self.assertEqual(self.check(server, "by-new")[0], 1)  # c3 came since

        # Another ledger of that name is another ledger.
        shutil.rmtree(self.path("data"))
        os.mkdir(self.path("data"), 0o700)
        shutil.copy(self.path("before.key"), self.path("data/statement.key"))
        os.unlink(self.path("heads"))
        with self.serve() as server:
            server.ctl("budget", "create", "people", "--rho", "1", "--relation", "add-or-remove-one", "--privacy-unit",
                       "person")
            server.ctl("session", "create", "people/run", "--relation", "add-or-remove-one", "--no-own-cap")
            code, text = self.check(server, "newer")
            self.assertEqual(code, 1)
            self.assertIn("another ledger", text)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
