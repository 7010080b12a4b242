"""Rank 0 acts for all ranks of torch.distributed."""
from __future__ import annotations

from typing import Callable, List, Optional, Tuple, TypeVar, cast

import torch.distributed

from ..errors import EpsledgerError

Result = TypeVar("Result")


def on_rank_0(act: Callable[[], Result]) -> Result:
    """Calls `act` on rank 0 of the default process group, and returns its result, or raises its error, on every rank. A
    collective: every rank must call it, at the same place. Without ranks it calls `act`."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return act()
    outcome: Tuple[Optional[BaseException], Optional[Result]] = (None, None)
    if torch.distributed.get_rank() == 0:
        try:
            outcome = (None, act())
        except BaseException as error:
            # The other ranks wait for an answer, whatever went wrong.
            outcome = (error, None)
    told: List[Tuple[Optional[BaseException], Optional[Result]]] = [(_sendable(outcome[0]), outcome[1])]
    torch.distributed.broadcast_object_list(told, src=0)
    failure, result = told[0]
    if outcome[0] is not None:
        raise outcome[0]
    if failure is not None:
        raise failure
    return cast(Result, result)


def _sendable(error: Optional[BaseException]) -> Optional[BaseException]:
    """Returns an error that can travel between processes: errors of other libraries may not be able to."""
    if error is None or isinstance(error, EpsledgerError) or type(error) is ValueError:
        return error
    return RuntimeError("rank 0 did not charge: %r" % error)
