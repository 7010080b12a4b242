"""Connecting to a server, and opening sessions."""
from __future__ import annotations

import dataclasses
import os
import platform
import socket
from types import TracebackType
from typing import Iterable, Iterator, List, Mapping, Optional, Tuple, Type, Union

from .address import Address, Tls, flag_of, token_of
from .annotations import Annotations, topics
from .audits import Audit, AuditMethod, Claim, OneRunCounts, TwoArmCounts, audit_request
from .budget import Budget, Cap, budget_name
from .calibration import NoisyEvent, smallest_noise
from .callers_words import OF_CREATE_BUDGET, OF_OPEN, callers_words
from .connection import Connection
from .errors import NotFound, call_failed, invalid
from .event_json import EventLike, count_json, event_json
from .http_transport import HttpTransport
from .names import (NORMALIZERS, RELATIONS, SAMPLERS, NormalizerName, RelationName, SamplerName, api_name,
                    checked_id)
from .preview import Preview
from .retry import Retry
from .session import Session
from .transport import Json, Transport
from .watching import Change, resource_name, watch

_MOST_DESCRIPTION_BYTES = 256
_PAGE_SIZE = 1_000


@dataclasses.dataclass(frozen=True)
class Provenance:
    """What an attempt declares about itself, for the auditor and for a policy. A claim: the ledger cannot check it."""

    #: POISSON, TRUNCATED_POISSON, WITHOUT_REPLACEMENT, WITH_REPLACEMENT, RANDOM_ALLOCATION, FULL_BATCH or SHUFFLED.
    sampler: SamplerName = "SAMPLER_UNSPECIFIED"
    #: The largest contribution of one record, in (0, inf); 0: not said.
    clip_norm: float = 0
    #: Up to 64 bytes each.
    library: str = ""
    library_version: str = ""
    #: What a noisy sum is divided by: PUBLIC_CONSTANT (also if nothing is divided), EXPECTED_FROM_PUBLIC_COUNT,
    #: EXPECTED_FROM_PRIVATE_COUNT or SAMPLED_BATCH_SIZE. Not said is unknown, and never taken for a public number.
    normalizer: NormalizerName = "NORMALIZER_UNSPECIFIED"

    def to_json(self) -> Json:
        """The JSON of an epsledger.v1.Provenance. A normalizer that is not said is left out, for older servers."""
        said: Json = {"sampler": api_name("provenance.sampler", self.sampler, SAMPLERS), "clipNorm": self.clip_norm,
                      "library": self.library, "libraryVersion": self.library_version}
        normalizer = api_name("provenance.normalizer", self.normalizer, NORMALIZERS)
        if normalizer != "NORMALIZER_UNSPECIFIED":
            said["normalizer"] = normalizer
        return said


def connect(*, address: Optional[str] = None, transport: str = "http", tls: Optional[bool] = None,
            tls_ca: Optional[str] = None, tls_cert: Optional[str] = None, tls_key: Optional[str] = None,
            token: Optional[str] = None, token_file: Optional[str] = None, allow_insecure: Optional[bool] = None,
            retry: Optional[Retry] = None) -> "Client":
    """Returns a client of the server at `address`. Checks the arguments and reads the files; the first call connects.

    address         transport "http": "http://host:port" or "https://host:port" of the server's --http-listen; else
                    EPSLEDGER_HTTP, else http://127.0.0.1:8080. transport "grpc", with epsledger[grpc] installed:
                    "host:port" or "unix:path" of its --listen; else EPSLEDGER_SERVER, else 127.0.0.1:50551.
    tls             with "grpc": True, or any certificate file, enables TLS; else EPSLEDGER_TLS.
    tls_ca, tls_cert, tls_key
                    PEM files: who vouches for the server (default: the system's authorities), and this client's own.
                    Else EPSLEDGER_TLS_CA, EPSLEDGER_TLS_CERT, EPSLEDGER_TLS_KEY.
    token, token_file
                    who calls, "epsl_..."; else EPSLEDGER_TOKEN_FILE, else EPSLEDGER_TOKEN. Never sent without TLS to
                    an address that is not local.
    allow_insecure  without TLS only loopback addresses are allowed, unless this is set (else EPSLEDGER_ALLOW_INSECURE):
                    anybody who can change the answers on the way can turn a refusal into a permit.

    InvalidArgument names the argument that is wrong."""
    files = Tls(tls_ca or os.environ.get("EPSLEDGER_TLS_CA") or None,
                tls_cert or os.environ.get("EPSLEDGER_TLS_CERT") or None,
                tls_key or os.environ.get("EPSLEDGER_TLS_KEY") or None)
    secret = token_of(token, token_file)
    insecure = flag_of("EPSLEDGER_ALLOW_INSECURE") if allow_insecure is None else allow_insecure
    carrier: Transport
    if transport == "http":
        if tls is not None:
            raise invalid("tls", tls, "nothing where transport is \"http\": the address says http:// or https://")
        carrier = HttpTransport(Address.of_http(
            address=address or os.environ.get("EPSLEDGER_HTTP") or "http://127.0.0.1:8080", tls=files, token=secret,
            allow_insecure=insecure))
    elif transport == "grpc":
        from .grpc_transport import GrpcTransport

        carrier = GrpcTransport(Address.of_grpc(
            address=address or os.environ.get("EPSLEDGER_SERVER") or "127.0.0.1:50551",
            use_tls=flag_of("EPSLEDGER_TLS") if tls is None else tls, tls=files, token=secret,
            allow_insecure=insecure))
    else:
        raise invalid("transport", transport, "\"http\" or \"grpc\"")
    return Client(carrier, retry or Retry())


class Client:
    """A connection to an epsledger server, made by connect(). Thread-safe; several sessions may be opened and used
    concurrently.

    A forked child can use it too, over its own connections, but not the parent's sessions (see Session)."""

    def __init__(self, transport: Transport, retry: Retry) -> None:
        self._connection = Connection(transport, retry)

    @property
    def address(self) -> str:
        """Where the server is."""
        return self._connection.transport.address

    def open(self, *, session: str, budget: str, delta: Optional[float] = None,
             neighboring_relation: RelationName = "ADD_OR_REMOVE_ONE", own_cap: Optional[Cap] = None,
             plan: Optional[Iterable[Tuple[EventLike, int]]] = None, expects: Optional[EventLike] = None,
             group: str = "", display_name: str = "", labels: Optional[Mapping[str, str]] = None,
             claim: Optional[Claim] = None, provenance: Provenance = Provenance(),
             client_description: Optional[str] = None) -> Session:
        """Opens the next attempt of a session, which fences all earlier ones, and creates the session first if it does
        not exist. A process that starts again, also from a checkpoint, opens a new attempt: it draws fresh noise, which
        is charged again.

        session, budget       "first-run" under "people". The budget must exist: see create_budget, `epsctl budget`.
        delta                 in (0, 1): the delta at which the session is stated and a plan is composed.
        neighboring_relation  ADD_OR_REMOVE_ONE, REPLACE_ONE or REPLACE_SPECIAL: what the training code clips for. It
                              must be the budget's, or the session is refused.
        own_cap               a cap of this session alone. None: only the budgets on the way up limit it.
        plan                  [(event, count), ...] makes it DECLARED: composed once, tightly, and charged to all its
                              budgets now; later charges draw from it. None: ADAPTIVE, every step is charged alone.
        expects               the event that the session expects to charge most, exactly as it will be charged. When
                              the session is created, own_cap and the budgets on the way up that have no reference yet
                              take it as their reference; in all other cases it changes nothing. A step of that event
                              costs one unit. None: the most used event of the plan; without a plan the first charge
                              decides.
        group                 sessions of one hyper-parameter search share a group.
        claim                 what the authors of the run claim about its privacy, if the session is created.
        provenance            what this attempt declares: its sampler, clip norm, library and divisor.

        BudgetExhausted if a plan does not fit. NotFound if no such budget exists. AlreadyExists, naming the first
        difference, if a session of that name with other content exists. If own_cap, plan, group, display_name,
        labels and claim are not given, an existing session is used as it is; `expects` changes nothing then."""
        relation = api_name("neighboring_relation", neighboring_relation, RELATIONS)
        if plan is not None and delta is None:
            raise invalid("delta", None, "a delta in (0, 1) for the plan")
        wanted: Json = {"mode": "ADAPTIVE", "neighboringRelation": relation}
        if own_cap is not None:
            wanted["ownCap"] = own_cap.message
        elif plan is None:
            wanted["noOwnCap"] = True
        events = [] if plan is None else list(plan)
        if plan is not None:
            wanted.update(mode="DECLARED", planDelta=delta, plan={"events": [
                {"event": event_json(event), "count": count_json(count)} for event, count in events]})
        for field, value in (("group", group), ("displayName", display_name), ("labels", dict(labels or {}))):
            if value:
                wanted[field] = value
        if claim is not None:
            wanted["claim"] = claim.to_json()
        creation: Json = {"parent": budget_name(budget), "sessionId": session, "session": wanted}
        if expects is not None:
            creation["expects"] = event_json(expects, "expects")
        name = "%s/sessions/%s" % (budget_name(budget), checked_id("session", session))
        as_it_is = wanted.keys() <= {"mode", "neighboringRelation", "noOwnCap"}
        as_json = next((one for one in (expects, *(event for event, _ in events)) if isinstance(one, Mapping)), None)
        with callers_words(OF_OPEN, event=as_json):
            if not (as_it_is and self._takes_existing(name, relation)):
                self._connection.call("SessionService/CreateSession", creation)
            attempt = self._open_attempt(name, provenance, client_description)
        return Session(connection=self._connection, name=name, attempt=attempt, delta=delta)

    def create_budget(self, *, name: str, cap: Cap, privacy_unit: str,
                      neighboring_relation: RelationName = "ADD_OR_REMOVE_ONE", parent: Optional[str] = None,
                      display_name: str = "") -> Budget:
        """Creates a budget over every `privacy_unit` ("person"); repeating the call returns the budget as it is now.
        AlreadyExists names the first difference from the existing budget of that name."""
        message: Json = {"cap": cap.message, "privacyUnit": privacy_unit, "displayName": display_name,
                         "neighboringRelation": api_name("neighboring_relation", neighboring_relation, RELATIONS)}
        if parent is not None:
            message["parent"] = budget_name(parent, "parent")
        with callers_words(OF_CREATE_BUDGET):
            return Budget.from_json(self.call("BudgetService/CreateBudget", {
                "budgetId": checked_id("name", name), "budget": message}))

    def budget(self, name: str) -> Budget:
        """Returns the budget as it is now. NotFound if no such budget exists."""
        return Budget.from_json(self.call("BudgetService/GetBudget", {"name": budget_name(name, "name")}))

    def budgets(self) -> List[Budget]:
        """Returns every budget that this caller may see, as it is now, in the order of their names."""
        return [Budget.from_json(one) for one in self._connection.pages(
            "BudgetService/ListBudgets", {"pageSize": _PAGE_SIZE}, "budgets")]

    def preview(self, *, budget: str, event: EventLike, count: int = 1, expects: bool = True) -> Preview:
        """Returns what the first charge of a new session under `budget` would do, and how many steps would fit. The
        session is taken to have no cap of its own and no plan, and to be opened with `expects=event`, or without if
        `expects` is False. Charges nothing, creates nothing. Policies on samplers are not checked: only an attempt says
        how it samples. NotFound if no such budget exists."""
        with callers_words(event=event):
            return Preview.from_json(self.call("ChargeService/PreviewCharge", {
                "budget": budget_name(budget), "event": event_json(event), "count": count_json(count),
                "expectsEvent": expects}))

    def calibrate(self, *, budget: str, event: NoisyEvent, count: int) -> float:
        """Returns the smallest noise multiplier z, to 5e-4 of it, with which `count` steps of event(z), charged one by
        one, fit now under `budget` and every budget above it, in a session opened with `expects=event(z)`. The server
        decides this, by what is left of the caps. Charges and reserves nothing: others may charge in between.

            step = lambda z: PoissonSampled(sampling_probability=0.01, event=Gaussian(noise_multiplier=z))
            z = client.calibrate(budget="people", event=step, count=1000)
            session = client.open(session="first-run", budget="people", delta=1e-5, expects=step(z))

        If a budget has no reference yet, the session makes that step its reference. z in [2^-10, 2^20]. About ten
        previews, each of which may take the server a second. Errors as Session.calibrate; NotFound if no such budget
        exists."""
        return smallest_noise(lambda described: self.preview(budget=budget, event=described, count=count), event, count)

    def audit(self, *, method: AuditMethod, confidence: float, delta: float = 0, member_scores: Iterable[float] = (),
              non_member_scores: Iterable[float] = (), counts: Union[TwoArmCounts, OneRunCounts, None] = None,
              guesses: Optional[int] = None, claimed_epsilon: Optional[float] = None,
              events: Iterable[Tuple[EventLike, int]] = ()) -> Audit:
        """Returns a lower bound of epsilon at `delta`, in [0, 1), from an attack on canaries; it is above the truth with
        probability at most 1 - confidence, in (0, 1). Records nothing: see Session.record_audit.

        method           TWO_ARM_THRESHOLD, TWO_ARM_GDP, ONE_RUN or ONE_RUN_F_DP (epsledger.v1.AuditCanariesRequest says
                         what each does, with its papers).
        member_scores, non_member_scores
                         higher: looks more like a member. Up to 100,000 together.
        counts           in their place: the counts of a test that was fixed before these runs.
        guesses          with the scores of one run: their number, if it was fixed before the run.
        claimed_epsilon  at delta, to compare with.
        events           [(event, count), ...] that were charged, to compare with what they certify."""
        with callers_words({"twoArmCounts": "counts", "oneRunCounts": "counts"}):
            return Audit.from_result(self.call("AccountingService/AuditCanaries", audit_request(
                method=method, confidence=confidence, delta=delta, member_scores=member_scores,
                non_member_scores=non_member_scores, counts=counts, guesses=guesses, claimed_epsilon=claimed_epsilon,
                events=events)))

    def watch(self, name: str, *, after: int = 0) -> Iterator[Change]:
        """Yields what happens in a budget and all below it, "people", or in a session,
        "budgets/people/sessions/first-run", as it happens and without an end:

            for change in client.watch("people"):
                print(change)

        It begins after entry `after` of the ledger, 0: with the first, and misses none: a stream that breaks is opened
        again where it broke. NotFound if there is no such budget or session; Unavailable after an outage that is
        longer than the time of Retry. Blocks until something happens. A thread of its own may do that: after close()
        it ends with Ended, within 15 s."""
        return watch(self._connection, resource_name(name), after)

    def annotations(self, name: str) -> Annotations:
        """Returns what people say about a budget, "people", or a session, "budgets/people/sessions/first-run", for
        official forms, and who signed its statement off (`epsctl statement sign-off`). NotFound."""
        return Annotations.from_json(self._connection.call("AuditService/GetAnnotations", {"name": resource_name(name)}))

    def annotate(self, name: str, **texts: str) -> Annotations:
        """Records texts about a budget or session, in one commit, and returns them:

            client.annotate("people", deployment_model="Central", data_domain="adults in the census of 1994")

        Topics: deployment_model (Local, Central, Shuffle or Federated), actors, data_domain, unprotected_quantities,
        contribution_bounding, parameter_rationale, data_collection, preprocessing, post_processing, security,
        side_channels, intended_use. A text has at most 2,048 bytes; an empty one withdraws. Other topics stay. The
        ledger keeps who recorded them. Statements show them, and forms are filled in with them. They decide nothing."""
        return Annotations.from_json(self._connection.call("AuditService/UpdateAnnotations", {
            "name": resource_name(name), "annotations": topics(texts)}))

    def call(self, method: str, request: Json) -> Json:
        """Calls any unary RPC, "AccountingService/Compute", as proto3 JSON (see proto/epsledger/v1), and repeats it
        until its outcome is definite. For reads, and for writes that may be repeated without harm. A Session makes
        charges."""
        return self._connection.call(method, request)

    def close(self) -> None:
        """Ends the connections; its sessions can then do nothing more. Leases that are not settled stay open in the
        ledger, spent in full."""
        self._connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<client of the epsledger server at %s%s>" % (
            self.address, ", closed" if self._connection.closed else "")

    def _takes_existing(self, name: str, neighboring_relation: str) -> bool:
        """Returns False if no such session exists. A session for another relation is not for this training code."""
        try:
            found = self._connection.call("SessionService/GetSession", {"name": name})
        except NotFound:
            return False
        if found.get("neighboringRelation") != neighboring_relation:
            raise invalid("neighboring_relation", neighboring_relation,
                          "%s, which is what %s accounts for" % (found.get("neighboringRelation"), name))
        return True

    def _open_attempt(self, name: str, provenance: Provenance, client_description: Optional[str]) -> str:
        request: Json = {"session": name, "provenance": provenance.to_json(),
                         "clientDescription": _this_process() if client_description is None else client_description}
        self._connection.seen_heads.add_to(request, name)
        answer = self._connection.call("SessionService/OpenAttempt", request)
        number, attempt = int(answer.get("number", 0)), str(answer.get("name"))
        if number < 1 or attempt != "%s/attempts/%d" % (name, number):
            raise call_failed("INTERNAL", "the server opened the attempt %r number %d of %s: these do not fit together"
                              % (attempt, number, name))
        wrong = self._connection.seen_heads.contradiction(name, answer, request.get("lastSeenHead"))
        if wrong is not None:
            raise call_failed("DATA_LOSS", wrong)
        self._connection.seen_heads.remember(name, answer)
        return attempt


def _this_process() -> str:
    text = "%s, process %d, epsledger for Python %s" % (socket.gethostname(), os.getpid(), platform.python_version())
    return text.encode()[:_MOST_DESCRIPTION_BYTES].decode(errors="ignore")
