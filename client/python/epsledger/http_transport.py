"""Calls over HTTP and JSON, the unary part of the Connect protocol, and streams of server-sent events, with the standard
library alone."""
from __future__ import annotations

import collections
import contextlib
import functools
import http.client
import json
import select
import socket
import ssl
import urllib.parse
from typing import Callable, Deque, Dict, Generator, Iterator, List, Optional, Tuple

from .address import Address
from .event_stream import read_changes
from .process import SurvivesFork
from .transport import Json, RpcError

# A firewall that drops packets gives no answer; a server that is there takes a connection much sooner.
_MOST_CONNECT_SECONDS = 5.0
# A stream of changes shows every 15 seconds that it is alive.
_MOST_SILENT_SECONDS = 60.0

# https://connectrpc.com/docs/protocol#error-codes; answers that are not JSON come from something in between.
_CODE_OF_STATUS = {400: "INTERNAL", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "UNIMPLEMENTED",
                   429: "UNAVAILABLE", 502: "UNAVAILABLE", 503: "UNAVAILABLE", 504: "UNAVAILABLE"}


class HttpTransport(SurvivesFork):
    """Connections that are kept and reused, one call at a time each. Uses no proxy, follows no redirect.

    A connection whose call did not end well is closed, with whatever is still under way on it."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        self._target = address.target
        self._context = address.tls.context() if address.tls is not None else None
        self._headers = {"content-type": "application/json", "accept": "application/json"}
        if address.token:
            self._headers["authorization"] = "Bearer " + address.token
        # Appending and popping are atomic: a fork can find no lock held.
        self._idle: Deque[http.client.HTTPConnection] = collections.deque()
        self._closed = False

    @property
    def address(self) -> str:
        return "%s://%s" % ("http" if self._context is None else "https", self._target)

    def call(self, method: str, request: Json, timeout: float) -> Json:
        body = json.dumps(request, separators=(",", ":"), allow_nan=False).encode()
        headers = dict(self._headers)
        headers["connect-timeout-ms"] = str(max(1, int(timeout * 1000)))
        with self._rpc_errors(timeout):
            status, answer = self._exchange("/epsledger.v1." + method, body, headers, timeout)
        return _read_answer(status, answer, self._target)

    def watch(self, resource: str, after: int, timeout: float,
              ends_by: Callable[[Callable[[], None]], None]) -> Generator[Json, None, None]:
        parameter = "session" if "/sessions/" in resource else "budget"
        path = "/v1/events?" + urllib.parse.urlencode({parameter: resource, "after": after})
        connection = self._new_connection()
        try:
            with self._rpc_errors(_MOST_SILENT_SECONDS):
                _connect(connection, timeout)
                connection.sock.settimeout(_MOST_SILENT_SECONDS)
                ends_by(functools.partial(_shut_down, connection.sock))
                connection.request("GET", path, headers={**self._headers, "accept": "text/event-stream"})
                response = connection.getresponse()
                if response.status != 200:
                    _read_answer(response.status, response.read(), self._target)
                yield {}
                yield from read_changes(response)
        finally:
            connection.close()

    @contextlib.contextmanager
    def _rpc_errors(self, timeout: float) -> Iterator[None]:
        """Raises the errors of a connection as RpcError."""
        try:
            yield
        except ssl.SSLCertVerificationError as error:
            raise RpcError("FAILED_PRECONDITION", "the certificate of %s is not trusted: %s; tls_ca or "
                           "EPSLEDGER_TLS_CA names who vouches for it" % (self._target, error.verify_message)) from None
        except socket.timeout:
            raise RpcError("DEADLINE_EXCEEDED", "%s did not answer in %g s" % (self._target, timeout)) from None
        except _NoConnection as failure:
            raise RpcError("UNAVAILABLE", "%s: %s" % (self._target, failure), never_sent=True) from None
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, http.client.BadStatusLine) and str(error.args[0]).startswith("\0"):
                # The first frame of HTTP/2: a server that reads no HTTP/1.
                raise RpcError("FAILED_PRECONDITION", "%s speaks gRPC, want the address of epsledgerd --http-listen "
                               "(or transport=\"grpc\")" % self._target) from None
            raise RpcError("UNAVAILABLE", "%s: %s" % (self._target, error or type(error).__name__)) from None

    def close(self) -> None:
        self._closed = True
        self._close_idle()

    def _after_fork(self) -> None:
        self._close_idle()  # our copies: the parent's stay open

    def _close_idle(self) -> None:
        connection = self._pop_idle()
        while connection is not None:
            connection.close()
            connection = self._pop_idle()

    def _pop_idle(self) -> Optional[http.client.HTTPConnection]:
        try:
            return self._idle.pop()
        except IndexError:  # nothing there, or another thread took it
            return None

    def _exchange(self, path: str, body: bytes, headers: Dict[str, str], timeout: float) -> Tuple[int, bytes]:
        connection = self._idle_connection() or self._new_connection()
        try:
            connection.timeout = timeout
            if connection.sock is None:
                _connect(connection, timeout)
            else:
                connection.sock.settimeout(timeout)
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            answer = response.read()
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        if self._closed:  # while this call was under way
            self._close_idle()
        return response.status, answer

    def _idle_connection(self) -> Optional[http.client.HTTPConnection]:
        connection = self._pop_idle()
        while connection is not None:
            # Readable before anything was asked: the server has ended it.
            if connection.sock is not None and not _is_readable(connection.sock):
                return connection
            connection.close()
            connection = self._pop_idle()
        return None

    def _new_connection(self) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(self._target)
        return http.client.HTTPSConnection(self._target, context=self._context)


class _NoConnection(Exception):
    """No connection was made. The text is why."""


def _connect(connection: http.client.HTTPConnection, timeout: float) -> None:
    patience = min(timeout, _MOST_CONNECT_SECONDS)
    connection.timeout = patience
    try:
        connection.connect()
        connection.sock.settimeout(timeout)
    except ssl.SSLCertVerificationError:
        raise
    except socket.timeout:
        raise _NoConnection("no connection in %g s" % patience) from None
    except OSError as error:
        raise _NoConnection(error.strerror or str(error) or type(error).__name__) from None


def _shut_down(sock: socket.socket) -> None:
    """Ends a read of another thread. That thread closes the socket."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)  # of a TLS socket too, whose own would drop its state


def _is_readable(sock: socket.socket) -> bool:
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([sock], [], [], 0)[0])


def _read_answer(status: int, answer: bytes, target: str) -> Json:
    try:
        message = json.loads(answer)
    except (ValueError, RecursionError):
        message = None
    if status == 200 and isinstance(message, dict):
        return message
    if status == 200:
        raise RpcError("INTERNAL", "the answer of %s is no JSON object: %r" % (target, answer[:80]))
    if isinstance(message, dict) and isinstance(message.get("code"), str):
        code = message["code"].upper()
        # Connect spells one of the codes differently.
        code = "CANCELLED" if code == "CANCELED" else code
        raise RpcError(code, str(message.get("message", "")), _read_details(message.get("details")))
    raise RpcError(_CODE_OF_STATUS.get(status, "UNKNOWN"),
                   "%s answered with HTTP status %d and no Connect error" % (target, status), from_between=True)


def _read_details(details: object) -> List[Tuple[str, Json]]:
    """The JSON of details is in "debug", which this service adds to every detail of its own."""
    if not isinstance(details, list):
        return []
    return [(str(detail.get("type")), detail["debug"]) for detail in details
            if isinstance(detail, dict) and isinstance(detail.get("debug"), dict)]
