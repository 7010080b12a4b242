"""What people say about a budget or session, for official forms, and who signed its statement off."""
import base64
import dataclasses
import math
from typing import Dict, List, Tuple

from .errors import invalid
from .transport import Json

__all__ = ["Annotations", "SignOff", "topics"]

_TOPICS = ("deployment_model", "actors", "data_domain", "unprotected_quantities", "contribution_bounding",
           "parameter_rationale", "data_collection", "preprocessing", "post_processing", "security", "side_channels",
           "intended_use")


def topics(texts: Dict[str, str]) -> List[Json]:
    """Returns epsledger.v1.Annotation for keyword arguments. InvalidArgument names one that is no topic."""
    for name in texts:
        if name not in _TOPICS:
            raise invalid("annotate", name, "some of %s" % ", ".join(_TOPICS))
        if not isinstance(texts[name], str):
            raise invalid(name, texts[name], "a text; an empty one withdraws")
    return [{"topic": name.upper(), "text": text} for name, text in texts.items()]


@dataclasses.dataclass(frozen=True)
class SignOff:
    """Somebody answers for a signed statement."""

    signer: str
    role: str
    comment: str
    #: SHA-256 of the statement's JSON.
    statement_sha256: bytes
    #: The newest entry that the statement knew: later charges are not part of what was signed off.
    statement_sequence: int
    #: What the statement says; infinity if it gives no epsilon.
    epsilon: float
    delta: float
    #: Who made the call, as in the ledger's entry.
    principal: str


@dataclasses.dataclass(frozen=True)
class Annotations:
    """Everything that people say about one budget or session. The ledger keeps the words and who recorded them, and
    decides nothing by them."""

    name: str
    #: A topic such as "data_domain", and its text.
    texts: Dict[str, str]
    #: The newest 100, oldest first.
    sign_offs: Tuple[SignOff, ...]

    @classmethod
    def from_json(cls, message: Json) -> "Annotations":
        """Reads an epsledger.v1.Annotations."""
        return cls(name=message.get("name", ""),
                   texts={one["topic"].lower(): one.get("text", "") for one in message.get("annotations", [])},
                   sign_offs=tuple(_sign_off(one) for one in message.get("signOffs", [])))


def _sign_off(message: Json) -> SignOff:
    epsilon = message.get("epsilon", 0)
    return SignOff(signer=message.get("signer", ""), role=message.get("role", ""), comment=message.get("comment", ""),
                   statement_sha256=base64.b64decode(message.get("statementSha256", "")),
                   statement_sequence=int(message.get("statementSequence", 0)),
                   epsilon=math.inf if epsilon == "Infinity" else float(epsilon),
                   delta=float(message.get("delta", 0)), principal=message.get("principal", ""))
