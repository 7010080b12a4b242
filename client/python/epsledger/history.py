"""Histories: releases as counted events, from the ledger and from other accountants.

    history = history_from_opacus(torch.load("checkpoint")["privacy_accountant_state_dict"])
    with session.charge(Composed(events=history)):   # all of it, or nothing
        ...

Everything is read as data: no name in a file makes anything be imported or called. Errors are ValueError with the row
and field, what it got and what it wants.
"""
from __future__ import annotations

import csv
import os
import re
import reprlib
from typing import Iterable, Iterator, List, Mapping, Tuple, Union

from .domain import as_list, refuse
from .dp_event import from_dp_event
from .events import Composed, CountedEvent, Gaussian, PoissonSampled, SelfComposed

_CSV_COLUMNS = ("noise_multiplier", "sampling_probability", "steps")
_WHOLE, _NUMBER = r"[0-9]+", r"[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?"


def history_from_opacus(state_dict: Mapping[str, object]) -> List[CountedEvent]:
    """Returns the history of an Opacus accountant, from its state_dict(): rows of noise multiplier, sample rate and
    steps, which the RDP, PRV and GDP accountants all read as Poisson-sampled Gaussians."""
    for key in state_dict.keys() - {"history", "mechanism"}:
        refuse("state_dict[%r]" % key, "an unknown key", "history and mechanism alone")
    mechanism = state_dict.get("mechanism")
    # Up to Opacus 1.3 the entry is the function that would return it.
    if isinstance(mechanism, str) and mechanism not in ("rdp", "prv", "gdp"):
        refuse("state_dict['mechanism']", repr(mechanism), "rdp, prv or gdp")
    rows = as_list("state_dict['history']", state_dict.get("history"))
    return [_steps("history[%d]" % i, *_three("history[%d]" % i, row)) for i, row in enumerate(rows)]


def history_from_dp_event(event: object) -> List[CountedEvent]:
    """Returns the history of a dp_accounting accountant, from its `ledger`, the named tuple of that, or a dict of its
    fields (see dp_event.from_dp_event)."""
    read = from_dp_event(event)
    if isinstance(read, Composed):
        return list(read.events)
    if isinstance(read, SelfComposed):
        return [CountedEvent(event=read.event, count=read.count)]
    return [CountedEvent(event=read)]


def history_from_csv(file: Union[str, "os.PathLike[str]", Iterable[str]]) -> List[CountedEvent]:
    """Returns the history in a CSV file (its path, or its lines) with the columns noise_multiplier,
    sampling_probability and steps, in any order, named in the first line."""
    if isinstance(file, (str, os.PathLike)):
        with open(file, encoding="utf-8-sig", newline="") as lines:
            return list(_read_csv(lines))
    return list(_read_csv(file))


def _read_csv(lines: Iterable[str]) -> Iterator[CountedEvent]:
    rows = csv.reader(lines)
    columns = [name.strip() for name in next(rows, [])]
    if sorted(columns) != sorted(_CSV_COLUMNS):
        refuse("line 1", ", ".join(columns) or "nothing", "the columns " + ", ".join(_CSV_COLUMNS))
    for cells in rows:
        if not cells:
            continue  # an empty line
        at = "line %d" % rows.line_num
        if len(cells) != len(columns):
            refuse(at, "%d cells" % len(cells), str(len(columns)))
        row = {column: cell.strip() for column, cell in zip(columns, cells)}
        for column, cell in row.items():
            wanted, name = (_WHOLE, "a whole number") if column == "steps" else (_NUMBER, "a number")
            if not re.fullmatch(wanted, cell):
                refuse("%s, %s" % (at, column), reprlib.repr(cell), name)
        yield _steps(at, float(row["noise_multiplier"]), float(row["sampling_probability"]), int(row["steps"]))


def _three(at: str, row: object) -> Tuple[object, ...]:
    values = tuple(as_list(at, row))
    if len(values) != 3:
        refuse(at, "%d values" % len(values), "noise multiplier, sample rate and steps")
    return values


def _steps(at: str, noise_multiplier: object, sampling_probability: object, steps: object) -> CountedEvent:
    """`steps` steps of DP-SGD; errors begin with `at`."""
    return CountedEvent.from_json({"count": steps, "event": {"poissonSampled": {
        "samplingProbability": sampling_probability,
        "event": {"gaussian": {"noiseMultiplier": noise_multiplier}}}}}, path=at)
