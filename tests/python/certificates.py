"""Certificates for a test."""
import os
import subprocess


def make_certificates(folder):
    """(ca, (certificate, key) of a server at 127.0.0.1, the same of a client): PEM files."""

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder, timeout=60)

    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=a test's authority",
            "-days", "2", "-addext", "keyUsage=critical,keyCertSign")
    for name in ("server", "client"):
        with open(os.path.join(folder, name + ".ext"), "w", encoding="ascii") as stream:
            stream.write("subjectAltName=IP:127.0.0.1\n"
                         "authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n")
        openssl("req", *new_key, "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-out", name + ".pem", "-days", "2", "-extfile", name + ".ext")
    pairs = ((os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")) for name in ("server", "client"))
    return (os.path.join(folder, "ca.pem"), *pairs)
