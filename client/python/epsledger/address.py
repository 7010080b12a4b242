"""Where the server is and who calls: from arguments, else the environment of epsctl. Plaintext only to this machine."""
from __future__ import annotations

import dataclasses
import ipaddress
import os
import re
import ssl
import urllib.parse
from typing import Optional

from .errors import InvalidArgument, invalid

_FLAGS = {"1": True, "true": True, "yes": True, "on": True, "": False, "0": False, "false": False, "no": False,
          "off": False}
_PORTS = {"http": 80, "https": 443}


@dataclasses.dataclass(frozen=True)
class Tls:
    """PEM files for a connection with TLS."""

    ca: Optional[str] = None
    cert: Optional[str] = None
    key: Optional[str] = None

    def context(self) -> ssl.SSLContext:
        """Reads the files. InvalidArgument names the file that cannot be read."""
        context = ssl.create_default_context()
        if self.ca is not None:
            try:
                context = ssl.create_default_context(cafile=self.ca)
            except (OSError, ssl.SSLError) as error:
                raise invalid("tls_ca", self.ca, "a PEM file of authorities: %s" % error) from None
        if self.cert is not None:
            try:
                context.load_cert_chain(self.cert, self.key)
            except (OSError, ssl.SSLError) as error:
                raise invalid("tls_cert, tls_key", (self.cert, self.key),
                              "a certificate and its key, PEM: %s" % error) from None
        return context


@dataclasses.dataclass(frozen=True)
class Address:
    """The checked address of the server, and the identity of the caller. The token is not in its repr."""

    #: "host:port", or "unix:path" with gRPC.
    target: str
    #: None: plaintext.
    tls: Optional[Tls]
    token: str = dataclasses.field(default="", repr=False)

    @classmethod
    def of_http(cls, *, address: Optional[str], tls: Tls, token: str, allow_insecure: bool) -> "Address":
        """`address` is "http://host:port" or "https://host:port"."""
        try:
            split = urllib.parse.urlsplit(address or "")
        except ValueError:  # brackets that are not closed
            split = urllib.parse.SplitResult("", "", "", "", "")
        rest = (split.path not in ("", "/"), split.query, split.fragment, split.username, split.password)
        try:
            port = _PORTS[split.scheme] if split.port is None else split.port
        except (KeyError, ValueError):
            port = 0
        if split.scheme not in _PORTS or not split.hostname or not port or any(rest):
            raise invalid("address", address, "http://host:port or https://host:port")
        host = "[%s]" % split.hostname if ":" in split.hostname else split.hostname
        return cls._checked("%s:%d" % (host, port), split.scheme == "https", tls, token, allow_insecure, "say https://")

    @classmethod
    def of_grpc(cls, *, address: str, use_tls: bool, tls: Tls, token: str, allow_insecure: bool) -> "Address":
        """`address` is "host:port" or "unix:path"."""
        if "//" in address or not re.fullmatch(r"unix(-abstract)?:.+|.+:\d+", address):
            raise invalid("address", address, "host:port or unix:path of the server's gRPC")
        return cls._checked(address, use_tls or tls != Tls(), tls, token, allow_insecure, "use TLS")

    @classmethod
    def _checked(cls, target: str, has_tls: bool, tls: Tls, token: str, allow_insecure: bool, hint: str) -> "Address":
        if (tls.cert is None) != (tls.key is None):
            raise invalid("tls_cert, tls_key", (tls.cert, tls.key), "both or neither")
        if has_tls:
            return cls(target, tls, token)
        if tls != Tls():
            raise invalid("address", target,
                          "TLS, since certificate files are given (tls_..., EPSLEDGER_TLS_...): " + hint)
        if not is_local(target):
            if token:
                raise InvalidArgument("INVALID_ARGUMENT", "token: would be sent in plaintext to %s, where others can "
                                      "read it on the way: %s" % (target, hint))
            if not allow_insecure:
                raise invalid("address", target, "a loopback address where there is no TLS: %s, or allow_insecure if "
                              "nobody else can reach the network in between" % hint)
        return cls(target, None, token)


def is_local(target: str) -> bool:
    """Returns true if nobody between here and the server can read or change what is sent without TLS.

    That is a unix socket, a literal loopback address or "localhost", with a port. Returns false for every form that is
    not known to be local."""
    if target.startswith(("unix:", "unix-abstract:")):
        return True
    found = re.fullmatch(r"(?:\[([^\]]*)\]|([^:]*)):\d+", target)
    if not found:
        return False
    host = found.group(1) or found.group(2)
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback and ((address.version == 6) == (found.group(1) is not None))


def token_of(token: Optional[str], token_file: Optional[str]) -> str:
    """Returns the token given, else that of EPSLEDGER_TOKEN_FILE, else EPSLEDGER_TOKEN, else "".

    Errors never repeat the token: they end up in logs."""
    if token is not None and token_file is not None:
        raise InvalidArgument("INVALID_ARGUMENT", "token, token_file: got both, want one or neither")
    if token is None:
        token_file = token_file or os.environ.get("EPSLEDGER_TOKEN_FILE") or None
        token = os.environ.get("EPSLEDGER_TOKEN", "")
    if token_file is not None:
        try:
            with open(token_file, encoding="utf-8") as stream:
                words = stream.read().split()
        except (OSError, UnicodeDecodeError) as error:
            raise invalid("token_file", token_file, "a file that can be read: %s" % error) from None
        if len(words) != 1:
            raise invalid("token_file", token_file, "a file with one token and nothing else")
        token = words[0]
    if not all("!" <= letter <= "~" for letter in token):
        raise InvalidArgument("INVALID_ARGUMENT", "token: want the secret of a token, without white space")
    return token


def flag_of(name: str) -> bool:
    """Returns the value of an environment variable that is on or off."""
    text = os.environ.get(name, "")
    if text.lower() not in _FLAGS:
        raise invalid(name, text, "1 or 0")
    return _FLAGS[text.lower()]
