"""What a fork does to this package.

A forked child has a copy of every object of its parent. It makes new connections, so that two processes never read each
other's answers. Sessions, permits and leases belong to the process that opened them: parent and child would use the
same keys, and one charge would be spent on two noises.
"""
from __future__ import annotations

import os
import weakref
from typing import Any, NoReturn

from .errors import WrongProcess


class SurvivesFork:
    """A base of objects that a forked child may continue to use: `_after_fork` makes them usable there."""

    def __init__(self) -> None:
        _survivors.add(self)

    def _after_fork(self) -> None:
        """Runs in the child, before anything else there. Takes no lock: another thread may hold it for ever."""
        raise NotImplementedError


class OwnedByProcess:
    """A base of objects that charge: in any other process they refuse to, with WrongProcess."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def _is_of_this_process(self) -> bool:
        return os.getpid() == self._process

    def _check_process(self) -> None:
        if not self._is_of_this_process():
            raise WrongProcess(
                "this %s belongs to process %d, and this is process %d, forked from it: charge in the training "
                "process (a DataLoader worker only loads), or open a session of this process's own"
                % (type(self).__name__.lower(), self._process, os.getpid()))

    def __reduce__(self) -> NoReturn:
        raise WrongProcess("a %s cannot be sent to another process: open a session there, which is an attempt "
                           "of its own" % type(self).__name__.lower())


def _after_fork_in_child() -> None:
    for survivor in list(_survivors):
        survivor._after_fork()


_survivors: "weakref.WeakSet[Any]" = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
