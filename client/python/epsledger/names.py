"""The names of choices, and the spellings that are taken for them."""
from __future__ import annotations

import re
from typing import Literal, Tuple

from .errors import invalid

# Each name can be written as in the API, "ADD_OR_REMOVE_ONE", or as epsctl writes it, "add-or-remove-one".
RelationName = Literal["ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL",
                       "add-or-remove-one", "replace-one", "replace-special"]
FilterName = Literal["RESIDUE", "PORTFOLIO", "RENYI_ORDERS", "RENYI_ONE_ORDER", "BASIC", "ADVANCED", "ZCDP",
                     "residue", "portfolio", "renyi-orders", "renyi-one-order", "basic", "advanced", "zcdp"]
SamplerName = Literal["SAMPLER_UNSPECIFIED", "POISSON", "TRUNCATED_POISSON", "WITHOUT_REPLACEMENT", "WITH_REPLACEMENT",
                      "RANDOM_ALLOCATION", "FULL_BATCH", "SHUFFLED",
                      "poisson", "truncated-poisson", "without-replacement", "with-replacement", "random-allocation",
                      "full-batch", "shuffled"]
NormalizerName = Literal["NORMALIZER_UNSPECIFIED", "PUBLIC_CONSTANT", "EXPECTED_FROM_PUBLIC_COUNT",
                         "EXPECTED_FROM_PRIVATE_COUNT", "SAMPLED_BATCH_SIZE",
                         "public-constant", "expected-from-public-count", "expected-from-private-count",
                         "sampled-batch-size"]

RELATIONS = ("ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL")
FILTERS = ("RESIDUE", "PORTFOLIO", "RENYI_ORDERS", "RENYI_ONE_ORDER", "BASIC", "ADVANCED", "ZCDP")
SAMPLERS = ("SAMPLER_UNSPECIFIED", "POISSON", "TRUNCATED_POISSON", "WITHOUT_REPLACEMENT", "WITH_REPLACEMENT",
            "RANDOM_ALLOCATION", "FULL_BATCH", "SHUFFLED")
NORMALIZERS = ("NORMALIZER_UNSPECIFIED", "PUBLIC_CONSTANT", "EXPECTED_FROM_PUBLIC_COUNT",
               "EXPECTED_FROM_PRIVATE_COUNT", "SAMPLED_BATCH_SIZE")

# The server's rule (proto/epsledger/v1/budget.proto).
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


def api_name(argument: str, got: object, known: Tuple[str, ...]) -> str:
    """Returns the API's name for `got`. InvalidArgument names the argument and all names that it takes."""
    name = got.upper().replace("-", "_") if isinstance(got, str) else ""
    if name not in known:
        raise invalid(argument, got, "one of " + ", ".join(known))
    return name


def checked_id(argument: str, got: object) -> str:
    """Returns the id of a budget or session, the last part of its name. InvalidArgument names the argument."""
    if not isinstance(got, str) or not _ID.fullmatch(got):
        raise invalid(argument, got, "[a-z0-9] followed by up to 62 of [a-z0-9._-]")
    return got
