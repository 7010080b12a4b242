"""Caps and budgets."""
from __future__ import annotations

import dataclasses
from typing import Optional, Tuple

from .event_json import EventLike, event_json
from .html import bar, titled
from .names import FILTERS, FilterName, api_name, checked_id
from .rounded import digits_for_spent, rounded_down, rounded_up
from .transport import Json


@dataclasses.dataclass(frozen=True)
class Cap:
    """The quantity that a budget counts, and its limit. Made by one of its methods; the server checks the numbers, and
    keeps them rounded down."""

    #: The JSON of an epsledger.v1.Cap.
    message: Json

    @classmethod
    def pure_epsilon(cls, epsilon: float) -> "Cap":
        """The sum of pure epsilons, in (0, inf)."""
        return cls({"pureEpsilon": {"epsilon": epsilon}})

    @classmethod
    def approximate_dp(cls, epsilon: float, delta: float, *, filter: Optional[FilterName] = None,
                       order: Optional[float] = None, reference: Optional[EventLike] = None) -> "Cap":
        """(epsilon, delta), enforced by a filter. epsilon in (0, inf), delta in (0, 1).

        filter     RESIDUE: units of one reference event, as tight as privacy loss distributions for charges like it.
                   PORTFOLIO: RESIDUE, mu-GDP and RENYI_ORDERS side by side, with delta split among them. RENYI_ORDERS,
                   RENYI_ONE_ORDER (with `order`), BASIC, ADVANCED or ZCDP. None: the server chooses PORTFOLIO, or the
                   filter of an existing budget or session.
        order      in (1, inf), only with RENYI_ONE_ORDER.
        reference  for a new budget with RESIDUE or PORTFOLIO: the event that units are counted in, best the step that
                   most sessions repeat. None: the event of the first session's open(expects=...), else the first
                   charge. It is fixed once. Not for a session's own cap: its reference is what the session expects."""
        fields: Json = {"epsilon": epsilon, "delta": delta}
        if filter is not None:
            fields["filter"] = api_name("filter", filter, FILTERS)
        if order is not None:
            fields["order"] = order
        if reference is not None:
            fields["reference"] = event_json(reference, "reference")
        return cls({"approximateDp": fields})

    @classmethod
    def zcdp(cls, rho: float) -> "Cap":
        """rho of zCDP, in (0, inf). No amplification by sampling."""
        return cls({"zcdp": {"rho": rho}})

    @classmethod
    def gaussian_dp(cls, mu: float) -> "Cap":
        """mu of Gaussian differential privacy, in (0, inf). Plain Gaussian events only."""
        return cls({"gaussianDp": {"mu": mu}})

    @classmethod
    def renyi(cls, *, order: float, divergence: float) -> "Cap":
        """The Renyi divergence, in (0, inf), at one order in (1, inf)."""
        return cls({"renyi": {"order": order, "divergence": divergence}})

    @classmethod
    def units(cls, *, count: int, delta: float, reference: Optional[EventLike] = None) -> "Cap":
        """`count` units, in [1, 2^40], of a reference event, best the step that most sessions repeat. The cap promises
        a curve: at every epsilon, the delta of `count` uses of the event and a 40th of `delta`, in (0, 1), more. Not
        for a session. reference: None only for a successor, which keeps the previous reference."""
        fields: Json = {"count": str(count), "delta": delta}
        if reference is not None:
            fields["reference"] = event_json(reference, "reference")
        return cls({"units": fields})

    @classmethod
    def no_guarantee(cls) -> "Cap":
        """No cap and no promise to anybody. Not for a session."""
        return cls({"noGuarantee": {}})

    @property
    def reference(self) -> Optional[Json]:
        """The JSON of the event that the cap counts units of; None before it is fixed, and for a cap that counts no
        units."""
        found: Optional[Json] = (self.message.get("approximateDp") or self.message.get("units") or {}).get("reference")
        return found

    @property
    def guarantee(self) -> Tuple[Tuple[float, float], ...]:
        """For a cap in units, as the server says it: the (epsilon, delta) that it promises, all of them together. Empty
        for other caps."""
        points = self.message.get("units", {}).get("guarantee", [])
        return tuple((float(point.get("epsilon", 0)), float(point.get("delta", 0))) for point in points)


@dataclasses.dataclass(frozen=True)
class CellBalance:
    """One quantity of a cap's filter."""

    #: "EPSILON", "DELTA", "EPSILON_SQUARED", "RHO", "MU_SQUARED", "RENYI_DIVERGENCE", "PLAN_COUNT", "NO_GUARANTEE",
    #: "UNITS" of the cap's reference, or "RESERVE": delta used by prices in units, for the UNITS before it.
    quantity: str
    #: With RENYI_DIVERGENCE.
    order: float
    #: 0 for UNITS and RESERVE before the reference is fixed.
    cap: float
    spent: float
    remaining: float

    @classmethod
    def from_json(cls, message: Json) -> "CellBalance":
        """Reads an epsledger.v1.CellBalance."""
        return cls(message.get("quantity", ""), *(float(message.get(field, 0))
                                                  for field in ("order", "cap", "spent", "remaining")))

    def __str__(self) -> str:
        digits = digits_for_spent(self.spent, self.cap)
        return "%s%s: %s of %s is spent" % (self.quantity, " at order %.15g" % self.order if self.order > 0 else "",
                                            rounded_up(self.spent, digits), rounded_down(self.cap, digits))


@dataclasses.dataclass(frozen=True, repr=False)
class Budget:
    """A cap over one population of privacy units, as it was at the time of the call."""

    #: "budgets/{budget}".
    name: str
    #: "ACTIVE", "FROZEN", "CLOSED" or "SUPERSEDED".
    state: str
    neighboring_relation: str
    privacy_unit: str
    cap: Cap
    #: True: a charge must fit in all cells. False: one cell with room is enough.
    cells: Tuple[CellBalance, ...]
    all_cells_must_fit: bool
    #: In [0, 1]; of the cell with the most room if one is enough.
    spent_fraction: float
    accepted_charge_count: int
    refused_charge_count: int

    @classmethod
    def from_json(cls, message: Json) -> "Budget":
        """Reads an epsledger.v1.Budget."""
        return cls(name=message.get("name", ""), state=message.get("state", ""),
                   neighboring_relation=message.get("neighboringRelation", ""),
                   privacy_unit=message.get("privacyUnit", ""), cap=Cap(message.get("cap", {})),
                   cells=tuple(map(CellBalance.from_json, message.get("cells", []))),
                   all_cells_must_fit=message.get("allCellsMustFit", False),
                   spent_fraction=float(message.get("spentFraction", 0)),
                   accepted_charge_count=int(message.get("acceptedChargeCount", 0)),
                   refused_charge_count=int(message.get("refusedChargeCount", 0)))

    def _repr_html_(self) -> str:
        label = "%s %% of the cap is spent; %d charges accepted, %d refused" % (
            rounded_up(100 * self.spent_fraction, 3), self.accepted_charge_count, self.refused_charge_count)
        return titled("%s over every %s, %s" % (self.name, self.privacy_unit, self.state),
                      bar(self.spent_fraction, label), *(bar_of(cell) for cell in self.cells))

    def __repr__(self) -> str:
        return "<%s over every %s, %s: %s %% of its cap is spent>" % (
            self.name, self.privacy_unit, self.state, rounded_up(100 * self.spent_fraction, 3))


def bar_of(cell: CellBalance) -> str:
    """Returns the bar of one quantity of a cap as HTML; full where it has no cap yet."""
    return bar(cell.spent / cell.cap if cell.cap > 0 else 1.0, str(cell))


def budget_name(name: str, argument: str = "budget") -> str:
    """Returns "budgets/people" for both "people" and "budgets/people". InvalidArgument names the argument."""
    prefix = "budgets/"
    return prefix + checked_id(argument, name[len(prefix):] if isinstance(name, str) and name.startswith(prefix) else name)
