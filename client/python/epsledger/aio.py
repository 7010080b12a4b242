"""The same for asyncio: each object wraps one of the package's own, and threads do the waiting.

    import epsledger.aio

    async with epsledger.aio.connect() as client:
        session = await client.open(session="first-run", budget="people", delta=1e-5)
        async with session.step(event):
            ...

The code that charges and refuses is the same, and so are the errors. A task that is cancelled while it waits for a
charge does not run its block; the charge may be committed, and counts as spent.
"""
from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
from types import TracebackType
from typing import (Any, AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, List,
                    Optional, Tuple, Type, TypeVar, Union)

from . import client as blocking
from .aio_watching import AsyncChanges
from .annotations import Annotations
from .audits import Audit, Claim
from .budget import Budget, Cap
from .calibration import NoisyEvent
from .errors import BudgetExhausted, Refused
from .event_json import EventLike
from .events import CountedEvent
from .guarantees import Guarantees, Spent, Statement
from .lease import Lease
from .permit import Permit
from .preview import Preview
from .process import SurvivesFork
from .series import Series
from .session import Session
from .transport import Json

Answer = TypeVar("Answer")
Batch = TypeVar("Batch")

# The number of concurrent calls; further calls wait for a thread.
_THREADS = 16


class _Threads(SurvivesFork):
    """The threads on which a client waits. They start when they are needed."""

    def __init__(self) -> None:
        super().__init__()
        self._after_fork()

    def _after_fork(self) -> None:
        # A forked child has none of the parent's threads, and a pool that counts on them would wait for ever.
        self._pool = concurrent.futures.ThreadPoolExecutor(_THREADS, thread_name_prefix="epsledger")

    async def run(self, function: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(
            self._pool, functools.partial(function, *arguments, **named))

    def close(self) -> None:
        self._pool.shutdown(wait=False)


class AsyncPermit:
    """What AsyncSession.step returns: use it in `async with` for one block, or await it for the Permit.

    If neither is done, nothing is charged, and Python warns that a coroutine was never awaited."""

    def __init__(self, charge: Coroutine[Any, Any, Permit]) -> None:
        self._charge = charge

    def __await__(self) -> Generator[Any, Any, Permit]:
        return self._charge.__await__()

    async def __aenter__(self) -> Permit:
        return (await self._charge).__enter__()

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        """What was released stays charged, whatever happened in the block."""


class AsyncLease:
    """As Lease. Its steps make no call, so they are not awaited: `with lease.step(): ...`."""

    def __init__(self, lease: Lease, threads: _Threads) -> None:
        self._lease = lease
        self._threads = threads

    @property
    def name(self) -> str:
        return self._lease.name

    @property
    def granted_count(self) -> int:
        return self._lease.granted_count

    @property
    def used_count(self) -> int:
        return self._lease.used_count

    @property
    def steps_left(self) -> int:
        return self._lease.steps_left

    def step(self) -> Permit:
        return self._lease.step()

    async def settle(self) -> None:
        await self._threads.run(self._lease.settle)

    async def __aenter__(self) -> "AsyncLease":
        self._lease.__enter__()
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self._threads.run(self._lease.__exit__, kind, error, trace)

    def __repr__(self) -> str:
        return repr(self._lease)


class AsyncSession:
    """As Session."""

    def __init__(self, session: Session, threads: _Threads) -> None:
        self._session = session
        self._threads = threads

    @property
    def name(self) -> str:
        return self._session.name

    @property
    def attempt(self) -> str:
        return self._session.attempt

    @property
    def exhausted(self) -> Optional[BudgetExhausted]:
        return self._session.exhausted

    @property
    def unknown_charges(self) -> Tuple[str, ...]:
        return self._session.unknown_charges

    def step(self, event: EventLike) -> AsyncPermit:
        """As Session.step: `async with session.step(event): ...`."""
        return AsyncPermit(self.charge(event))

    async def charge(self, event: EventLike, *, count: int = 1) -> Permit:
        return await self._threads.run(self._session.charge, event, count=count)

    async def charge_all(self, uses: Iterable[Tuple[EventLike, int]]) -> Tuple[Permit, ...]:
        return await self._threads.run(self._session.charge_all, uses)

    async def charge_each(self, uses: Iterable[Tuple[EventLike, int]]) -> Tuple[Union[Permit, Refused], ...]:
        return await self._threads.run(self._session.charge_each, uses)

    async def retry_charge(self, charge_id: str) -> Permit:
        return await self._threads.run(self._session.retry_charge, charge_id)

    async def guard(self, loader: Union[Iterable[Batch], AsyncIterable[Batch]],
                    event: EventLike) -> AsyncIterator[Batch]:
        """As Session.guard: `async for batch in session.guard(loader, event): ...`."""
        async for batch in _each(loader):
            try:
                permit = await self.charge(event)
            except BudgetExhausted:
                return
            with permit:
                yield batch

    def charged(self, event: EventLike) -> Callable[
            [Callable[..., Awaitable[Answer]]], Callable[..., Coroutine[Any, Any, Answer]]]:
        """As Session.charged, for an `async def`."""

        def decorate(function: Callable[..., Awaitable[Answer]]) -> Callable[..., Coroutine[Any, Any, Answer]]:
            if not inspect.iscoroutinefunction(function):
                raise TypeError("%r is not an async def" % function)

            @functools.wraps(function)
            async def charged_first(*arguments: Any, **named: Any) -> Answer:
                async with self.step(event):
                    return await function(*arguments, **named)

            return charged_first

        return decorate

    async def lease(self, event: EventLike, *, count: int, time_to_live: int = 86400) -> AsyncLease:
        """As Session.lease: `async with await session.lease(event, count=100) as lease: ...`."""
        return AsyncLease(
            await self._threads.run(self._session.lease, event, count=count, time_to_live=time_to_live), self._threads)

    async def preview(self, event: EventLike, *, count: int = 1) -> Preview:
        return await self._threads.run(self._session.preview, event, count=count)

    async def calibrate(self, *, event: NoisyEvent, count: int) -> float:
        """As Session.calibrate; `event` is called on a thread."""
        return await self._threads.run(self._session.calibrate, event=event, count=count)

    async def guarantees(self, *, delta: Optional[float] = None) -> Guarantees:
        return await self._threads.run(self._session.guarantees, delta=delta)

    async def spent(self, *, delta: Optional[float] = None) -> Spent:
        return await self._threads.run(self._session.spent, delta=delta)

    async def series(self, *, delta: Optional[float] = None, point_count: int = 100) -> Series:
        return await self._threads.run(self._session.series, delta=delta, point_count=point_count)

    async def history(self) -> List[CountedEvent]:
        return await self._threads.run(self._session.history)

    async def remaining(self, event: EventLike) -> int:
        return await self._threads.run(self._session.remaining, event)

    async def statement(self, *, delta: Optional[float] = None) -> Statement:
        return await self._threads.run(self._session.statement, delta=delta)

    async def claim(self) -> Optional[Claim]:
        return await self._threads.run(self._session.claim)

    async def record_audit(self, audit: Audit, *, source: str = "") -> Audit:
        return await self._threads.run(self._session.record_audit, audit, source=source)

    async def audits(self) -> List[Audit]:
        return await self._threads.run(self._session.audits)

    def close(self) -> None:
        self._session.close()

    async def __aenter__(self) -> "AsyncSession":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._session)


class AsyncClient:
    """As Client, made by epsledger.aio.connect()."""

    def __init__(self, client: blocking.Client) -> None:
        self._client = client
        self._threads = _Threads()

    @property
    def address(self) -> str:
        return self._client.address

    async def open(self, *, session: str, budget: str, delta: Optional[float] = None, **options: Any) -> AsyncSession:
        """As Client.open, with the same options."""
        opened = await self._threads.run(self._client.open, session=session, budget=budget, delta=delta, **options)
        return AsyncSession(opened, self._threads)

    async def create_budget(self, *, name: str, cap: Cap, privacy_unit: str, **options: Any) -> Budget:
        """As Client.create_budget, with the same options."""
        return await self._threads.run(self._client.create_budget, name=name, cap=cap, privacy_unit=privacy_unit,
                                       **options)

    async def budget(self, name: str) -> Budget:
        return await self._threads.run(self._client.budget, name)

    async def budgets(self) -> List[Budget]:
        return await self._threads.run(self._client.budgets)

    async def preview(self, *, budget: str, event: EventLike, count: int = 1, expects: bool = True) -> Preview:
        return await self._threads.run(self._client.preview, budget=budget, event=event, count=count, expects=expects)

    async def calibrate(self, *, budget: str, event: NoisyEvent, count: int) -> float:
        """As Client.calibrate; `event` is called on a thread."""
        return await self._threads.run(self._client.calibrate, budget=budget, event=event, count=count)

    async def annotations(self, name: str) -> Annotations:
        return await self._threads.run(self._client.annotations, name)

    async def annotate(self, name: str, **texts: str) -> Annotations:
        return await self._threads.run(self._client.annotate, name, **texts)

    async def audit(self, **options: Any) -> Audit:
        """As Client.audit, with the same options."""
        return await self._threads.run(self._client.audit, **options)

    def watch(self, name: str, *, after: int = 0) -> AsyncChanges:
        """As Client.watch: every change once and in order, through outages. Nothing is awaited here:

            async with client.watch("people") as changes:
                async for change in changes:
                    print(change)

        It has a thread of its own, so calls never wait for it."""
        return AsyncChanges(self._client._connection, name, after)

    async def call(self, method: str, request: Json) -> Json:
        return await self._threads.run(self._client.call, method, request)

    def close(self) -> None:
        self._client.close()
        self._threads.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._client)


def connect(**options: Any) -> AsyncClient:
    """As epsledger.connect, with the same options: nothing is awaited, the first call connects."""
    return AsyncClient(blocking.connect(**options))


async def _each(loader: Union[Iterable[Batch], AsyncIterable[Batch]]) -> AsyncIterator[Batch]:
    if isinstance(loader, AsyncIterable):
        async for batch in loader:
            yield batch
    else:
        for batch in loader:
            yield batch
