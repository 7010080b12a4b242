"""An exported ledger counted again, by code of its own: the hash chain, every cell of every budget, and every charge.

Reads the bytes that server/core/codec.h and entry.h describe, and counts as server/core/README.md says: what an event
costs is taken from the entries EventPriced and UnitsPriced, whose truth is for `epsledgerd ledger verify --prices`.
"""
import hashlib
import json
import math
import struct
from fractions import Fraction

INFINITE = 2**128 - 1
UNIT = 2**64  # one unit of a reference, in the amounts of the ledger
UNITS, RESERVE = 9, 10
ANY_CELL = 2
ACCEPTED = 1


# --- The bytes. A shape says how a value is read: a list of a struct's fields, "many", "maybe" or "one of". -----------

class _Bytes:
    def __init__(self, content):
        self._content, self._at = content, 0

    def take(self, count):
        taken = self._content[self._at:self._at + count]
        if len(taken) != count:
            raise ValueError("the content ends too early")
        self._at += count
        return taken

    def number(self, count):
        return int.from_bytes(self.take(count), "big")

    def read(self, shape):
        if isinstance(shape, dict):
            return {name: self.read(inner) for name, inner in shape.items()}
        if isinstance(shape, tuple):
            kind, inner = shape
            if kind == "many":
                return [self.read(inner) for _ in range(self.number(4))]
            if kind == "maybe":
                return self.read(inner) if self.number(1) else None
            if kind == "policy":  # 2: with the fields of a later release in front
                mark = self.number(1)
                later = self.read({"normalizers": ("many", "byte"), "known_faults": "byte"}) if mark == 2 else {}
                return {**later, **self.read(inner)} if mark else None
            if kind == "sampler":  # 2 and the normalizer stand in front if one was declared
                mark = self.number(1)
                if mark == 2:
                    self.number(1)
                    mark = self.number(1)
                return self.read(inner) if mark else None
            return self.read_one_of(inner)
        if shape == "byte":
            return self.number(1)
        if shape == "integer":
            return int.from_bytes(self.take(8), "big", signed=True)
        if shape == "double":
            return struct.unpack(">d", self.take(8))[0]
        if shape == "cost":
            return self.number(16)
        if shape == "text":
            return self.take(self.number(4)).decode()
        if shape == "bytes":
            return self.take(self.number(4))
        return self.event()

    def read_one_of(self, alternatives):
        name, inner = alternatives[self.number(1)]
        return name, self.read(inner)

    def event(self):
        """As proto3 JSON."""
        name, fields = self.read_one_of(_EVENTS)
        return {name: fields}

    def at_end(self):
        return self._at == len(self._content)


# Those that the tests charge.
_EVENTS = {1: ("gaussian", {"noiseMultiplier": "double"}),
           2: ("laplace", {"noiseMultiplier": "double"}),
           9: ("approximateDp", {"epsilon": "double", "delta": "double"}),
           15: ("poissonSampled", {"samplingProbability": "double", "event": "event"}),
           21: ("selfComposed", {"event": "event", "count": "integer"})}
_CAP = ("one of", {2: ("approximateDp", {"epsilon": "double", "delta": "double", "filter": "byte", "order": "double"}),
                   3: ("zcdp", {"rho": "double"})})
_CELL = {"quantity": "byte", "order": "double", "cap": "cost"}
_FILTER = {"rule": "byte", "cells": ("many", _CELL), "theorem": "text"}
_LABELS = ("many", {"key": "text", "value": "text"})
_BUDGET = {"id": "text", "parent": "text", "cap": _CAP, "relation": "byte", "unit": "text",
           "partition": ("maybe", "text"),
           "policy": ("policy", {"samplers": ("many", "byte"), "required": "byte"}),
           "display_name": "text", "labels": _LABELS, "alerts": ("many", "double")}
_SESSION = {"budget": "text", "id": "text", "mode": "byte", "relation": "byte", "own_cap": ("maybe", _CAP),
            "plan": ("many", {"event": "event", "count": "integer"}), "plan_delta": "double", "display_name": "text",
            "group": "text", "labels": _LABELS,
            "claim": ("maybe", {"status": "byte", "epsilon": "double", "delta": "double", "source": "text"})}
_REFUSAL = {"reason": "byte", "budget": "text", "session": "text", "cell": _CELL, "spent": "cost", "requested": "cost",
            "steps_that_fit": "integer", "remedy": "text"}
_OF_SESSION = {"session": "integer"}
_COSTS = ("many", ("many", "cost"))
_ACTOR = {"principal": "text", "door": "byte", "client": "text"}
_ENTRIES = {
    1: ("BudgetCreated", {"spec": _BUDGET, "filter": _FILTER}),
    2: ("SessionCreated", {"spec": _SESSION, **_OF_SESSION, "own_filter": ("maybe", _FILTER),
                           "plan_charge": ("maybe", {"epsilon": "double", "theorem": "text", "costs": _COSTS})}),
    3: ("SessionRefused", {"spec": _SESSION, "refusal": _REFUSAL}),
    4: ("AttemptOpened", {**_OF_SESSION, "attempt": "integer", "client": "text", "sampler": ("sampler", "byte"),
                          "clip_norm": "double", "library": "text", "library_version": "text"}),
    5: ("EventPriced", {**_OF_SESSION, "event_index": "integer", "event": "event", "unit_costs": _COSTS}),
    6: ("ChargeDecided", {**_OF_SESSION, "attempt": "integer", "id": "text", "event_index": "integer",
                          "count": "integer", "decision": "byte", "refusal": ("maybe", _REFUSAL)}),
    21: ("ChargeRefused", {**_OF_SESSION, "attempt": "integer", "id": "text",
                           "event": {"digest": "bytes", "words": "text"}, "count": "integer", "refusal": _REFUSAL}),
    11: ("LeaseGranted", {**_OF_SESSION, "attempt": "integer", "lease": "text", "expire": "integer"}),
    12: ("LeaseSettled", {**_OF_SESSION, "attempt": "integer", "lease": "text", "used": "integer"}),
    17: ("ReferenceFixed", {"budget": "text", **_OF_SESSION, "event": "event", "interval": "double",
                            "first": "integer", "masses": ("many", "double"), "units": "integer", "slack": "double",
                            "reserve": "double"}),
    18: ("UnitsPriced", {**_OF_SESSION, "event_index": "integer", "gate": "integer", "count": "integer",
                         "level": "integer", "units": "integer", "reserve": "double"}),
}


def digest_of(event):
    """The SHA-256 of the encoding of an event (proto3 JSON): what the ledger keeps of one that it refused."""
    return hashlib.sha256(_encoded(event)).digest()


def _encoded(event):
    (name, values), = event.items()
    (tag, shapes), = [(tag, shapes) for tag, (kind, shapes) in _EVENTS.items() if kind == name]
    content = bytes([tag])
    for field, shape in shapes.items():
        if shape == "double":
            content += struct.pack(">d", float(values[field]))
        elif shape == "integer":
            content += struct.pack(">q", int(values[field]))
        else:
            content += _encoded(values[field])
    return content


def entries_of(path):
    """[(sequence, hash, kind, fields), ...] of an export file, whose chain of hashes is checked."""
    entries, before = [], bytes(32)
    with open(path, encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream]
    for line in lines[1:-1]:
        content = bytes.fromhex(line["content"])
        before = hashlib.sha256(before + content).digest()
        reader = _Bytes(content)
        version, sequence, _ = reader.read("byte"), reader.read("integer"), reader.read("integer")
        if version == 2:
            reader.read(_ACTOR)
        kind, fields = reader.read_one_of(_ENTRIES)
        if (version in (1, 2), sequence, before.hex()) != (True, len(entries) + 1, line["hash"]) or not reader.at_end():
            raise ValueError("entry %d is not what follows" % line["sequence"])
        entries.append((sequence, line["hash"], kind, fields))
    if (lines[-1]["entryCount"], lines[-1]["hash"]) != (len(entries), before.hex()):
        raise ValueError("the export ends with another head")
    return entries


# --- The counting. ----------------------------------------------------------------------------------------------------

def add(a, b):
    return min(a + b, INFINITE)


def rounded_up(x):
    """The amount of a double."""
    return math.ceil(Fraction(x) * UNIT)


def as_shown(amount):
    """The smallest double >= an amount, as JSON shows it."""
    if amount == INFINITE:
        return math.inf
    shown = float(Fraction(amount, UNIT))
    return shown if Fraction(shown) * UNIT >= amount else math.nextafter(shown, math.inf)


class _Budget:
    def __init__(self, spec, filter):
        self.spec, self.filter = spec, dict(filter, cells=[dict(cell) for cell in filter["cells"]])
        self.children = []
        self.reference = None  # ReferenceFixed
        # For each filter from here up to the root: what the sessions of this very budget paid there, cell by cell.
        self.paid = {}

    @property
    def units_cell(self):
        quantities = [cell["quantity"] for cell in self.filter["cells"]]
        return quantities.index(UNITS) if UNITS in quantities else None


class _Session:
    def __init__(self, spec):
        self.spec = spec
        self.events = []  # of each: the event, its unit costs, and its prices by gate
        self.attempt = 0


class RecountedLedger:
    """`accepted` and `refused`: {(session name, attempt, id): (event, count, sequence, hash)}, of a refused event that
    the session did not hold its digest. Raises AssertionError where an accepted charge does not fit by this count, or a
    key is decided twice."""

    def __init__(self, path):
        self.entries = entries_of(path)
        self.budgets, self.sessions = {}, {}
        self.accepted, self.refused = {}, {}
        self.granted, self.settled = set(), {}
        self.price_count = self.plan_count = 0
        self.by_block = self.by_singles = self.without_units = 0
        for entry in self.entries:
            self._apply(*entry)

    def path(self, budget_id):
        """From the budget up to the root."""
        while budget_id:
            yield self.budgets[budget_id]
            budget_id = self.budgets[budget_id].spec["parent"]

    def spent(self, budget_id):
        """Cell by cell."""
        budget = self.budgets[budget_id]
        return [self._below(budget, budget_id, cell) for cell in range(len(budget.filter["cells"]))]

    def lives(self, budget_id):
        """Whether what is spent is within the cap, for each cell."""
        return [spent <= cell["cap"] for spent, cell in zip(self.spent(budget_id), self._cells(budget_id))]

    def fits(self, budget_id, spent):
        cells = self._cells(budget_id)
        room = [amount <= cell["cap"] for amount, cell in zip(spent, cells)]
        if self.budgets[budget_id].filter["rule"] != ANY_CELL:
            return all(room)
        for at, cell in enumerate(cells):
            if cell["quantity"] == UNITS:
                room[at] = room[at] and room[at + 1]
            elif cell["quantity"] == RESERVE:
                room[at] = False
        return any(room)

    def accepted_under(self, budget_id, only_through=None):
        """[(event, count), ...] of everything that was charged below a budget, plans whole and leases too; with
        `only_through`, of its own sessions and what is below that child."""
        def counts(session):
            path = [budget.spec["id"] for budget in self.path(session.spec["budget"])]
            return budget_id in path and (only_through is None or path[0] == budget_id or only_through in path)

        events = []
        for session in self.sessions.values():
            if counts(session):
                events += [(item["event"], item["count"]) for item in session.spec["plan"]]
        by_name = {self._name(session): session for session in self.sessions.values()}
        for (name, _, _), (event, count, _, _) in self.accepted.items():
            session = by_name[name]
            if not session.spec["plan"] and counts(session):
                events.append((event, count))
        return events

    def _cells(self, budget_id):
        return self.budgets[budget_id].filter["cells"]

    def _name(self, session):
        return "budgets/%s/sessions/%s" % (session.spec["budget"], session.spec["id"])

    def _below(self, node, filter_id, cell, through=()):
        """What `node` and all below it paid in a cell of a filter above; of a partition the child that paid most, or
        the one on the way `through`."""
        own = node.paid[filter_id][cell]
        parts = []
        for child in node.children:
            amount = self._below(child, filter_id, cell, through)
            if node.spec["partition"] is not None and child.spec["id"] in through:
                return add(own, amount)
            parts.append(amount)
        if node.spec["partition"] is not None:
            return add(own, max(parts, default=0))
        for amount in parts:
            own = add(own, amount)
        return own

    def units_left(self, budget, session):
        """For the people that a session below a budget meets."""
        if budget.reference is None:
            return 0
        cell = budget.units_cell
        through = {above.spec["id"] for above in self.path(session.spec["budget"])}
        everyone = self._below(budget, budget.spec["id"], cell)
        part = self._below(budget, budget.spec["id"], cell, through)
        return 0 if INFINITE in (everyone, part) else max(0, (budget.filter["cells"][cell]["cap"] - part) // UNIT)

    def cost(self, budget, session, event, gate, count):
        """The cost of `count` uses, cell by cell. The server sums the reserve of single uses in doubles, rounded up: a few last
        bits more than here."""
        described, unit_costs, prices = event
        costs = [min(unit * count, INFINITE) for unit in unit_costs[gate]]
        cell = budget.units_cell
        if cell is None:
            return costs
        left = self.units_left(budget, session)

        def cheapest(uses, units):
            held = [p for p in prices.get(gate, ()) if p["count"] == uses and p["level"] <= units >= p["units"]]
            return min(held, key=lambda price: price["units"], default=None)

        units, reserve, uses = 0, 0, 0
        while uses < count and cheapest(1, left - units):
            price = cheapest(1, left - units)
            units, reserve, uses = units + price["units"], reserve + Fraction(price["reserve"]), uses + 1
        paid = (units, reserve) if uses == count else None
        block = cheapest(count, left) if count > 1 else None
        if block and (paid is None or block["units"] < paid[0]):
            paid = block["units"], Fraction(block["reserve"])
            self.by_block += 1
        elif paid:
            self.by_singles += 1
        spent_reserve = self.spent(budget.spec["id"])[cell + 1]
        if paid is None or spent_reserve + rounded_up(paid[1]) > budget.filter["cells"][cell + 1]["cap"]:
            self.without_units += 1
            return costs  # infinite
        if described == budget.reference["event"] and paid != (count, 0):
            raise AssertionError("%d uses of the reference cost %s" % (count, paid))
        costs[cell], costs[cell + 1] = paid[0] * UNIT, rounded_up(paid[1])
        return costs

    # ---- one method an entry

    def _apply(self, sequence, digest, kind, fields):
        apply = getattr(self, "_" + kind, None)
        if apply is not None:
            apply(fields, sequence, digest)

    def _BudgetCreated(self, fields, *_):
        spec = fields["spec"]
        budget = self.budgets[spec["id"]] = _Budget(spec, fields["filter"])
        for above in self.path(spec["id"]):
            budget.paid[above.spec["id"]] = [0] * len(above.filter["cells"])
        if spec["parent"]:
            self.budgets[spec["parent"]].children.append(budget)

    def _ReferenceFixed(self, fields, *_):
        budget = self.budgets[fields["budget"]]
        if budget.reference is not None or any(self.spent(fields["budget"])):
            raise AssertionError("a second or a late reference of " + fields["budget"])
        budget.reference = fields
        cells = budget.filter["cells"]
        cells[budget.units_cell]["cap"] = fields["units"] * UNIT
        cells[budget.units_cell + 1]["cap"] = math.floor(Fraction(fields["reserve"]) * UNIT)

    def _SessionCreated(self, fields, *_):
        if fields["own_filter"] is not None:
            raise ValueError("sessions with a cap of their own are not counted here")
        session = self.sessions[fields["session"]] = _Session(fields["spec"])
        session.events = [(item["event"], [], {}) for item in fields["spec"]["plan"]]
        if fields["plan_charge"] is None:
            return
        for budget, costs in zip(self.path(fields["spec"]["budget"]), fields["plan_charge"]["costs"], strict=True):
            if budget.reference is not None and costs[budget.units_cell] != INFINITE:
                self.plan_count += 1
                uses = [(item["event"], item["count"]) for item in fields["spec"]["plan"]]
                if len(uses) == 1 and uses[0][0] == budget.reference["event"]:
                    if costs[budget.units_cell] != uses[0][1] * UNIT:
                        raise AssertionError("a plan of the reference costs %s" % costs)
            self._pay(session, budget, costs)

    def _AttemptOpened(self, fields, *_):
        session = self.sessions[fields["session"]]
        if fields["attempt"] != session.attempt + 1:
            raise AssertionError("an attempt out of order")
        session.attempt += 1

    def _EventPriced(self, fields, *_):
        session = self.sessions[fields["session"]]
        if fields["event_index"] != len(session.events):
            raise AssertionError("an event out of order")
        session.events.append((fields["event"], fields["unit_costs"], {}))

    def _UnitsPriced(self, fields, *_):
        self.price_count += 1
        prices = self.sessions[fields["session"]].events[fields["event_index"]][2]
        prices.setdefault(fields["gate"], []).append(fields)

    def _ChargeDecided(self, fields, sequence, digest):
        session = self.sessions[fields["session"]]
        key = self._name(session), fields["attempt"], fields["id"]
        if key in self.accepted or key in self.refused:
            raise AssertionError("%s is decided twice" % (key,))
        event = session.events[fields["event_index"]]
        decided = event[0], fields["count"], sequence, digest
        if fields["decision"] != ACCEPTED:
            self.refused[key] = decided
            return
        self.accepted[key] = decided
        if session.spec["plan"]:
            return  # its plan was charged
        costs = [(budget, self.cost(budget, session, event, gate, fields["count"]))
                 for gate, budget in enumerate(self.path(session.spec["budget"]))]
        for budget, cost in costs:
            self._pay(session, budget, cost)

    def _ChargeRefused(self, fields, sequence, digest):
        key = self._name(self.sessions[fields["session"]]), fields["attempt"], fields["id"]
        if key in self.accepted or key in self.refused:
            raise AssertionError("%s is decided twice" % (key,))
        self.refused[key] = fields["event"]["digest"], fields["count"], sequence, digest

    def _pay(self, session, budget, costs):
        paid = self.budgets[session.spec["budget"]].paid[budget.spec["id"]]
        for cell, cost in enumerate(costs):
            paid[cell] = add(paid[cell], cost)
        if not self.fits(budget.spec["id"], self.spent(budget.spec["id"])):
            raise AssertionError("%s is beyond its cap: %s" % (budget.spec["id"], self.spent(budget.spec["id"])))

    def _LeaseGranted(self, fields, *_):
        self.granted.add((self._name(self.sessions[fields["session"]]), fields["attempt"], fields["lease"]))

    def _LeaseSettled(self, fields, *_):
        key = self._name(self.sessions[fields["session"]]), fields["attempt"], fields["lease"]
        if key in self.settled or key not in self.granted:
            raise AssertionError("%s is settled twice, or was not granted" % (key,))
        self.settled[key] = fields["used"]
