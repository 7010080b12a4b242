"""Opacus: the ledger as the accountant of a PrivacyEngine.

    step = lambda z: step_event(loader, noise_multiplier=z)
    z = client.calibrate(budget="people", event=step, count=500)        # the least noise that the cap allows
    session = client.open(session="run", budget="people", delta=1e-5, expects=step(z))
    engine = opacus.PrivacyEngine()
    engine.accountant = session.opacus()      # before make_private; LedgerAccountant(None) on ranks other than 0
    model, optimizer, loader = engine.make_private(data_loader=loader, noise_multiplier=z, ...)
    with engine.accountant.until_exhausted():
        ...                                   # the training loop: ends when a step no longer fits

Tested against Opacus 1.3 on PyTorch 1.13 and Opacus 1.6 on PyTorch 2.15.

When a step is charged. Opacus calls its accountant from inside optimizer.step(): after it clipped the gradients and
drew the noise into p.grad, before the ranks exchange anything and before the update. The charge is made there. If it
fails for whatever reason, the gradients with the noise in them are thrown away and the error ends optimizer.step(): no
update was made, and nothing noisy is left to release.

What is charged. One use of PoissonSampled(sample rate, Gaussian(the optimizer's noise multiplier at this
very step)), as noise schedulers change it. Physical batches that BatchMemoryManager skips are not charged:
Opacus does not step on them.

What is refused. Gradients accumulated over several batches without BatchMemoryManager: a record may be in more than one
of them, and is clipped in each. AdaClip: its clipping bound follows from the number of records in the batch, without
noise on that number. The per-layer optimizer with distributed hooks: it draws its noise and shares it before any hook.

What is warned of. Gradients of records, or norms of them, of less than 32 bits, as autocast makes them.

What cannot be seen from here: with make_private(poisson_sampling=False) Opacus claims the same sample rate for shuffled
batches, and it divides the noisy sum by a number that it computes from the number of records. opacus_engine checks the
first, corrects the second and says both in provenance().
"""
from __future__ import annotations

import contextlib
import dataclasses
import math
import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from opacus.accountants import PRVAccountant
from opacus.data_loader import DPDataLoader

from ..domain import refuse
from ..errors import BudgetExhausted
from ..events import Gaussian, MechanismEvent, PoissonSampled
from ..session import Session
from .loaders import refuse_adaptive_clipping, warn_of_low_precision
from .ranks import on_rank_0


@dataclasses.dataclass(frozen=True)
class Setup:
    """What the accountant cannot see of an optimizer."""

    #: Whether its batches are Poisson-sampled.
    amplified: bool = True
    #: The private module, then its parts: ghost clipping clips there, and under FSDP keeps norms there.
    modules: Sequence[Any] = ()


_UNKNOWN = Setup()


class LedgerAccountant(PRVAccountant):
    """Charges a session before each update of a DPOptimizer.

    1. No update is made without an ACCEPTED charge for it; errors are those of Session.charge.
    2. Under DistributedDataParallel only rank 0 opens and has the session, and charges; the others have None. All ranks
       continue or raise the same error.
    3. `history` is the ledger's, not a checkpoint's: a resumed run opens the session again, which is a new attempt, and
       earlier charges stay charged.

    calibrate() computes from the caps. make_private_with_epsilon and get_epsilon use Opacus's PRV accountant, computed
    here. session.spent() is the certified bound."""

    history: List[Tuple[float, float, int]]  # noise multiplier, sample rate, steps

    def __init__(self, session: Optional[Session]) -> None:
        super().__init__()
        self._session = session
        #: The newest refusal of a cap without room, on every rank; None if there was none.
        self.exhausted: Optional[BudgetExhausted] = None
        self._warned_of_precision = False
        # What opacus_engine knows of the optimizers that it made.
        self._setups: "weakref.WeakKeyDictionary[Any, Setup]" = weakref.WeakKeyDictionary()
        # A charged event that Opacus's accountants do not know.
        self._beyond_prv: Optional[MechanismEvent] = None
        if session is not None:
            for event, count in session.history():
                self._remember(event, count)

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Charges one step. noise_multiplier in (0, inf), sample_rate in (0, 1]."""
        self._charge(_sampled(noise_multiplier, sample_rate))

    def calibrate(self, *, sample_rate: float, steps: Optional[int] = None, epochs: Optional[float] = None) -> float:
        """Returns the smallest noise multiplier, to 5e-4 of it, with which so many steps fit now under every cap on the
        way up, as the ledger says. It is for make_private(noise_multiplier=...). It takes the place of what
        make_private_with_epsilon computes from numbers that may not be those of the cap. Charges nothing; others may
        charge in between.

        sample_rate    as the steps will be charged: 1 / the number of batches of the loader that make_private returns.
        steps, epochs  one of the two; an epoch is 1 / sample_rate steps, and a part of a step counts as one.

        A session that was opened without `expects` is asked what its first charge would cost. Under torch.distributed
        every rank calls it, and gets the result of rank 0. Errors are those of Session.calibrate."""
        count = _steps_of(sample_rate, steps, epochs)
        return on_rank_0(lambda: self._the_session().calibrate(
            event=lambda noise_multiplier: _sampled(noise_multiplier, sample_rate), count=count))

    @contextlib.contextmanager
    def until_exhausted(self) -> Iterator[None]:
        """Around the training loops of all epochs: ends the block without an error at the step that no longer fits, as
        `session.guard` does.

            with engine.accountant.until_exhausted():
                for epoch in range(5):
                    for batch in loader:
                        ...
                        optimizer.step()
            print(engine.accountant.exhausted or "all steps were made")

        Running out of budget is how a private training run ends, and the code after the loop, such as saving the model,
        should run. The refused step made no update. Every other error is raised, and so is a refusal of another
        session's charge."""
        try:
            yield
        except BudgetExhausted as refusal:
            if refusal is not self.exhausted:
                raise

    def set_up(self, optimizer: Any, setup: "Setup") -> None:
        """For opacus_engine: what a private optimizer was made with."""
        self._setups[optimizer] = setup

    def _setup_of(self, optimizer: Any) -> "Setup":
        return self._setups.get(optimizer, _UNKNOWN)

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """Returns what Opacus calls before each update. sample_rate: of one Poisson batch, in (0, 1]."""

        def charge_before_update(optimizer: Any) -> None:
            try:
                self._warn_of_precision(optimizer)
                if hasattr(optimizer, "world_size"):  # one of the distributed optimizers
                    self.history = on_rank_0(lambda: self._charge_and_tell(optimizer, sample_rate))
                else:
                    self._charge(self._event_of(optimizer, sample_rate))
            except BaseException as error:
                if isinstance(error, BudgetExhausted):
                    self.exhausted = error
                for parameter in optimizer.params:
                    parameter.grad = parameter.summed_grad = parameter.grad_sample = None
                raise

        return charge_before_update

    def get_epsilon(self, delta: float, **options: Any) -> float:
        """Returns Opacus's own upper bound for the charges of all attempts, at its own error."""
        if self._beyond_prv is not None:
            raise ValueError("history: got %r, want Poisson-sampled Gaussians alone; session.spent(delta=...) "
                             "knows the others too" % self._beyond_prv)
        if not self.history:
            return 0.0
        return float(super().get_epsilon(delta, **options))

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Checks that all steps of the checkpoint are in the ledger, and keeps the ledger's history: charges after the
        checkpoint stay charged. ValueError if the checkpoint has steps that were not charged here."""
        charged = self.history
        super().load_state_dict(state_dict)
        claimed, self.history = _steps(self.history), charged
        if self._session is None:
            return  # rank 0 has the ledger
        known = _steps(charged)
        for (noise_multiplier, sample_rate), steps in claimed.items():
            if steps > known.get((noise_multiplier, sample_rate), 0):
                raise ValueError(
                    "history: got %d steps of noise multiplier %r at sample rate %r, want at most the %d that were "
                    "charged to %s: open the session that the checkpoint comes from, or import its steps first"
                    % (steps, noise_multiplier, sample_rate, known.get((noise_multiplier, sample_rate), 0),
                       self._session.name))

    def _warn_of_precision(self, optimizer: Any) -> None:
        """Warns once if autocast made the gradients that are clipped less precise than the parameters."""
        if not self._warned_of_precision:
            self._warned_of_precision = warn_of_low_precision(
                _per_record(optimizer, self._setup_of(optimizer).modules), "gradients of records")

    def _charge(self, event: MechanismEvent) -> None:
        self._the_session().charge(event)
        self._remember(event, 1)

    def _the_session(self) -> Session:
        if self._session is None:
            raise ValueError("session: got None, want the session, on rank 0 and wherever there are no ranks")
        return self._session

    def _charge_and_tell(self, optimizer: Any, sample_rate: float) -> List[Tuple[float, float, int]]:
        self._charge(self._event_of(optimizer, sample_rate))
        return self.history

    def _event_of(self, optimizer: Any, sample_rate: float) -> MechanismEvent:
        event = _event_of(optimizer, sample_rate)
        setup = self._setup_of(optimizer)
        # Ghost clipping clips in the outermost module and draws noise in the optimizer.
        bound = vars(setup.modules[0]).get("max_grad_norm") if setup.modules else None
        if bound is not None and bound != optimizer.max_grad_norm:
            refuse("optimizer.max_grad_norm", optimizer.max_grad_norm,
                   "%s, at which the module clips: the noise is for the bound of the optimizer" % bound)
        return event if setup.amplified else event.event

    def _remember(self, event: MechanismEvent, count: int) -> None:
        if not (isinstance(event, PoissonSampled) and isinstance(event.event, Gaussian)):
            self._beyond_prv = event
            return
        row = (event.event.noise_multiplier, event.sampling_probability)
        steps = count
        if self.history and self.history[-1][:2] == row:
            steps += self.history.pop()[2]
        self.history.append((*row, steps))


def step_event(data_loader: Any, *, noise_multiplier: float) -> PoissonSampled:
    """Returns exactly the event that each step after make_private(data_loader=..., noise_multiplier=...) is charged as.
    It is for `expects`, and for Client.calibrate. noise_multiplier in (0, inf).

    `data_loader` is the one that make_private is given, or the one that it returned. For a few numbers of batches, such
    as 93, the returned one is one batch shorter, and samples more. Not for make_private(poisson_sampling=False)."""
    return _sampled(noise_multiplier, 1 / len(DPDataLoader.from_data_loader(data_loader)))


def _event_of(optimizer: Any, sample_rate: float) -> PoissonSampled:
    """Returns the event of the release that optimizer.step() is about to make."""
    refuse_adaptive_clipping(optimizer)
    if hasattr(optimizer, "_ddp_per_layer_hook"):
        raise ValueError("optimizer: got %s, want one that draws its noise in step(): its hooks share the noisy "
                         "gradients in backward(), before anything could refuse" % type(optimizer).__name__)
    bounds = getattr(optimizer, "max_grad_norms", None)  # of the layers
    if bounds is not None and math.hypot(*bounds) > optimizer.max_grad_norm * (1 + 1e-9):
        refuse("optimizer.max_grad_norm", optimizer.max_grad_norm,
               "the norm of max_grad_norms, %s: the noise is for max_grad_norm" % math.hypot(*bounds))
    batches = optimizer.accumulated_iterations
    if batches != 1:
        raise ValueError("optimizer.accumulated_iterations: got %d, want 1: a record may be in several of the batches "
                         "and is clipped in each; use BatchMemoryManager for large batches" % batches)
    return _sampled(optimizer.noise_multiplier, sample_rate)


def _per_record(optimizer: Any, modules: Iterable[Any]) -> List[Any]:
    """Returns what Opacus keeps of each record: its gradients, or, with ghost clipping, norms."""
    kept: List[Any] = []
    for name, owners in (("grad_sample", optimizer.params), ("_norm_sample", optimizer.params),
                         ("norm_sample", modules)):
        for owner in owners:
            found = getattr(owner, name, None)
            kept.extend(found if isinstance(found, list) else [] if found is None else [found])
    return kept


def _sampled(noise_multiplier: float, sample_rate: float) -> PoissonSampled:
    return PoissonSampled(sampling_probability=sample_rate, event=Gaussian(noise_multiplier=noise_multiplier))


def _steps_of(sample_rate: float, steps: Optional[int], epochs: Optional[float]) -> int:
    """Returns the number of steps, which is given in one of two ways."""
    if (steps is None) == (epochs is None):
        refuse("steps, epochs", "neither" if steps is None else "both", "one of the two")
    if steps is not None:
        return steps
    if not (epochs is not None and epochs > 0 and math.isfinite(epochs)):
        refuse("epochs", epochs, "in (0, inf)")
    batches = 1 / _sampled(1.0, sample_rate).sampling_probability
    return math.ceil(epochs * batches * (1 - 1e-12))  # 10 epochs of 1 / 49 are not 491 steps


def _steps(history: List[Tuple[float, float, int]]) -> Dict[Tuple[float, float], int]:
    steps: Dict[Tuple[float, float], int] = {}
    for noise_multiplier, sample_rate, count in history:
        steps[noise_multiplier, sample_rate] = steps.get((noise_multiplier, sample_rate), 0) + count
    return steps
