"""A ledger for the tests of your own code.

    from epsledger.testing import LocalServer

    with LocalServer() as server:
        client = server.connect()

pytest finds the fixture `epsledger_server`, one server for a test session, if a conftest.py has

    pytest_plugins = ["epsledger.testing"]

The server is the real epsledgerd, found in PATH, or where EPSLEDGER_EPSLEDGERD says. It serves loopback only, without
access control, and its ledger is deleted at the end.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from types import TracebackType
from typing import Any, Iterator, Optional, Sequence, Type

from .client import Client, connect
from .errors import EpsledgerError

_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_LOG_BYTES_SHOWN = 2000


class LocalServer:
    """An epsledgerd with an empty ledger on free ports of this machine, from `with` to the end of its block.

    program  the path of epsledgerd; None: EPSLEDGER_EPSLEDGERD, else the one in PATH. FileNotFoundError if there is
             none.
    flags    more flags of epsledgerd.

    EpsledgerError, with the end of the server's log, if it does not start."""

    def __init__(self, *, program: Optional[str] = None, flags: Sequence[str] = ()) -> None:
        found = program or os.environ.get("EPSLEDGER_EPSLEDGERD") or shutil.which("epsledgerd")
        if found is None or not os.access(found, os.X_OK):
            raise FileNotFoundError("epsledgerd: got %r, want the path of the program in PATH, in EPSLEDGER_EPSLEDGERD "
                                    "or as program=" % found)
        self._program = found
        self._flags = list(flags)
        self._folder: Optional["tempfile.TemporaryDirectory[str]"] = None
        self._process: Optional["subprocess.Popen[bytes]"] = None
        #: "http://127.0.0.1:port", for connect(address=...); "" when it is not running.
        self.address = ""
        #: "127.0.0.1:port" of gRPC, for transport="grpc" and epsctl --server.
        self.grpc_address = ""

    def connect(self, **options: Any) -> Client:
        """Returns a client of this server; options as epsledger.connect."""
        return connect(address=self.address, **options)

    def __enter__(self) -> "LocalServer":
        self._folder = tempfile.TemporaryDirectory(prefix="epsledger-local-server.")
        try:
            self._start(self._folder.name)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._stop()

    def _start(self, folder: str) -> None:
        log_path, addresses = os.path.join(folder, "log"), os.path.join(folder, "addresses")
        with open(log_path, "wb") as log:
            self._process = subprocess.Popen(
                [self._program, "--data-dir", os.path.join(folder, "data"), "--listen", "127.0.0.1:0", "--http-listen",
                 "127.0.0.1:0", "--address-file", addresses, *self._flags],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + _START_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            lines = _whole_lines(addresses)
            if len(lines) >= 2:
                self.grpc_address, self.address = lines[0], "http://" + lines[1].split("://")[-1]
                return
            time.sleep(0.01)
        with open(log_path, "rb") as written:
            said = written.read()[-_LOG_BYTES_SHOWN:].decode(errors="replace")
        raise EpsledgerError("epsledgerd did not start: " + said)

    def _stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None
        self.address = self.grpc_address = ""
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None


def _whole_lines(path: str) -> Sequence[str]:
    """Returns the lines of a file that are complete; none if there is no file."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read().split("\n")[:-1]
    except FileNotFoundError:
        return []


try:
    import pytest
except ImportError:
    pass
else:
    @pytest.fixture(scope="session")
    def epsledger_server() -> Iterator[LocalServer]:
        """One LocalServer for the whole test session."""
        with LocalServer() as server:
            yield server
