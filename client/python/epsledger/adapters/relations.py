"""The neighboring relation of a session, which that of a framework must fit."""
from __future__ import annotations

from ..session import Session


def relation_of(session: Session) -> str:
    """Returns "ADD_OR_REMOVE_ONE", "REPLACE_ONE" or "REPLACE_SPECIAL"."""
    return str(session._connection.call("SessionService/GetSession", {"name": session.name})["neighboringRelation"])
