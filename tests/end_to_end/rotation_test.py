"""Certificates and tokens, new ones in the place of old ones, while the server serves: rotation_test.py BUILD_DIR

The certificates are those of docker/certificates.sh. Ends with 77 where openssl is missing.
"""
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import unittest

from served_ledger import ServedLedger

HERE = os.path.dirname(os.path.abspath(__file__))
MAKE_CERTIFICATES = os.path.join(HERE, "..", "..", "docker", "certificates.sh")


class GuardedLedger(ServedLedger):
    """With TLS and tokens; the first token, an admin's, is in `token_file`."""

    def __init__(self, build, mutual=False):
        super().__init__(build)
        self._mutual = mutual

    def _prepare(self, data_dir):
        self.secrets = os.path.join(self._folder.name, "secrets")
        self.make_certificates()
        if self._mutual:
            self._flags += ["--tls-client-ca", self.file("ca.pem")]
        self._flags += ["--tls-cert", self.file("server.pem"), "--tls-key", self.file("server.key"), "--require-tokens"]
        self.token_file = self.write("first-token", subprocess.run(
            [self.epsledgerd, "token", "create", "--data-dir", data_dir, "--role", "admin"], check=True,
            capture_output=True, text=True, timeout=60).stdout)

    def file(self, name):
        return os.path.join(self.secrets, name)

    def write(self, name, text):
        with open(self.file(name), "w", encoding="ascii") as stream:
            stream.write(text)
        return self.file(name)

    def make_certificates(self):
        subprocess.run([MAKE_CERTIFICATES, self.secrets], check=True, capture_output=True, timeout=60)

    def as_client(self, *arguments, token=None, expect=0):
        flags = ["--tls-ca", self.file("ca.pem")]
        if self._mutual:
            flags += ["--tls-cert", self.file("client.pem"), "--tls-key", self.file("client.key")]
        if token:
            flags += ["--token-file", token]
        return self.ctl("--timeout", "20", "-o", "json", *flags, *arguments, expect=expect)

    def served_certificate(self, address, protocols):
        """What a new connection is shown."""
        host, _, port = address.rpartition(":")
        context = ssl.create_default_context(cafile=self.file("ca.pem"))
        context.set_alpn_protocols(protocols)
        with socket.create_connection((host, int(port)), timeout=30) as plain:
            with context.wrap_socket(plain, server_hostname=host) as connection:
                return connection.getpeercert()["serialNumber"]


class RotationTest(unittest.TestCase):
    build = None

    def serve(self, **options):
        server = GuardedLedger(self.build, **options)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def test_new_certificates_are_taken_while_it_serves(self):
        server = self.serve()
        endpoints = ((server.grpc, ["h2"]), (server.http, ["http/1.1"]))
        before = [server.served_certificate(*endpoint) for endpoint in endpoints]
        self.assertEqual(before[0], before[1])
        server.make_certificates()
        after = [server.served_certificate(*endpoint) for endpoint in endpoints]
        self.assertEqual(after[0], after[1])
        self.assertNotEqual(before[0], after[0])
        who = json.loads(server.as_client("server", "whoami", token=server.token_file))
        self.assertEqual(who["role"], "ADMIN")

    def test_a_key_of_another_certificate_is_not_taken(self):
        server = self.serve()
        before = server.served_certificate(server.grpc, ["h2"])
        shutil.copy(server.file("client.key"), server.file("other.key"))
        os.replace(server.file("other.key"), server.file("server.key"))
        self.assertEqual(server.served_certificate(server.grpc, ["h2"]), before)

    def test_the_health_check_needs_the_authority_and_no_token(self):
        server = self.serve()
        probe = [server.epsledgerd, "healthcheck", "--server", server.grpc]
        self.assertEqual(subprocess.run(probe + ["--tls-ca", server.file("ca.pem")], timeout=60).returncode, 0)
        self.assertNotEqual(subprocess.run(probe, capture_output=True, timeout=60).returncode, 0)

    def test_a_token_is_replaced_and_the_old_one_ends(self):
        server = self.serve()
        server.as_client("server", "whoami", expect=1)
        old, new = (server.write(name, json.loads(server.as_client(
            "token", "create", "--role", "trainer", "--description", name, token=server.token_file))["secret"])
            for name in ("old", "new"))
        for token in (old, new):
            self.assertEqual(json.loads(server.as_client("server", "whoami", token=token))["role"], "TRAINER")
        tokens = json.loads(server.as_client("token", "list", token=server.token_file))
        name = next(token["name"] for token in tokens if token["description"] == "old")
        server.as_client("token", "revoke", name, "--yes", token=server.token_file)
        server.as_client("server", "whoami", token=old, expect=1)
        self.assertEqual(json.loads(server.as_client("server", "whoami", token=new))["role"], "TRAINER")

    def test_the_clients_certificate_says_who_it_is(self):
        server = self.serve(mutual=True)
        who = json.loads(server.as_client("server", "whoami"))
        self.assertEqual((who["tenant"], who["role"]), ("development", "ADMIN"), who)
        server.make_certificates()
        self.assertEqual(json.loads(server.as_client("server", "whoami"))["role"], "ADMIN")


if __name__ == "__main__":
    if not shutil.which("openssl"):
        print("skipped: openssl is not installed (docker/packages/test.txt)")
        sys.exit(77)
    RotationTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
