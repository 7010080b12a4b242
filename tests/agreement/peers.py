#!/usr/bin/env python3
"""Other accountants behind one interface, and a worker that answers for one of them.

    python peers.py NAME        NAME is a key of PEERS, run by the Python that has the packages

reads one question a line from standard input and answers one line each:

    {"query": "epsilon", "steps": [[0.01, 1.0, 10000]], "delta": 1e-5}
    {"upper": 6.1877, "lower": null, "seconds": 2.1, "peak_bytes": 117000000}

The first line it writes says which version answers, or why none does: {"absent": "..."}. A question
that the peer has no function for is answered by {"unsupported": "..."}, and what it raises by
{"error": "..."}. Steps are (sampling probability, noise multiplier, count) of DP-SGD.

Peers are called as their own documentation says. Nothing of theirs is in this repository.
"""
import importlib.metadata
import importlib.util
import json
import os
import resource
import sys
import time
import types
import warnings

MEMORY_LIMIT = 8 << 30


class Unsupported(Exception):
    """The peer has no function for the question."""


class Peer:
    """What a peer may be asked. Bounds are (lower or None, upper). Every call starts from nothing."""

    def epsilon(self, steps, delta):
        raise Unsupported("no epsilon")

    def delta(self, steps, epsilon):
        raise Unsupported("no delta of epsilon")

    def true_positive_rate(self, steps, false_positive_rate):
        """The largest true positive rate of a membership test, at a false positive rate."""
        raise Unsupported("no true positive rate")

    def one_more_step(self, steps, delta):
        """(seconds of composing one more step and asking again, bounds)."""
        raise Unsupported("nothing is kept between questions")

    def calibration(self, steps, epsilon, delta):
        """The noise multiplier at which the steps spend (epsilon, delta)."""
        raise Unsupported("no calibration")


class DpAccounting(Peer):
    package = "dp-accounting"

    def __init__(self):
        import dp_accounting
        from dp_accounting import pld, rdp
        self.library = dp_accounting
        self.fresh = pld.PLDAccountant if self.kind == "pld" else rdp.RdpAccountant

    def event(self, sampling_probability, noise_multiplier):
        gaussian = self.library.GaussianDpEvent(noise_multiplier)
        return self.library.PoissonSampledDpEvent(sampling_probability, gaussian)

    def compose(self, steps):
        accountant = self.fresh()
        for sampling_probability, noise_multiplier, count in steps:
            accountant.compose(self.event(sampling_probability, noise_multiplier), count)
        return accountant

    def epsilon(self, steps, delta):
        return None, self.compose(steps).get_epsilon(delta)

    def delta(self, steps, epsilon):
        return None, self.compose(steps).get_delta(epsilon)

    def one_more_step(self, steps, delta):
        accountant = self.compose(steps)
        accountant.get_epsilon(delta)
        start = time.perf_counter()
        accountant.compose(self.event(*steps[0][:2]), 1)
        upper = accountant.get_epsilon(delta)
        return time.perf_counter() - start, (None, upper)

    def calibration(self, steps, epsilon, delta):
        (sampling_probability, _, count), = steps
        return self.library.calibrate_dp_mechanism(
            self.fresh,
            lambda noise: self.library.SelfComposedDpEvent(self.event(sampling_probability, noise), count),
            epsilon, delta, self.library.LowerEndpointAndGuess(0.1, 2.0))


class DpAccountingPld(DpAccounting):
    kind = "pld"


class DpAccountingRdp(DpAccounting):
    kind = "rdp"


class PrvAccountant(Peer):
    """With the errors its documentation proposes: 0.01 in epsilon, delta / 1000 in delta."""
    package = "prv-accountant"
    epsilon_error = 0.01

    def __init__(self):
        import prv_accountant
        import prv_accountant.dpsgd
        self.library = prv_accountant

    def compose(self, steps, delta_error, room=0):
        mechanism = self.library.PoissonSubsampledGaussianMechanism
        return self.library.PRVAccountant(
            prvs=[mechanism(sampling_probability=q, noise_multiplier=z) for q, z, _ in steps],
            max_self_compositions=[count + room for _, _, count in steps],
            eps_error=self.epsilon_error, delta_error=delta_error)

    def epsilon(self, steps, delta):
        counts = [count for _, _, count in steps]
        lower, _, upper = self.compose(steps, delta / 1000).compute_epsilon(delta, counts)
        return lower, upper

    def delta(self, steps, epsilon):
        counts = [count for _, _, count in steps]
        lower, _, upper = self.compose(steps, 1e-8).compute_delta(epsilon, counts)
        return lower, upper

    def one_more_step(self, steps, delta):
        (_, _, count), = steps
        accountant = self.compose(steps, delta / 1000, room=1)
        accountant.compute_epsilon(delta, [count])
        start = time.perf_counter()
        lower, _, upper = accountant.compute_epsilon(delta, [count + 1])
        return time.perf_counter() - start, (lower, upper)

    def calibration(self, steps, epsilon, delta):
        (sampling_probability, _, count), = steps
        return self.library.dpsgd.find_noise_multiplier(
            sampling_probability=sampling_probability, num_steps=count, target_epsilon=epsilon,
            target_delta=delta, eps_error=0.1)


def import_opacus_accountants():
    """opacus.accountants; without torch, by leaving out the rest of Opacus, which needs it.

    The accountants compute with numpy and scipy. All that they want of torch is the name of an
    optimizer class, for a hook that is not called here.
    """
    try:
        import opacus.accountants.utils
    except ImportError as failure:
        if (failure.name or "").split(".")[0] != "torch":
            raise
        for name in [name for name in sys.modules if name.split(".")[0] == "opacus"]:
            del sys.modules[name]
        package = types.ModuleType("opacus")
        package.__path__ = list(importlib.util.find_spec("opacus").submodule_search_locations)
        optimizers = types.ModuleType("opacus.optimizers")
        optimizers.DPOptimizer = object
        sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})
        import opacus.accountants.utils
    return opacus.accountants


class Opacus(Peer):
    package = "opacus"

    def __init__(self):
        self.library = import_opacus_accountants()

    def epsilon(self, steps, delta):
        accountant = self.library.create_accountant(mechanism=self.kind)
        accountant.history = [(z, q, count) for q, z, count in steps]
        return None, accountant.get_epsilon(delta)

    def calibration(self, steps, epsilon, delta):
        (sampling_probability, _, count), = steps
        return self.library.utils.get_noise_multiplier(
            target_epsilon=epsilon, target_delta=delta, sample_rate=sampling_probability, steps=count,
            accountant=self.kind)


class OpacusPrv(Opacus):
    kind = "prv"


class OpacusRdp(Opacus):
    kind = "rdp"


class JaxPrivacy(Peer):
    """Its training accountant takes whole records: data sets here are the smallest that give the probability."""
    package = "jax-privacy"

    def __init__(self):
        import jax_privacy.accounting
        self.library = jax_privacy.accounting

    def epsilon(self, steps, delta):
        if len(steps) != 1:
            raise Unsupported("one kind of step a run")
        (sampling_probability, noise_multiplier, count), = steps
        records = round(1 / sampling_probability)
        if 1 / records != sampling_probability:
            raise Unsupported("a sampling probability that is not one in a whole number")
        accountant = self.library.DpsgdTrainingAccountant(
            dp_accountant_config=self.library.PldAccountantConfig())
        parameters = self.library.DpParams(noise_multipliers=noise_multiplier, num_samples=records, batch_size=1,
                                           delta=delta)
        return None, accountant.compute_epsilon(count, parameters)


class Riskcal(Peer):
    """Reads a loss distribution of dp_accounting at its default resolution."""
    package = "riskcal"

    def __init__(self):
        from dp_accounting.pld import privacy_loss_distribution
        import riskcal.analysis
        self.library, self.distributions = riskcal.analysis, privacy_loss_distribution

    def distribution(self, steps):
        composed = None
        for sampling_probability, noise_multiplier, count in steps:
            one = self.distributions.from_gaussian_mechanism(noise_multiplier, sampling_prob=sampling_probability)
            many = one.self_compose(count)
            composed = many if composed is None else composed.compose(many)
        return composed

    def true_positive_rate(self, steps, false_positive_rate):
        return None, 1 - self.library.get_beta_from_pld(self.distribution(steps), alpha=false_positive_rate)


PEERS = {
    "dp_accounting PLD": DpAccountingPld,
    "dp_accounting RDP": DpAccountingRdp,
    "prv_accountant": PrvAccountant,
    "Opacus PRV": OpacusPrv,
    "Opacus RDP": OpacusRdp,
    "JAX Privacy": JaxPrivacy,
    "riskcal": Riskcal,
}


def peak_growth(before=None):
    """Resident bytes now, after the peak has been set back; with them, by how much it has grown."""
    if before is None:
        with open("/proc/self/clear_refs", "w") as clear:
            clear.write("5")
    field = "VmRSS:" if before is None else "VmHWM:"
    with open("/proc/self/status") as status:
        size = next(1024 * int(line.split()[1]) for line in status if line.startswith(field))
    return size if before is None else max(0, size - before)


def answer(peer, question):
    steps = question["steps"]
    query = question["query"]
    try:
        before = peak_growth()
        start = time.perf_counter()
        result = {}
        if query == "epsilon":
            result["lower"], result["upper"] = map(plain, peer.epsilon(steps, question["delta"]))
        elif query == "delta":
            result["lower"], result["upper"] = map(plain, peer.delta(steps, question["epsilon"]))
        elif query == "true_positive_rate":
            rate = question["false_positive_rate"]
            result["lower"], result["upper"] = map(plain, peer.true_positive_rate(steps, rate))
        elif query == "calibration":
            result["value"] = plain(peer.calibration(steps, question["epsilon"], question["delta"]))
        elif query == "one_more_step":
            seconds, bounds = peer.one_more_step(steps, question["delta"])
            result["lower"], result["upper"] = map(plain, bounds)
            result["seconds"] = seconds
        else:
            raise Unsupported("no such question: " + query)
        result.setdefault("seconds", time.perf_counter() - start)
        result["peak_bytes"] = peak_growth(before)
        return result
    except Unsupported as reason:
        return {"unsupported": str(reason)}
    except Exception as failure:  # whatever a peer raises is its answer
        return {"error": "%s: %s" % (type(failure).__name__, failure)}


def plain(number):
    return None if number is None else float(number)


def main():
    kind = PEERS[sys.argv[1]]
    # Answers go to the real standard output; what a peer prints goes to standard error.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    try:
        peer = kind()
        first = {"version": kind.package + " " + importlib.metadata.version(kind.package)}
    except ImportError as failure:
        peer, first = None, {"absent": str(failure)}
    print(json.dumps(first), file=out, flush=True)
    for line in sys.stdin if peer else ():
        print(json.dumps(answer(peer, json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main()
