"""Charging: one attempt of one training run asks the ledger before each noisy step."""
from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from types import TracebackType
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Type, TypeVar,
                    Union, cast)

from .audits import Audit, Claim
from .calibration import NoisyEvent, smallest_noise
from .callers_words import callers_words
from .charging import batch_until_definite, charge_until_definite, each_until_definite, lease_until_definite
from .connection import Connection
from .errors import BudgetExhausted, CallFailed, Ended, OutcomeUnknown, Refused, invalid
from .event_json import EventLike, count_json, event_json
from .events import CountedEvent
from .guarantees import Guarantees, Spent, Statement
from .lease import Lease
from .permit import Permit
from .preview import Preview
from .process import OwnedByProcess
from .refusal import Refusal
from .series import Series
from .transport import Json

if TYPE_CHECKING:
    from .adapters.opacus import LedgerAccountant

_PAGE_SIZE = 1_000
_MOST_OF_A_BATCH = 1_000

Batch = TypeVar("Batch")
Function = TypeVar("Function", bound=Callable[..., Any])


class Session(OwnedByProcess):
    """One attempt of one session. Client.open opened it and fenced all earlier attempts.

    1. Every charge has its own key in the attempt ("step-1", "step-2", ...). All tries of one charge use that key, so
       the ledger counts it at most once.
    2. A permit comes only from an ACCEPTED answer to exactly that key. There is no fail-open option.
    3. A charge whose outcome stays unknown counts as spent. Its key is never used for another charge; retry_charge
       asks for the same one again.
    4. Every charge sends the server the newest ledger entry that this client has seen. A server that is behind it,
       restored from an old backup for example, answers DATA_LOSS (OutcomeUnknown.code), and open() raises LedgerBehind.

    Thread-safe. In a forked child, such as a DataLoader worker, charging raises WrongProcess."""

    def __init__(self, *, connection: Connection, name: str, attempt: str, delta: Optional[float]) -> None:
        super().__init__()
        #: "budgets/{budget}/sessions/{session}".
        self.name = name
        #: "budgets/{budget}/sessions/{session}/attempts/{attempt}".
        self.attempt = attempt
        #: The default delta of spent, guarantees and statement.
        self.delta = delta
        self._connection = connection
        self._lock = threading.Lock()
        self._last_key: Dict[str, int] = {"step": 0, "lease": 0}
        self._accepted_steps = 0
        self._unknown: Dict[str, Tuple[Json, int]] = {}
        self._exhausted: Optional[BudgetExhausted] = None
        self._closed = False

    @property
    def exhausted(self) -> Optional[BudgetExhausted]:
        """The newest refusal of a cap without room, with its numbers; None if there was none. An adapter that ends its
        loop after the last step that fits sets it too: to the refusal that the next step would get."""
        return self._exhausted

    @property
    def unknown_charges(self) -> Tuple[str, ...]:
        """The ids of the charges whose outcome is unknown, oldest first. They count as spent."""
        with self._lock:
            return tuple(self._unknown)

    def step(self, event: EventLike) -> Permit:
        """Charges one use of `event`, waits until that is durable, and returns the permit for one block:

            with session.step(event):
                ...  # noise, update: runs only after an ACCEPTED answer

        Errors are those of charge, and the block does not run."""
        return self.charge(event)

    def charge(self, event: EventLike, *, count: int = 1) -> Permit:
        """Charges `count` uses of `event` to the session and all its budgets, waits until that is durable, and returns
        the permit: good for `count` blocks `with permit:`. `count` in [1, 2^53].

        Refused (BudgetExhausted, AttemptFenced, ...) if the ledger refuses: nothing was charged. InvalidArgument if
        the event or count is outside its domain: nothing was charged. OutcomeUnknown if no try brought a decision: it
        counts as spent. WrongProcess in a forked child."""
        with callers_words(event=event):
            return self._charge_with_id(self._next_key("step"), event_json(event), count)

    def charge_all(self, uses: Iterable[Tuple[EventLike, int]]) -> Tuple[Permit, ...]:
        """Charges all of [(event, count), ...], or none, in one commit, and returns their permits in order:

            statistics, gradient = session.charge_all([(histogram, 1), (step, 10)])

        1 to 1,000 of them. Errors are those of charge; Refused says what did not fit. If no try brought a decision,
        all of them are in unknown_charges, and retry_charge asks for each alone."""
        with self._batch(uses, "ALL_OR_NOTHING") as request:
            charges = batch_until_definite(self._connection, request)
            return tuple(self._permits(charges, request))

    def charge_each(self, uses: Iterable[Tuple[EventLike, int]]) -> Tuple[Union[Permit, Refused], ...]:
        """Charges those of [(event, count), ...] that fit, each decided after the ones before it, in one commit.
        Returns for each, in order, its permit, or the Refused with which charge would end; nothing was charged for that
        one:

            for one in session.charge_each([(query, 1) for query in queries]):
                if isinstance(one, epsledger.Permit):
                    with one:
                        ...  # an answer to the query

        1 to 1,000 of them. A refusal is returned, not raised, so look at every one; `exhausted` holds the last
        BudgetExhausted. All other errors are those of charge. If no try brought a decision, all of them are in
        unknown_charges, and retry_charge asks for each alone."""
        with self._batch(uses, "PER_ITEM") as request:
            outcomes = each_until_definite(self._connection, request)
            permits = self._permits([one for one in outcomes if not isinstance(one, Refused)], request)
        for one in outcomes:
            if isinstance(one, BudgetExhausted):
                self._exhausted = one
        return tuple(one if isinstance(one, Refused) else next(permits) for one in outcomes)

    @contextlib.contextmanager
    def _batch(self, uses: Iterable[Tuple[EventLike, int]], mode: str) -> Iterator[Json]:
        """Makes the request of a batch. What the block leaves without an outcome is unknown."""
        given = list(uses)
        if not 1 <= len(given) <= _MOST_OF_A_BATCH:
            raise invalid("uses", len(given), "1 to 1,000 of them")
        for at, use in enumerate(given):
            if not isinstance(use, (tuple, list)) or len(use) != 2:
                raise invalid("uses[%d]" % at, use, "a pair (event, count)")
        described = [(event_json(event, "uses[%d].event" % at), count_json(count, "uses[%d].count" % at))
                     for at, (event, count) in enumerate(given)]
        self._check_open()
        items: List[Json] = [{"chargeId": self._next_key("step"), "event": event, "count": count}
                             for event, count in described]
        request: Json = {"attempt": self.attempt, "mode": mode, "items": items}
        self._connection.seen_heads.add_to(request, self.name)
        as_json = next((event for event, _ in given if isinstance(event, Mapping)), None)
        with self._unknown_if_interrupted(items), callers_words({"items": "uses"}, event=as_json):
            yield request

    def _permits(self, charges: List[Json], request: Json) -> Iterator[Permit]:
        """The permits of accepted charges of a batch, after all of them were checked."""
        items = {"%s/charges/%s" % (self.attempt, item["chargeId"]): item for item in request["items"]}
        for charge in charges:
            self._check_head(charge, items[charge["name"]]["chargeId"], request.get("lastSeenHead"))
        if charges:
            self._connection.seen_heads.remember(self.name, charges[-1])
        return iter([self._permit(charge, items[charge["name"]]) for charge in charges])

    def retry_charge(self, charge_id: str) -> Permit:
        """Asks again for a charge of unknown_charges, with its key, event and count; returns and raises as charge does.
        InvalidArgument if no charge of that id is unknown, also after its outcome is known: one charge never gives two
        permits."""
        self._check_open()
        with self._lock:  # taken out during the call, so that two callers never get a permit each
            event, count = self._unknown.pop(charge_id, ({}, 0))
        if count == 0:
            raise invalid("charge_id", charge_id, "one of unknown_charges")
        try:
            return self._charge_with_id(charge_id, event, count, is_new=False)
        except CallFailed as error:
            # No try of this round reached a decision, and one of an earlier round may have committed.
            with self._lock:
                self._unknown[charge_id] = (event, count)
            raise OutcomeUnknown(charge_id, error.code, error.message, "asked again") from error

    def guard(self, loader: Iterable[Batch], event: EventLike) -> Iterator[Batch]:
        """Yields the batches of `loader`, each after one use of `event` was charged for it:

            for batch in session.guard(loader, event):
                ...  # noise, update

        When a cap has no room (BudgetExhausted), the loop ends before the refused batch, as if the data had ended, and
        `session.exhausted` holds the refusal. Running out of budget is how a private training run ends, and the code
        after the loop, such as saving the model, should run. Every other error is raised."""
        for batch in loader:
            try:
                permit = self.charge(event)
            except BudgetExhausted:
                return
            with permit:
                yield batch

    def charged(self, event: EventLike) -> Callable[[Function], Function]:
        """A decorator: every call of the function first charges one use of `event`, and does not run if that fails."""

        def decorate(function: Function) -> Function:
            if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
                raise TypeError("%s is asynchronous: use epsledger.aio" % function.__qualname__)

            @functools.wraps(function)
            def charged_first(*arguments: Any, **named: Any) -> Any:
                with self.step(event):
                    return function(*arguments, **named)

            return cast(Function, charged_first)

        return decorate

    def lease(self, event: EventLike, *, count: int, time_to_live: int = 86400) -> Lease:
        """Charges `count` uses of `event` in one charge, for Lease.step to hand out without asking the server:

            with session.lease(event, count=100) as lease:
                while lease.steps_left:
                    with lease.step():
                        ...

        `count` in [1, 2^53]. `time_to_live`, in seconds, up to 366 days, is the time after which people should ask
        about the lease: no lease ends by itself. Errors are those of charge. A lease whose outcome stays unknown is
        spent in full, and another one may be acquired."""
        if type(time_to_live) is not int or not 1 <= time_to_live <= 366 * 86400:
            raise invalid("time_to_live", time_to_live, "whole seconds in [1, 31622400]")
        request: Json = {"event": event_json(event), "count": count_json(count),
                         "timeToLive": "%ds" % time_to_live, "attempt": self.attempt}
        self._check_open()
        request["leaseId"] = self._next_key("lease")
        self._connection.seen_heads.add_to(request, self.name)
        try:
            with callers_words(event=event):
                answer = lease_until_definite(self._connection, request)
            self._check_head(answer, request["leaseId"], request.get("lastSeenHead"))
        except BudgetExhausted as refusal:
            self._exhausted = refusal
            raise
        self._connection.seen_heads.remember(self.name, answer)
        with self._lock:
            self._accepted_steps += count
        return Lease(connection=self._connection, charge="%s/charges/%s" % (self.attempt, request["leaseId"]),
                     answer=answer, event=request["event"])

    def preview(self, event: EventLike, *, count: int = 1) -> Preview:
        """Returns what charge(event, count=count) would do, and how many steps would fit. Charges nothing."""
        with callers_words(event=event):
            return Preview.from_json(self._connection.call("ChargeService/PreviewCharge", {
                "session": self.name, "event": event_json(event), "count": count_json(count)}))

    def calibrate(self, *, event: NoisyEvent, count: int) -> float:
        """Returns the smallest noise multiplier z, to 5e-4 of it, with which `count` steps of event(z), charged one by
        one, fit now under every cap on the way up. The server decides this, by what is left of the caps, in whatever
        they count. Charges and reserves nothing: others may charge in between.

            z = session.calibrate(event=lambda z: PoissonSampled(sampling_probability=0.01,
                                                                 event=Gaussian(noise_multiplier=z)), count=1000)

        Caps without a reference yet answer as for a first charge. For a session that does not exist yet, ask
        Client.calibrate first, and open the session with `expects=event(z)`. z in [2^-10, 2^20]. About ten previews,
        more if an event has a price of several units.

        BudgetExhausted, with how many fit, if no noise is enough: where units are counted, a step that is charged alone
        costs at least one, whatever its noise. Refused for any other refusal of the ledger. InvalidArgument for a count
        outside [1, 2^53], and for an `event` that does not return the event of its noise multiplier."""
        return smallest_noise(lambda described: self.preview(described, count=count), event, count)

    def guarantees(self, *, delta: Optional[float] = None) -> Guarantees:
        """Returns epsilon at `delta`, in (0, 1), of all charges so far, in all attempts, under every accountant."""
        delta = self._delta_or(delta)
        return Guarantees.from_json(
            self._connection.call("SessionService/GetSessionGuarantees", {"name": self.name, "delta": delta}), delta)

    def spent(self, *, delta: Optional[float] = None) -> Spent:
        """Returns the smallest of the guarantees: epsilon >= the true epsilon at `delta` of all charges so far."""
        return self.guarantees(delta=delta).spent

    def series(self, *, delta: Optional[float] = None, point_count: int = 100) -> Series:
        """Returns epsilon at `delta`, in (0, 1), after every so many steps, and what more of the last event would make
        of it. `point_count`, in [2, 500], is the most points."""
        delta = self._delta_or(delta)
        with callers_words():
            return Series.from_json(self._connection.call("SessionService/GetSessionSeries", {
                "name": self.name, "delta": delta, "pointCount": point_count}), delta)

    def history(self) -> List[CountedEvent]:
        """Returns the accepted charges of all attempts, leases in full, in the order of first use."""
        request: Json = {"name": self.name, "pageSize": _PAGE_SIZE}
        counted = self._connection.pages("SessionService/GetSessionHistory", request, "history")
        return [CountedEvent.from_json(one, path="history[%d]" % i) for i, one in enumerate(counted)]

    def remaining(self, event: EventLike) -> int:
        """Returns how many single uses of `event` fit now under every cap on the way up, up to 2^53. Not a promise:
        others may charge in between."""
        return self.preview(event).steps_that_fit

    def claim(self) -> Optional[Claim]:
        """Returns what the authors of the run claim about its privacy; None if they claim nothing."""
        found = self._connection.call("SessionService/GetSession", {"name": self.name}).get("claim")
        return Claim.from_json(found) if found else None

    def record_audit(self, audit: Audit, *, source: str = "") -> Audit:
        """Records the result of Client.audit in the ledger, beside what is claimed and certified, and returns it as it is
        recorded. `source` says which attack, and where its scores are, in up to 256 bytes. The statement shows it. The
        ledger cannot repeat an audit. Recording the newest audit again changes nothing."""
        with callers_words({r"audit\.": ""}):
            answer = self._connection.call("SessionService/RecordAudit", {
                "session": self.name, "audit": audit.to_json(source)})
        return Audit.from_json(answer["audits"][-1])

    def audits(self) -> List[Audit]:
        """Returns the newest 100 audits that were recorded, oldest first."""
        answer = self._connection.call("SessionService/GetSession", {"name": self.name})
        return [Audit.from_json(audit) for audit in answer.get("audits", [])]

    def _end_loop(self, refusal: Refusal) -> None:
        """For adapters: the loop ends here, because the next step would be refused."""
        if refusal.reason == "BUDGET_EXHAUSTED":
            self._exhausted = BudgetExhausted(refusal)

    def statement(self, *, delta: Optional[float] = None) -> Statement:
        """Returns the signed privacy statement of this session at `delta`, in (0, 1)."""
        return Statement.from_json(self._connection.call(
            "AuditService/GetPrivacyStatement", {"name": self.name, "delta": self._delta_or(delta)}))

    def opacus(self) -> "LedgerAccountant":
        """Returns the accountant of an Opacus PrivacyEngine that charges this session before each update:
        `engine.accountant = session.opacus()`, before make_private. See epsledger.adapters.opacus."""
        from .adapters.opacus import LedgerAccountant

        return LedgerAccountant(self)

    def close(self) -> None:
        """Closes this object: it charges nothing more. The session stays as it is in the ledger."""
        self._closed = True

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<%s, %d steps charged%s%s>" % (
            self.attempt, self._accepted_steps,
            ", %d of unknown outcome" % len(self._unknown) if self._unknown else "",
            ", closed" if self._closed else ", exhausted" if self._exhausted else "")

    def _charge_with_id(self, charge_id: str, event: Json, count: int, *, is_new: bool = True) -> Permit:
        item: Json = {"chargeId": charge_id, "event": event, "count": count_json(count)}
        request: Json = {"attempt": self.attempt, **item}
        self._check_open()
        self._connection.seen_heads.add_to(request, self.name)
        with self._unknown_if_interrupted([item]):
            charge = charge_until_definite(self._connection, request)
            self._check_head(charge, charge_id, request.get("lastSeenHead") if is_new else None)
        self._connection.seen_heads.remember(self.name, charge)
        return self._permit(charge, item)

    @contextlib.contextmanager
    def _unknown_if_interrupted(self, items: List[Json]) -> Iterator[None]:
        """Keeps the charges whose outcome is unknown after the block."""
        try:
            yield
        except (Refused, CallFailed) as error:
            if isinstance(error, BudgetExhausted):
                self._exhausted = error
            raise
        except BaseException:  # an interruption too: the charge may be on its way
            with self._lock:
                for item in items:
                    self._unknown[item["chargeId"]] = (item["event"], int(item["count"]))
            raise

    def _check_head(self, answer: Json, charge_id: str, sent: Optional[Json]) -> None:
        wrong = self._connection.seen_heads.contradiction(self.name, answer, sent)
        if wrong is not None:
            raise OutcomeUnknown(charge_id, "DATA_LOSS", wrong, "answered")

    def _permit(self, charge: Json, item: Json) -> Permit:
        count = int(item["count"])
        with self._lock:
            self._accepted_steps += count
        return Permit(charge=charge["name"], sequence=int(charge["sequence"]), event=item["event"], count=count)

    def _next_key(self, kind: str) -> str:
        self._check_process()  # before the lock: another thread of the parent may have held it at the fork
        with self._lock:
            self._last_key[kind] += 1
            return "%s-%d" % (kind, self._last_key[kind])

    def _check_open(self) -> None:
        self._check_process()
        self._connection.check_open()
        if self._closed:
            raise Ended("%s is closed: open the session again, which is a new attempt" % self.attempt)

    def _delta_or(self, delta: Optional[float]) -> float:
        chosen = self.delta if delta is None else delta
        if chosen is None:
            raise invalid("delta", None, "a delta in (0, 1), here or in open()")
        return chosen
