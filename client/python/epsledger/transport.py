"""One try of one call: the interface between the package and its transports."""
from __future__ import annotations

import re
from typing import Any, Callable, Dict, Generator, Optional, Protocol, Sequence, Tuple

#: A message as proto3 JSON: lowerCamel names, 64-bit integers as strings; an absent field has its default.
Json = Dict[str, Any]

# Codes after which the server may have committed, and a repetition with the same key can find out.
_WORTH_RETRYING = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN"})
# Codes that the server returns before it writes.
_NOT_COMMITTED = frozenset({
    "INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "UNAUTHENTICATED",
    "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED"})
_MOST_RETRY_DELAY = 3600.0


class RpcError(Exception):
    """The error of one try: a gRPC status name, its text, and its details as (type name, JSON)."""

    def __init__(self, code: str, message: str, details: Sequence[Tuple[str, Json]] = (), *,
                 never_sent: bool = False, from_between: bool = False) -> None:
        super().__init__(code, message)
        #: Something between client and server answered: it does not know what the server did.
        self.from_between = from_between
        #: No connection was made: the server cannot have seen the call.
        self.never_sent = never_sent
        self.code = code
        self.message = message
        self._details = details

    def detail(self, type_name: str) -> Optional[Json]:
        """Returns the first detail of that type, "epsledger.v1.Charge"; None if there is none."""
        return next((json for name, json in self._details if name == type_name), None)

    @property
    def is_worth_retrying(self) -> bool:
        """True for an outcome that a repetition can make definite."""
        return self.code in _WORTH_RETRYING

    @property
    def may_have_committed(self) -> bool:
        """True for all codes but those that the server returns before it writes, if the call was sent."""
        return not self.never_sent and (self.from_between or self.code not in _NOT_COMMITTED)

    @property
    def retry_delay(self) -> float:
        """Seconds that the server asks to wait (google.rpc.RetryInfo); 0 if it does not say."""
        info = self.detail("google.rpc.RetryInfo") or {}
        found = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(info.get("retryDelay", "")))
        delay = float(found.group(1)) if found else 0.0
        return delay if delay <= _MOST_RETRY_DELAY else 0.0


class Transport(Protocol):
    """Makes calls. Thread-safe, and usable in a forked child unless it raises WrongProcess."""

    @property
    def address(self) -> str:
        """For people: where the server is."""

    def call(self, method: str, request: Json, timeout: float) -> Json:
        """One try of "ChargeService/Charge", of at most `timeout` seconds. Raises RpcError."""

    def watch(self, resource: str, after: int, timeout: float,
              ends_by: Callable[[Callable[[], None]], None]) -> Generator[Json, None, None]:
        """The LedgerChange messages of a budget or session after that sequence number, until the stream ends. One
        without a change says how far the ledger is, or only that the stream is alive. `timeout` is for opening it.
        `ends_by` is told what another thread may call, also after the stream, to end a wait. Raises RpcError."""

    def close(self) -> None:
        """Ends its connections."""
