"""How a PyTorch DataLoader draws its batches, as far as its samplers show it."""
from __future__ import annotations

import dataclasses
import warnings
from typing import Any, Optional

from torch.utils.data import (BatchSampler, DistributedSampler, RandomSampler, SequentialSampler, SubsetRandomSampler,
                              WeightedRandomSampler)

from ..domain import refuse
from ..event_json import EventLike, event_json
from ..names import SamplerName

# By name: Opacus may not be installed.
_POISSON = ("UniformWithReplacementSampler", "DistributedUniformWithReplacementSampler")


@dataclasses.dataclass(frozen=True)
class Drawing:
    """What is known about a loader's batches."""

    #: For Provenance.sampler. SAMPLER_UNSPECIFIED: there is no name for it, or it cannot be told.
    sampler: SamplerName
    #: Whether a batch includes each record independently; None: cannot be told.
    is_poisson: Optional[bool]
    #: True if each record is in at most one batch of a pass, and once.
    once_a_pass: bool
    #: True if some records are drawn more often than others, or several times.
    is_weighted: bool


def drawing_of(loader: Any) -> Drawing:
    """Returns how `loader` draws. A sampler that is not torch's or Opacus's own is unknown."""
    batches: Any = getattr(loader, "batch_sampler", None)
    while hasattr(batches, "batch_sampler"):  # what Accelerate puts around it
        batches = batches.batch_sampler
    if type(batches).__name__ in _POISSON:
        return Drawing("POISSON", True, False, False)
    sampler = getattr(batches, "sampler", None)
    if type(batches) is not BatchSampler:
        return Drawing("SAMPLER_UNSPECIFIED", None, False, False)
    if isinstance(sampler, WeightedRandomSampler):
        return Drawing("SAMPLER_UNSPECIFIED", False, False, True)
    if isinstance(sampler, RandomSampler):
        if sampler.replacement or sampler.num_samples > len(sampler.data_source):
            return Drawing("SAMPLER_UNSPECIFIED", False, False, True)
        return _fixed(loader, "SHUFFLED")
    if isinstance(sampler, SubsetRandomSampler):
        unique = len(set(sampler.indices)) == len(sampler.indices)
        return Drawing("SHUFFLED" if unique else "SAMPLER_UNSPECIFIED", False, unique, not unique)
    if isinstance(sampler, DistributedSampler):
        # Without drop_last it repeats records to fill the last batches of all ranks.
        return Drawing("SHUFFLED" if sampler.shuffle else "SAMPLER_UNSPECIFIED", False, sampler.drop_last, False)
    if type(sampler) is SequentialSampler:
        return _fixed(loader, "SAMPLER_UNSPECIFIED")  # one pass in fixed batches, in the order of the data
    return Drawing("SAMPLER_UNSPECIFIED", None, False, False)


def check_event(event: EventLike, loader: Any) -> None:
    """Refuses an event that is proved for Poisson batches if `loader` draws others; warns if that cannot be told."""
    if loader is None or "poissonSampled" not in str(event_json(event)):
        return
    drawing = drawing_of(loader)
    if drawing.is_poisson is False:
        refuse("event", "one for Poisson batches",
               "the event without sampling, or a loader that draws Poisson batches: this one draws %s"
               % (drawing.sampler.lower() if drawing.sampler != "SAMPLER_UNSPECIFIED" else "others"))
    if drawing.is_poisson is None:
        warnings.warn("the event is proved for Poisson batches, and whether this loader draws them cannot be told",
                      stacklevel=2)


def warn_of_low_precision(tensors: Any, what: str = "parameters") -> bool:
    """Warns, and returns True, if gradients are clipped in less than single precision."""
    low = {str(t.dtype) for t in tensors if t.is_floating_point() and t.element_size() < 4}
    if low:
        warnings.warn("%s are %s: norms of that precision do not bound what a record contributes as the event says"
                      % (what, ", ".join(sorted(low))), stacklevel=2)
    return bool(low)


def is_split(parameter: Any) -> bool:
    """Returns whether each rank holds a part of it: tensor parallelism, or FSDP by fully_shard."""
    return type(parameter).__name__ == "DTensor"


def warn_of_split_parameters(parameters: Any) -> None:
    """Warns if a rank sees only a part of what a record contributes."""
    if any(map(is_split, parameters)):
        warnings.warn("parameters are split over ranks (DTensor): that your clipping takes the norm over all ranks, "
                      "and that your noise is right, cannot be seen from here", stacklevel=2)


def refuse_adaptive_clipping(optimizer: Any) -> None:
    """Refuses an optimizer of Opacus whose clipping bound follows from the data."""
    while hasattr(optimizer, "optimizer"):  # what Accelerate puts around it
        optimizer = optimizer.optimizer
    if hasattr(optimizer, "unclipped_num_std") or hasattr(optimizer, "_adjusted_noise_multiplier"):
        refuse("optimizer", type(optimizer).__name__,
               "one that keeps its clipping bound: AdaClip's follows from the number of records in the batch, to which "
               "Opacus adds no noise")


def _fixed(loader: Any, name: SamplerName) -> Drawing:
    size, records = getattr(loader, "batch_size", None), getattr(loader, "dataset", ())
    if size is not None and size >= len(records):
        return Drawing("FULL_BATCH", False, True, False)
    return Drawing(name, False, True, False)
