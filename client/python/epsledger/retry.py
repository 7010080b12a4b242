"""When to ask again."""
from __future__ import annotations

import dataclasses
import logging
import math
import random
import time
from typing import Callable, Optional

from .errors import invalid
from .transport import Json, RpcError

_log = logging.getLogger("epsledger")


@dataclasses.dataclass(frozen=True)
class Retry:
    """How long and how often a call is tried. No setting makes an unknown outcome count as accepted."""

    #: Seconds for one try; > 0.
    call_timeout: float = 10.0
    #: Seconds for all tries and waits together; > 0.
    overall_timeout: float = 60.0
    #: Seconds for all tries together while this client has never reached the server: a wrong address, or a server that
    #: is not started. At most overall_timeout counts; > 0.
    first_contact_timeout: float = 5.0
    #: >= 1, or 0: as many as the time allows.
    max_tries: int = 0
    #: A wait is uniform in [b/2, b] seconds; b doubles from the first of these values to the second. It is never
    #: shorter than the server's RetryInfo asks.
    initial_backoff: float = 0.05
    max_backoff: float = 2.0

    def __post_init__(self) -> None:
        for field in ("call_timeout", "overall_timeout", "first_contact_timeout"):
            value = getattr(self, field)
            if not (value > 0 and math.isfinite(value)):
                raise invalid("retry." + field, value, "seconds in (0, inf)")
        if self.max_tries < 0:
            raise invalid("retry.max_tries", self.max_tries, "0 or more")
        if not (self.initial_backoff >= 0 and math.isfinite(self.initial_backoff)):
            raise invalid("retry.initial_backoff", self.initial_backoff, "seconds in [0, inf)")
        if not (self.max_backoff >= self.initial_backoff and math.isfinite(self.max_backoff)):
            raise invalid("retry.max_backoff", self.max_backoff, "seconds, at least initial_backoff")


@dataclasses.dataclass
class Tries:
    """The outcome of all tries of one call: an answer, or the error of the last try."""

    answer: Optional[Json] = None
    error: Optional[RpcError] = None
    #: Some try ended without saying that nothing was written.
    may_have_committed: bool = False
    count: int = 0
    elapsed: float = 0.0

    def __str__(self) -> str:
        return "%d %s in %.1f s" % (self.count, "try" if self.count == 1 else "tries", self.elapsed)


def retry_until_definite(retry: Retry, try_once: Callable[[float], Json],
                         sleep: Callable[[float], None] = time.sleep, now: Callable[[], float] = time.monotonic, *,
                         reached: bool = True) -> Tries:
    """Calls `try_once(timeout)` until it answers, fails definitely, or the tries or the time are used up, and at least
    once.

    `timeout` is the smaller of the call timeout and the time that is left. `reached`: the server was reached before."""
    start = now()
    deadline = start + retry.overall_timeout
    first_deadline = start + min(retry.first_contact_timeout, retry.overall_timeout)
    backoff = retry.initial_backoff
    left = retry.overall_timeout
    tries = Tries()
    while True:
        tries.count += 1
        try:
            tries.answer, tries.error = try_once(min(retry.call_timeout, left)), None
        except RpcError as error:
            tries.error = error
        tries.elapsed = now() - start
        if tries.error is None:
            if tries.count > 1:
                _log.warning("answered again, after %s", tries)
            return tries
        if not reached and not tries.error.never_sent:
            reached = True
        tries.may_have_committed = tries.may_have_committed or tries.error.may_have_committed
        if not tries.error.is_worth_retrying or (retry.max_tries and tries.count >= retry.max_tries):
            return tries
        wait = max(random.uniform(backoff / 2, backoff), tries.error.retry_delay)
        left = (deadline if reached else first_deadline) - now() - wait
        if left <= 0:
            return tries
        if tries.count == 1:
            _log.warning("no answer (%s: %s); asking again for %.0f s", tries.error.code, tries.error.message, left)
        sleep(wait)
        backoff = min(2 * backoff, retry.max_backoff)
        left = (deadline if reached else first_deadline) - now()
        if left <= 0:
            return tries
