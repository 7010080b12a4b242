"""Connecting: whom a client calls and as whom, from arguments and environment; TLS and tokens against real servers."""
import contextlib
import os
import subprocess
import tempfile
import unittest
from unittest import mock

import epsledger
from epsledger.address import is_local
from certificates import make_certificates
from killable_ledger import BUILD
from ledger_case import CAP, STEP, LedgerCase
from served_ledger import ServedLedger

ONE_TRY = epsledger.Retry(max_tries=1)


@contextlib.contextmanager
def environment(**variables):
    """Nothing of epsledger's in the environment but these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EPSLEDGER_")}
    with mock.patch.dict(os.environ, {**kept, **variables}, clear=True):
        yield


class Addresses(unittest.TestCase):
    def test_http_is_told_by_argument_then_by_environment(self):
        with environment():
            self.assertEqual(epsledger.connect().address, "http://127.0.0.1:8080")
        with environment(EPSLEDGER_HTTP="http://localhost:1"):
            self.assertEqual(epsledger.connect().address, "http://localhost:1")
            self.assertEqual(epsledger.connect(address="http://[::1]:2/").address, "http://[::1]:2")
            self.assertEqual(epsledger.connect(address="https://ledger.example").address, "https://ledger.example:443")

    def test_what_is_no_address_is_refused(self):
        for address in ("127.0.0.1:8080", "localhost", "ftp://localhost:1", "http://", "http://localhost:x",
                        "http://localhost:99999", "http://localhost:0", "http://[::1",
                        "http://localhost:1/path", "http://localhost:1?query",
                        "http://user:password@localhost:1"):
            with self.subTest(address), environment(), self.assertRaisesRegex(ValueError, "address: got"):
                epsledger.connect(address=address)
        with environment(), self.assertRaisesRegex(ValueError, "transport: got 'smoke'"):
            epsledger.connect(transport="smoke")

    def test_local_is_what_is_known_to_be(self):
        for target in ("127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "unix:/a", "unix-abstract:a"):
            self.assertTrue(is_local(target), target)
        for target in ("128.0.0.1:1", "0.0.0.0:1", "[::]:1", "[::ffff:10.0.0.1]:1", "localhost.example:1", "::1:1",
                       "dns:localhost:1", "127.0.0.1.example:1", "2130706433:1", "", "localhost", "127.1:1"):
            self.assertFalse(is_local(target), target)

    def test_plaintext_stays_on_this_machine_and_a_token_does_in_any_case(self):
        with environment():
            with self.assertRaisesRegex(ValueError, "address: got 'ledger.example:80', want a loopback address"):
                epsledger.connect(address="http://ledger.example")
            epsledger.connect(address="http://ledger.example", allow_insecure=True)
            with self.assertRaisesRegex(ValueError, "token: would be sent in plaintext to ledger.example:80"):
                epsledger.connect(address="http://ledger.example", allow_insecure=True, token="epsl_secret")
            epsledger.connect(address="https://ledger.example", token="epsl_secret")
        with environment(EPSLEDGER_ALLOW_INSECURE="1"):
            epsledger.connect(address="http://ledger.example")
        with environment(EPSLEDGER_ALLOW_INSECURE="perhaps"), self.assertRaisesRegex(ValueError, "want 1 or 0"):
            epsledger.connect()

    def test_certificate_files_are_used_or_refused(self):
        with environment():
            with self.assertRaisesRegex(ValueError, "say https://"):
                epsledger.connect(address="http://localhost:1", tls_ca="/nowhere")
            with self.assertRaisesRegex(ValueError, "tls_ca: got '/nowhere', want a PEM file"):
                epsledger.connect(address="https://localhost:1", tls_ca="/nowhere")
            with self.assertRaisesRegex(ValueError, "both or neither"):
                epsledger.connect(address="https://localhost:1", tls_cert="/nowhere")
            with self.assertRaisesRegex(ValueError, "tls: got True"):
                epsledger.connect(address="https://localhost:1", tls=True)
        with environment(EPSLEDGER_TLS_CA="/nowhere"), self.assertRaisesRegex(ValueError, "say https://"):
            epsledger.connect(address="http://localhost:1")

    def test_a_token_comes_from_one_place_and_is_never_shown(self):
        with tempfile.TemporaryDirectory() as folder, environment():
            file = os.path.join(folder, "token")
            for text, message in (("", "one token and nothing else"), ("a b", "one token and nothing else")):
                with open(file, "w", encoding="utf-8") as stream:
                    stream.write(text)
                with self.assertRaisesRegex(ValueError, message):
                    epsledger.connect(token_file=file)
            with self.assertRaisesRegex(ValueError, "token_file: got '%s.absent', want a file that can be" % file):
                epsledger.connect(token_file=file + ".absent")
            with self.assertRaisesRegex(ValueError, "token, token_file: got both"):
                epsledger.connect(token="epsl_secret", token_file=file)
            for token in ("epsl secret", "epsl_secret\r\nx: y", "epsl_s\u00e9cret"):
                with self.assertRaises(ValueError) as refused:
                    epsledger.connect(token=token)
                self.assertNotIn("cret", str(refused.exception).replace("secret of", ""))
            self.assertNotIn("epsl_secret", repr(vars(epsledger.connect(token="epsl_secret"))))

    def test_retries_are_in_their_domain(self):
        for field, value in (("call_timeout", 0), ("call_timeout", float("inf")), ("overall_timeout", -1),
                             ("overall_timeout", float("nan")), ("max_tries", -1), ("initial_backoff", -1),
                             ("max_backoff", 0.01), ("max_backoff", float("nan"))):
            with self.subTest(field), self.assertRaisesRegex(ValueError, "retry.%s: got" % field):
                epsledger.Retry(**{field: value})


class Connections(LedgerCase):
    def test_the_address_of_grpc_is_named_as_such_at_once(self):
        # The overall timeout is out of reach: the call is not tried again.
        retry = epsledger.Retry(call_timeout=600, overall_timeout=600)
        with epsledger.connect(address="http://" + self.server.grpc, retry=retry) as client:
            with self.assertRaisesRegex(epsledger.CallFailed, "speaks gRPC, want .* --http-listen"):
                client.budgets()

    def test_a_connection_is_used_again_and_made_anew_after_the_server_ended_it(self):
        client = self.connect(retry=ONE_TRY)
        session = self.new_session(client=client)
        with mock.patch("http.client.HTTPConnection.connect", side_effect=AssertionError("a new connection")):
            session.step(STEP)
        self.server.kill()
        self.server.start_again()
        session.step(STEP)  # one try: the ended connection was noticed before it was asked

    def test_more_calls_than_the_server_takes_on_one_connection(self):
        client = self.connect(retry=ONE_TRY)
        for _ in range(1005):
            client.call("ServerService/GetServerInfo", {})

    def test_a_redirect_is_not_followed_and_an_unknown_method_is_said_to_be(self):
        with self.assertRaisesRegex(epsledger.CallFailed, "UNIMPLEMENTED"):
            self.client.call("ServerService/NoSuchMethod", {})


class TokenLedger(ServedLedger):
    """A server that knows every caller by a token."""

    def __init__(self):
        super().__init__(BUILD, ["--require-tokens"])

    def _prepare(self, data_dir):
        self.tokens = {role: self._create(data_dir, role) for role in ("admin", "trainer", "viewer")}

    def _create(self, data_dir, role):
        run = subprocess.run([self.epsledgerd, "token", "create", "--data-dir", data_dir, "--role", role],
                             capture_output=True, text=True, check=True, timeout=60)
        return next(word for word in run.stdout.split() if word.startswith("epsl_"))


class Tokens(unittest.TestCase):
    def test_a_token_says_who_calls_and_its_role_what_may_be_done(self):
        with TokenLedger() as server, environment(EPSLEDGER_HTTP="http://" + server.http):
            with epsledger.connect(token=server.tokens["admin"]) as admin:
                admin.create_budget(name="people", cap=CAP, privacy_unit="person")
            file = os.path.join(server.data_dir, "..", "token")
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(server.tokens["trainer"] + "\n")
            with environment(EPSLEDGER_HTTP="http://" + server.http, EPSLEDGER_TOKEN_FILE=file,
                             EPSLEDGER_TOKEN="epsl_another"), epsledger.connect() as trainer:
                session = trainer.open(session="run", budget="people")
                session.step(STEP)
            with epsledger.connect(token=server.tokens["viewer"]) as viewer:
                self.assertEqual(viewer.budget("people").accepted_charge_count, 1)
                with self.assertRaisesRegex(epsledger.PermissionDenied, "role trainer"):
                    viewer.open(session="run", budget="people")
            with epsledger.connect() as nobody, self.assertRaisesRegex(epsledger.Unauthenticated, "EPSLEDGER_TOKEN"):
                nobody.budget("people")


class Tls(unittest.TestCase):
    def test_a_server_is_called_where_its_certificate_is_trusted(self):
        with tempfile.TemporaryDirectory() as folder:
            ca, (certificate, key), _ = make_certificates(folder)
            with ServedLedger(BUILD, ["--tls-cert", certificate, "--tls-key", key]) as server:
                address = "https://" + server.http
                with environment(), epsledger.connect(address=address, tls_ca=ca) as client:
                    client.call("ServerService/GetServerInfo", {})
                    self.assertEqual(client.address, address)
                with environment(EPSLEDGER_HTTP=address, EPSLEDGER_TLS_CA=ca), epsledger.connect() as client:
                    client.call("ServerService/GetServerInfo", {})
                with environment(), epsledger.connect(address=address, retry=ONE_TRY) as client, \
                        self.assertRaisesRegex(epsledger.CallFailed, "is not trusted: .*EPSLEDGER_TLS_CA"):
                    client.call("ServerService/GetServerInfo", {})


if __name__ == "__main__":
    unittest.main()
