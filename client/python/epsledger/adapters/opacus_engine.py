"""Opacus: a PrivacyEngine that charges a session and checks how it is set up before the first step.

    claims = provenance(loader, max_grad_norm=1.0, public_batch_size=256)
    session = client.open(session="run", budget="people", delta=1e-5, provenance=claims)
    engine = LedgerEngine(session, public_batch_size=256)          # LedgerEngine(None, ...) on ranks other than 0
    model, optimizer, loader = engine.make_private(module=..., optimizer=..., data_loader=loader, ...)
    with engine.accountant.until_exhausted():
        ...

Written against the code of Opacus 1.6. README.md here has the table of what is detected, charged, warned of and
refused.

The divisor. Opacus 1.0 to 1.6 divide the noisy sum by int(q * number of records) with loss_reduction="mean": a function
of the private data. Neighbors under add-or-remove-one can then have different divisors, which no charge covers
(github.com/meta-pytorch/opacus, issue 819). With public_batch_size=B the engine makes Opacus divide by B instead.
With loss_reduction="sum" nothing is divided.

Batches that are not Poisson. Opacus claims the sampling rate for make_private(poisson_sampling=False) too. The engine
charges the Gaussian without sampling instead, which is proved where a record is replaced: the same places of the same
permutation hold all other records, so one batch differs, in one record. Where a record is added or removed, all later
batches shift, so the engine refuses.
"""
from __future__ import annotations

import math
import re
import sys
import warnings
from typing import Any, Dict, List, Optional, Sequence, Union

import opacus
import torch
from opacus.utils import batch_memory_manager

from ..client import Provenance
from ..domain import refuse
from ..names import NormalizerName
from ..session import Session
from .loaders import drawing_of, is_split, warn_of_low_precision
from .opacus import LedgerAccountant, Setup
from .ranks import on_rank_0

_PUBLIC = ("PUBLIC_CONSTANT", "EXPECTED_FROM_PUBLIC_COUNT")
# Versions whose code was read: they divide by int(len(dataset) / len(loader)).
_FROM_PRIVATE_COUNT = ((1, 0), (1, 6))


def provenance(data_loader: Any, *, max_grad_norm: Union[float, Sequence[float]], poisson_sampling: bool = True,
               loss_reduction: str = "mean", public_batch_size: Optional[float] = None) -> Provenance:
    """Returns what a run declares that will call LedgerEngine(public_batch_size=...).make_private with the same
    arguments. `public_batch_size` is a number that was fixed without the data."""
    bounds = [max_grad_norm] if isinstance(max_grad_norm, (int, float)) else list(max_grad_norm)
    return Provenance(sampler="POISSON" if poisson_sampling else drawing_of(data_loader).sampler,
                      clip_norm=math.hypot(*bounds), library="opacus", library_version=opacus.__version__,
                      normalizer=normalizer_of(loss_reduction, public_batch_size))


def normalizer_of(loss_reduction: str, public_batch_size: Optional[float] = None) -> NormalizerName:
    """Returns what this version of Opacus divides the noisy sum by; NORMALIZER_UNSPECIFIED if its code was not read."""
    if loss_reduction == "sum" or public_batch_size is not None:
        return "PUBLIC_CONSTANT"
    numbers = tuple(map(int, re.findall(r"\d+", opacus.__version__)[:2]))
    first, last = _FROM_PRIVATE_COUNT
    return "EXPECTED_FROM_PRIVATE_COUNT" if first <= numbers <= last else "NORMALIZER_UNSPECIFIED"


class LedgerEngine(opacus.PrivacyEngine):
    """A PrivacyEngine whose accountant is a LedgerAccountant of `session`, None on ranks other than 0.

    1. make_private() refuses a setup that the charged event does not describe, before anything is trained.
    2. It refuses a setup that contradicts what the session's attempt declared.

    public_batch_size  in (0, inf), fixed without the data: what the noisy sum is divided by, over all ranks. None: what
                       Opacus divides by."""

    def __init__(self, session: Optional[Session], *, public_batch_size: Optional[float] = None,
                 **options: Any) -> None:
        super().__init__(**options)
        if public_batch_size is not None and not (0 < public_batch_size < math.inf):
            refuse("public_batch_size", public_batch_size, "in (0, inf)")
        self.accountant = LedgerAccountant(session)
        self._session = session
        self._public_batch_size = public_batch_size

    def make_private(self, *, module: Any, optimizer: Any, data_loader: Any, poisson_sampling: bool = True,
                     clipping: str = "flat", loss_reduction: str = "mean", grad_sample_mode: str = "hooks",
                     **options: Any) -> Any:
        """As PrivacyEngine.make_private. ValueError names what is refused and what to do."""
        told = on_rank_0(self._described)
        self._check_batches(data_loader, poisson_sampling, told["neighboringRelation"])
        self._check_declared(told.get("provenance", {}), data_loader, poisson_sampling, loss_reduction)
        check_model(module, clipping, grad_sample_mode)
        made = super().make_private(module=module, optimizer=optimizer, data_loader=data_loader,
                                    poisson_sampling=poisson_sampling, clipping=clipping,
                                    loss_reduction=loss_reduction, grad_sample_mode=grad_sample_mode, **options)
        private = next(part for part in made if hasattr(part, "expected_batch_size"))
        _refuse_joined_batches(private)
        private.attach_step_hook = _refuse_hooks
        if self._public_batch_size is not None and loss_reduction == "mean":
            private.expected_batch_size = self._public_batch_size / getattr(private, "world_size", 1)
        self.accountant.set_up(private, Setup(amplified=poisson_sampling, modules=list(made[0].modules())))
        return made

    def _described(self) -> Dict[str, Any]:
        if self._session is None:
            refuse("session", None, "the session, on rank 0 and wherever there are no ranks")
        described: Dict[str, Any] = self._session._connection.call("SessionService/GetSession",
                                                                   {"name": self._session.name})
        return described

    def _check_batches(self, loader: Any, poisson_sampling: bool, relation: str) -> None:
        drawing = drawing_of(loader)
        if poisson_sampling:
            if drawing.is_weighted:
                warnings.warn("Opacus replaces the sampler of the loader: its weights and repetitions have no effect, "
                              "and every record has the same chance", stacklevel=3)
            if type(getattr(loader, "sampler", None)).__name__ == "SubsetRandomSampler":
                warnings.warn("Opacus replaces the sampler of the loader: batches are drawn from all records of the data "
                              "set, not from the subset", stacklevel=3)
            if getattr(loader, "drop_last", False):
                warnings.warn("Opacus ignores drop_last: a Poisson batch has no last record", stacklevel=3)
            return
        if not drawing.once_a_pass:
            refuse("data_loader", type(getattr(loader, "sampler", loader)).__name__,
                   "one that draws each record at most once in a pass: with poisson_sampling=False a record may be in "
                   "a batch several times, and no charge covers that")
        if relation == "ADD_OR_REMOVE_ONE":
            refuse("poisson_sampling", False,
                   "True, or a session for REPLACE_ONE: adding a record to shuffled batches changes all later ones")

    def _check_declared(self, declared: Dict[str, Any], loader: Any, poisson_sampling: bool,
                        loss_reduction: str) -> None:
        sampler = declared.get("sampler", "SAMPLER_UNSPECIFIED")
        drawn = "POISSON" if poisson_sampling else drawing_of(loader).sampler
        if sampler not in ("SAMPLER_UNSPECIFIED", drawn):
            refuse("provenance.sampler", sampler, "%s, which make_private draws" % drawn)
        normalizer = declared.get("normalizer", "NORMALIZER_UNSPECIFIED")
        actual = normalizer_of(loss_reduction, self._public_batch_size)
        if normalizer in _PUBLIC and actual not in _PUBLIC:
            refuse("provenance.normalizer", normalizer,
                   "LedgerEngine(public_batch_size=...): without it this Opacus divides by %s" % actual)


def check_model(module: Any, clipping: str, grad_sample_mode: str = "hooks") -> None:
    """Refuses clipping and parameters that the charged event does not describe; warns where that cannot be seen."""
    if clipping == "adaptive":
        refuse("clipping", clipping, '"flat" or "per_layer": the bound of adaptive clipping follows from the number of '
                                     "records in the batch, to which Opacus adds no noise")
    parameters = list(module.parameters())
    if any(map(_is_wrapped, module.modules())):
        refuse("module", "one in FullyShardedDataParallel",
               "torch.distributed.fsdp.fully_shard: Opacus takes the older wrapper for a training on one rank")
    if _is_fully_sharded(module):
        _check_shards(parameters, grad_sample_mode)
    elif any(map(is_split, parameters)):
        refuse("module", "one with parameters that are split over ranks (tensor parallelism)",
               "one whose ranks hold whole parameters, or FSDP: every rank would charge, or none")
    elif grad_sample_mode == "ghost_fsdp":
        refuse("grad_sample_mode", grad_sample_mode,
               'one for whole parameters, such as "ghost", or fully_shard: every rank would draw noise of its own for the '
               "same parameters")
    warn_of_low_precision(parameters)


def _check_shards(parameters: Sequence[Any], grad_sample_mode: str) -> None:
    """Opacus divides a sum that FSDP averages over all ranks, and its noise, by the number of all ranks."""
    if grad_sample_mode != "ghost_fsdp":
        refuse("grad_sample_mode", grad_sample_mode,
               '"ghost_fsdp": only there each rank draws the noise of its shard')
    ranks = torch.distributed.get_world_size()
    for parameter in parameters:
        if not is_split(parameter):
            refuse("module", "one with a parameter that is not sharded",
                   "fully_shard of all parameters: the gradient of this one is not summed over the ranks")
        if tuple(parameter.device_mesh.shape) != (ranks,):
            refuse("module", "one whose parameters are split over a mesh of %s" % (tuple(parameter.device_mesh.shape),),
                   "a mesh of one dimension with all %d ranks" % ranks)
    warnings.warn("FSDP: what set_gradient_divide_factor and its like change in the sum of the ranks is not seen",
                  stacklevel=4)


def _refuse_joined_batches(optimizer: Any) -> None:
    """Makes `optimizer` refuse to join batches to one step, unless BatchMemoryManager split them from one. Parts of a
    batch that a loop left in the middle are thrown away: a record may be in them and in the next batch."""
    signal_skip_step, pre_step = optimizer.signal_skip_step, optimizer.pre_step
    loop: List[Any] = []  # the frame of the manager's newest loop over its batches

    def of_the_manager(do_skip: bool = True) -> None:
        caller = sys._getframe(1)
        if caller.f_globals.get("__name__") == batch_memory_manager.__name__:
            if loop and loop[0] is not caller:
                _throw_away_parts(optimizer)
            loop[:] = [caller]
        elif do_skip:
            refuse("signal_skip_step", do_skip,
                   "BatchMemoryManager, which skips parts of one batch: a record may be in several of the batches that "
                   "other code joins")
        signal_skip_step(do_skip)

    def of_one_batch(closure: Any = None) -> Any:
        if optimizer._is_last_step_skipped and not optimizer._step_skip_queue:
            _throw_away_parts(optimizer)  # the manager's loop was left, and this batch is not one of its parts
        return pre_step(closure)

    optimizer.signal_skip_step, optimizer.pre_step = of_the_manager, of_one_batch


def _refuse_hooks(hook: Any) -> None:
    refuse("attach_step_hook", getattr(hook, "__name__", hook),
           "nothing beside the hook that charges: Opacus keeps one, and steps would go uncharged")


def _throw_away_parts(optimizer: Any) -> None:
    optimizer._step_skip_queue.clear()
    optimizer._is_last_step_skipped = False
    for parameter in optimizer.params:
        parameter.summed_grad = None


def _is_fully_sharded(module: Any) -> bool:
    return any(kind.__name__ == "FSDPModule" for kind in type(module).__mro__)


def _is_wrapped(module: Any) -> bool:
    return any(kind.__name__ == "FullyShardedDataParallel" for kind in type(module).__mro__)
