"""The changes of a ledger for asyncio: a thread waits for them."""
from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from types import TracebackType
from typing import Generator, Optional, Type

from .connection import Connection
from .watching import Change, Ending, resource_name, watch

Wanted = Optional["asyncio.Future[Change]"]


class AsyncChanges:
    """What AsyncClient.watch returns: `async for change in changes`.

    1. It yields each change once and in order, as Client.watch does, with the same errors.
    2. A wait that is cancelled loses nothing: the next one gets that change. So it may stand in asyncio.wait_for.
    3. Its thread reads one change after each demand. It ends with aclose(), which `async with` calls, or when nobody
       holds this object, and within 15 s after the client was closed. It keeps no program from ending.

    One task at a time may wait for a change; another one gets RuntimeError."""

    def __init__(self, connection: Connection, name: str, after: int) -> None:
        self._closed = Ending()
        self._wanted: "queue.SimpleQueue[Wanted]" = queue.SimpleQueue()
        self._changes = watch(connection, resource_name(name), after, self._closed)
        self._started = False
        self._next: Wanted = None
        self._is_awaited = False

    def __aiter__(self) -> "AsyncChanges":
        return self

    async def __anext__(self) -> Change:
        if self._is_awaited:
            raise RuntimeError("another task waits for the next change of this watch")
        if self._closed.is_set:
            raise StopAsyncIteration
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
            self._ask(self._next)
        self._is_awaited = True
        try:
            change = await asyncio.shield(self._next)
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._end()
            raise
        finally:
            self._is_awaited = False
        self._next = None
        return change

    async def aclose(self) -> None:
        """Ends it: a task that waits for a change, and every later one, gets the end of the loop."""
        self._end()
        if self._next is None or self._next.done():
            return
        if self._is_awaited:
            self._next.set_exception(StopAsyncIteration())
        else:
            self._next.cancel()

    async def __aenter__(self) -> "AsyncChanges":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.aclose()

    def __del__(self) -> None:
        self._end()

    def _ask(self, wanted: "asyncio.Future[Change]") -> None:
        if not self._started:
            self._started = True
            # It does not hold this object, so that it ends with it.
            threading.Thread(target=_read, args=(self._changes, self._wanted, self._closed), daemon=True,
                             name="epsledger-watch").start()
        self._wanted.put(wanted)

    def _end(self) -> None:
        self._closed.set()
        self._wanted.put(None)


def _read(changes: Generator[Change, None, None], wanted: "queue.SimpleQueue[Wanted]", closed: Ending) -> None:
    """Reads the next change for each that is wanted, until an error or the end."""
    with contextlib.closing(changes):
        for future in iter(wanted.get, None):
            change: Optional[Change] = None
            error: Optional[BaseException] = None
            try:
                change = next(changes)
            except BaseException as failed:
                error = failed
            if closed.is_set:
                return
            try:
                future.get_loop().call_soon_threadsafe(_settle, future, change, error)
            except RuntimeError:  # the loop has ended
                return
            if error is not None:
                return


def _settle(future: "asyncio.Future[Change]", change: Optional[Change], error: Optional[BaseException]) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    elif change is not None:
        future.set_result(change)
