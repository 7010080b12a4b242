"""Callers who are known by the tokens of an OpenID Connect issuer, over every door: issuer_test.py BUILD

The issuer is a small web server here, whose keys openssl made and with which it signs."""
import base64
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "client", "python"))

import epsledger  # noqa: E402
from epsledger.budget import Cap  # noqa: E402
from epsledger.events import Gaussian  # noqa: E402
from served_ledger import ServedLedger  # noqa: E402

BUILD = None
RULES = {"principal": "email", "rules": [
    {"claim": "/realm_access/roles", "value": "privacy-officer", "tenant": "acme", "role": "admin"},
    {"claim": "/realm_access/roles", "value": "vision", "tenant": "acme", "role": "trainer", "within": ["budgets/vision"]}]}


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """with Issuer() as issuer: its keys are at issuer.keys_url."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="epsledger-issuer.")
        self.published = []
        self.reads = 0
        issuer = self

        class Keys(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.reads += 1
                body = json.dumps({"keys": [issuer.public(kid) for kid in issuer.published]}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keys)
        self.keys_url = "http://127.0.0.1:%d/jwks" % self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._folder.cleanup()

    def path(self, kid):
        return os.path.join(self._folder.name, kid + ".pem")

    def make_key(self, kid):
        subprocess.run(["openssl", "genrsa", "-out", self.path(kid), "2048"], check=True, capture_output=True)

    def public(self, kid):
        said = subprocess.run(["openssl", "rsa", "-in", self.path(kid), "-noout", "-modulus"], check=True,
                              capture_output=True, text=True).stdout
        return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "e": "AQAB",
                "n": base64url(bytes.fromhex(said.strip().split("=")[1]))}

    def token(self, kid, email, role, **changes):
        claims = {"iss": "https://issuer.example", "aud": ["epsledger"], "sub": "1", "email": email,
                  "exp": int(time.time()) + 600, "realm_access": {"roles": [role]}, **changes}
        head = {"alg": "RS256", "typ": "JWT", "kid": kid}
        text = base64url(json.dumps(head).encode()) + "." + base64url(json.dumps(claims).encode())
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.path(kid)], input=text.encode(), check=True,
                                   capture_output=True).stdout
        return text + "." + base64url(signature)


class IssuerTest(unittest.TestCase):
    def post(self, server, token, method, message):
        """(status, answer)"""
        request = urllib.request.Request("http://%s/epsledger.v1.%s" % (server.http, method), json.dumps(message).encode(),
                                         {"content-type": "application/json", "authorization": "Bearer " + token})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def ctl(self, server, token, *arguments):
        return subprocess.run([server.epsctl, "--server", server.grpc, *arguments], capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL, env=dict(os.environ, EPSLEDGER_TOKEN=token))

    def test_callers_of_an_issuer_charge_and_are_named(self):
        with Issuer() as issuer, tempfile.TemporaryDirectory() as folder:
            issuer.make_key("first")
            issuer.make_key("second")
            issuer.published = ["first"]
            rules = os.path.join(folder, "rules.json")
            with open(rules, "w", encoding="utf-8") as stream:
                json.dump(RULES, stream)
            log = os.path.join(folder, "access.jsonl")
            flags = ["--oidc-issuer", "https://issuer.example", "--oidc-audience", "epsledger", "--oidc-keys",
                     issuer.keys_url, "--oidc-rules", rules, "--access-log", log]
            with ServedLedger(BUILD, flags=flags) as server:
                officer = issuer.token("first", "olga@example.org", "privacy-officer")
                trainer = issuer.token("first", "tom@example.org", "vision")
                # Nobody comes in without a token, though no token was ever made here.
                self.assertEqual(self.post(server, "epsl_" + "A" * 43, "BudgetService/ListBudgets", {})[0], 401)
                with epsledger.connect(address=server.grpc, transport="grpc", token=officer) as admin:
                    for name in ("vision", "speech"):
                        admin.create_budget(name=name, cap=Cap.zcdp(rho=1), privacy_unit="person")
                # Over gRPC, HTTP and by the command line, the same person with the same grants.
                with epsledger.connect(address=server.grpc, transport="grpc", token=trainer) as client:
                    session = client.open(session="run", budget="vision")
                    session.charge(Gaussian(noise_multiplier=100))
                charge = {"attempt": "budgets/vision/sessions/run/attempts/1", "chargeId": "by-http", "count": 1,
                          "event": {"gaussian": {"noiseMultiplier": 100}}}
                self.assertEqual(self.post(server, trainer, "ChargeService/Charge", charge)[0], 200)
                self.assertEqual(self.post(server, trainer, "BudgetService/GetBudget", {"name": "budgets/speech"})[0], 404)
                self.assertEqual(self.post(server, trainer, "BudgetService/FreezeBudget",
                                           {"name": "budgets/vision", "reason": "x"})[0], 403)
                listed = self.ctl(server, trainer, "budget", "list", "-o", "json")
                self.assertEqual([budget["name"] for budget in json.loads(listed.stdout)], ["budgets/vision"])
                who = self.ctl(server, trainer, "server", "whoami", "-o", "json")
                self.assertEqual(json.loads(who.stdout)["principal"], "oidc/tom@example.org")

                entries = json.loads(self.ctl(server, officer, "ledger", "entries", "vision", "-o", "json").stdout)
                actors = [entry["actor"]["principal"] for entry in entries]
                self.assertEqual(actors[0], "oidc/olga@example.org")
                self.assertEqual(set(actors[1:]), {"oidc/tom@example.org"})

                for token in (issuer.token("first", "tom@example.org", "cooks"),
                              issuer.token("first", "tom@example.org", "vision", exp=int(time.time()) - 100),
                              issuer.token("first", "tom@example.org", "vision", iss="https://issuer.example/"),
                              issuer.token("first", "tom@example.org", "vision", aud="another"),
                              trainer[:-8] + "AAAAAAAA"):
                    self.assertEqual(self.post(server, token, "BudgetService/ListBudgets", {})[0], 401)
                    run = self.ctl(server, token, "budget", "list")
                    self.assertNotEqual(run.returncode, 0)
                    self.assertIn("the issuer's token is not taken", run.stderr)

                # The issuer signs with its next key: a token of it makes the server read the keys again.
                issuer.published = ["first", "second"]
                newer = issuer.token("second", "tom@example.org", "vision")
                deadline = time.monotonic() + 60
                while self.post(server, newer, "BudgetService/ListBudgets", {})[0] != 200:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.2)
                # A flood of made-up keys does not become a flood at the issuer.
                reads = issuer.reads
                for number in range(50):
                    forged = base64url(json.dumps({"alg": "RS256", "kid": "k%d" % number}).encode()) + ".e30.AA"
                    self.assertEqual(self.post(server, forged, "BudgetService/ListBudgets", {})[0], 401)
                self.assertLessEqual(issuer.reads, reads + 1)
                server.stop()
            with open(log, encoding="utf-8") as stream:
                lines = [json.loads(line) for line in stream]
            self.assertIn("oidc/tom@example.org", {line.get("principal") for line in lines})
            with open(log, encoding="utf-8") as stream:
                self.assertNotIn(trainer[:40], stream.read())


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
