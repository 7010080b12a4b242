"""A transport with its retries. Every object of this package calls through it."""
from __future__ import annotations

from typing import List

from .errors import Ended, call_failed, refused
from .event_json import plain_json
from .refusal import Refusal
from .retry import Retry, Tries, retry_until_definite
from .seen_heads import SeenHeads
from .transport import Json, Transport


class Connection:
    """Thread-safe."""

    def __init__(self, transport: Transport, retry: Retry) -> None:
        self.transport = transport
        self.retry = retry
        self.seen_heads = SeenHeads()
        self.closed = False
        #: Some call was sent.
        self.reached = False

    def close(self) -> None:
        """Closes the connection; calls that are under way continue."""
        self.closed = True
        self.transport.close()

    def check_open(self) -> None:
        """Raises Ended after close()."""
        if self.closed:
            raise Ended("this client is closed: connect again")

    def tries(self, method: str, request: Json) -> Tries:
        """Asks until the outcome is definite or the retries are used up."""
        tries = retry_until_definite(self.retry, lambda timeout: self.transport.call(method, request, timeout),
                                     reached=self.reached)
        self.reached = self.reached or tries.error is None or not tries.error.never_sent
        return tries

    def pages(self, method: str, request: Json, field: str) -> List[Json]:
        """Returns the `field` of all pages of a listing. `request` says the size of a page."""
        found: List[Json] = []
        token = ""
        while True:
            answer = self.call(method, {**request, "pageToken": token})
            found += answer.get(field, [])
            token = answer.get("nextPageToken", "")
            if not token:
                return found

    def call(self, method: str, request: Json) -> Json:
        """The same for reads, and for writes that may be repeated without harm. Raises CallFailed, or Refused for a
        plan."""
        self.check_open()
        tries = self.tries(method, plain_json(request, ""))
        if tries.error is None:
            assert tries.answer is not None
            return tries.answer
        plan = tries.error.detail("epsledger.v1.Refusal")
        if plan is not None:
            raise refused(Refusal.from_json(plan))
        message = tries.error.message
        raise call_failed(tries.error.code, "%s, after %s" % (message, tries) if tries.count > 1 else message)
