"""NVFlare: filters of task results that charge before an update leaves the site.

    class SiteFilter(LedgerFilter):                 # NVFlare makes filters from the configuration of a job
        def __init__(self, budget: str, noise_multiplier: float) -> None:
            session = epsledger.connect().open(session="job", budget=budget, delta=1e-5)
            super().__init__(session, Gaussian(noise_multiplier=noise_multiplier))

Tested against the filters, DXOs and filter chains of NVFlare 2.9.

LedgerFilter is for results that already have their noise, for example from Opacus in the site's executor. `event` is
the caller's claim of what one result releases about one record of the site: its arrays, its metadata and its headers.
It stands last in task_result_filters, or before a filter that draws noise. NVFlare sends nothing of a result whose
filter raises an error, but reports TASK_RESULT_FILTER_ERROR to the server.

LedgerSvtPrivacy is NVFlare's SVTPrivacy, charged with what can be proven of it. That is more than it states. Its search
does not stop after n_upload answers above the threshold: it keeps all of them, up to the number of parameters, and
draws the uploaded ones from those. The proof of the sparse vector technique [LSL17, Algorithm 1] charges each answer
above the threshold epsilon_query / n_upload, so one result is
PureDp(epsilon_threshold + epsilon_query * parameters / n_upload + epsilon_release), for any two updates of the site.
Metadata that depends on records and headers of an executor are left out, scalars are refused because SVTPrivacy sends
them without noise, and numpy's global generator, from which it draws, is seeded afresh. Its log has numbers of the
update: keep that at the site.

PercentilePrivacy and StatisticsPrivacyFilter have no guarantee that could be charged: the first draws no noise, the
second only bounded noise or none.
"""
from __future__ import annotations

import math
from typing import Any, Dict, List, Sequence

import numpy
import nvflare
from nvflare.apis.dxo import DXO, DataKind, MetaKey, from_shareable
from nvflare.apis.filter import ContentBlockedException, Filter
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.shareable import ReservedHeaderKey
from nvflare.app_common.filters import svt_privacy

from ..domain import refuse
from ..event_json import EventLike
from ..events import PureDp
from ..session import Session

_UPDATES = (DataKind.WEIGHTS, DataKind.WEIGHT_DIFF)
# What the server of a job told the site.
_PUBLIC_META = (MetaKey.CURRENT_ROUND, MetaKey.TOTAL_ROUNDS)
_HEADERS = {value for name, value in vars(ReservedHeaderKey).items()
            if name.isupper() and name not in ("HEADERS", "ERROR")}
_OF_A_DXO = {ReservedHeaderKey.HEADERS, "DXO"}
# The proof is of the code of these releases.
_READ = ("2.9",)


class LedgerFilter(Filter):
    """Charges `session` one `event` for each result, and then lets it pass.

    kinds  the kinds of DXO that `event` covers. A result with another kind is blocked, for example METRICS.

    1. No result passes without an ACCEPTED charge; errors are those of Session.charge.
    2. ContentBlockedException, and no charge, for a result of another kind, one that is no DXO, and one with data in
       a reply that is not OK. A reply that is not OK and has nothing but headers passes without a charge; other headers
       than NVFlare's own are taken out of it."""

    def __init__(self, session: Session, event: EventLike, *, kinds: Sequence[str] = _UPDATES) -> None:
        super().__init__()
        self._session = session
        self._event = event
        self._kinds = tuple(DataKind(kind) for kind in kinds)

    def process(self, shareable: Any, fl_ctx: Any) -> Any:
        if not _is_empty_reply(shareable):
            for dxo in _leaves(_dxo_of(shareable)):
                _check_kind(dxo, self._kinds)
            self._session.charge(self._event)
        return shareable


class LedgerSvtPrivacy(svt_privacy.SVTPrivacy):
    """NVFlare's SVTPrivacy; each result is charged to `session` before anything is drawn.

    steps     the number of local steps, by which SVTPrivacy divides. It must be public: a result whose metadata say
              another number is blocked. Without such metadata SVTPrivacy takes 1.
    options   of SVTPrivacy, except data_kinds: both kinds of weights are filtered, and others are blocked.

    ValueError for a release of NVFlare whose SVTPrivacy was not read. Refusals are as of LedgerFilter."""

    def __init__(self, session: Session, *, steps: int = 1, **options: Any) -> None:
        if ".".join(nvflare.__version__.split(".")[:2]) not in _READ:
            refuse("nvflare", nvflare.__version__, "a release of %s: the proof is of its SVTPrivacy" % " or ".join(_READ))
        super().__init__(**options)
        # Below it the noise of floating point numbers would be rounded to nothing.
        for field, value, least, most in (("fraction", self.fraction, 1e-9, 1), ("gamma", self.gamma, 1e-9, math.inf),
                                          ("steps", steps, 1, math.inf)):
            if not least <= value <= most:
                refuse(field, value, "in [%g, %g]" % (least, most))
        if not math.isfinite(self.tau):
            refuse("tau", self.tau, "a finite number: nothing is above another threshold, and the search would not end")
        self._session = session
        self._steps = steps

    def result_event(self, parameters: int) -> PureDp:
        """Returns what one result of so many parameters is charged as, for `expects`."""
        uploaded = int(min(math.ceil(float(parameters) * self.fraction), parameters))
        threshold, query = svt_privacy._compute_epsilon_split(
            self.epsilon, uploaded, epsilon_threshold=self.epsilon_threshold, epsilon_query=self.epsilon_query)
        release = svt_privacy._compute_release_epsilon(uploaded, self.noise_var, epsilon_release=self.epsilon_release)
        return PureDp(epsilon=(threshold + query * (parameters / uploaded) + release) * (1 + 1e-12))

    def process(self, shareable: Any, fl_ctx: Any) -> Any:
        if _is_empty_reply(shareable):
            return shareable
        dxo = _dxo_of(shareable)
        _check_kind(dxo, _UPDATES)
        steps = dxo.get_meta_prop(MetaKey.NUM_STEPS_CURRENT_ROUND, 1)
        if steps != self._steps:
            raise ContentBlockedException("the result is of %s steps, and the filter of %d" % (steps, self._steps))
        if set(shareable) - _OF_A_DXO:
            raise ContentBlockedException("the result has more than a DXO: %s" % sorted(set(shareable) - _OF_A_DXO))
        arrays = _arrays_of(dxo)
        meta = {key: dxo.meta[key] for key in _PUBLIC_META if type(dxo.meta.get(key)) is int}
        bare = DXO(dxo.data_kind, data=arrays, meta={**meta, MetaKey.NUM_STEPS_CURRENT_ROUND: steps})
        self._session.charge(self.result_event(sum(array.size for array in arrays.values())))
        numpy.random.seed()
        _keep_headers_of_nvflare(shareable)
        return super().process(bare.update_shareable(shareable), fl_ctx)


def _is_empty_reply(shareable: Any) -> bool:
    """Whether it only says that something went wrong. Other headers than NVFlare's own are then taken out."""
    if shareable.get_return_code() == ReturnCode.OK:
        return False
    if set(shareable) - {ReservedHeaderKey.HEADERS}:
        raise ContentBlockedException("a reply that is not OK has more than headers")
    _keep_headers_of_nvflare(shareable)
    return True


def _keep_headers_of_nvflare(shareable: Any) -> None:
    """Takes out what an executor put there. The text of an error may have numbers of records in it."""
    headers = shareable.get(ReservedHeaderKey.HEADERS) or {}
    for key in [key for key in headers if key not in _HEADERS]:
        del headers[key]


def _dxo_of(shareable: Any) -> Any:
    try:
        return from_shareable(shareable)
    except Exception as error:
        raise ContentBlockedException("the result is no DXO, so nobody knows what it releases") from error


def _leaves(dxo: Any) -> List[Any]:
    if dxo.data_kind != DataKind.COLLECTION:
        return [dxo]
    parts = dxo.data.values() if isinstance(dxo.data, dict) else dxo.data
    return [leaf for part in parts for leaf in _leaves(part)]


def _check_kind(dxo: Any, kinds: Sequence[str]) -> None:
    if dxo.data_kind not in kinds:
        raise ContentBlockedException("the result has %s, and the charge is for %s" % (
            DataKind(dxo.data_kind).value, ", ".join(DataKind(kind).value for kind in kinds)))


def _arrays_of(dxo: Any) -> Dict[str, Any]:
    """Returns the arrays, with 0 for what is no number: that compares with no threshold."""
    arrays = {}
    for name, value in dxo.data.items():
        array = numpy.asarray(value)
        if array.ndim == 0:
            raise ContentBlockedException("%s is a scalar, which SVTPrivacy sends without noise" % name)
        if array.dtype.kind != "f":
            raise ContentBlockedException("%s is of %s, want floating point numbers" % (name, array.dtype))
        arrays[name] = numpy.where(numpy.isnan(array), array.dtype.type(0), array)
    if not sum(array.size for array in arrays.values()):
        raise ContentBlockedException("the result has no parameters")
    return arrays
