"""What a peer tests its own accountant with, run against ours: own_tests.py PEER [FOLDER], with EPSLEDGER_BUILD set

The test files come with the installed package of the peer, or from FOLDER, where its source was unpacked. They are run
unchanged. Each name of the peer's accountant in them is replaced by one of ours, with a session and a budget of its own for every accountant that a
test makes. Tests that cannot be about our accountant are named in NOT_OURS with the reason. They are run too, and must
still fail: a reason that is no longer true is an error. Where the reason is a number, ours must be as the reason says. Prints a line of JSON: how many passed, and how many are
excluded for each reason. Ends with 1 if a test fails that is not excluded, or passes though it is."""
import fnmatch
import importlib
import json
import os
import re
import sys
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(HERE, "..", "..", "..", "client", "python")]

import epsledger
from killable_ledger import KillableLedger

PRIVATE = "read private parts of the peer's accountant"
TIGHTER = "want the number of a looser accountant, where ours proves a smaller one"
TAKEN = "want an event refused that the ledger takes, with the bound that is known"
REFUSED = "want an event taken that we refuse: no noise, one answer, an empty sample"
OTHER_ERROR = "want a wrong number refused by another error"
FRESH = "load a history that nobody charged"
DIGITS = "want more digits than two upper bounds have in common"
ELSEWHERE = "make no accountant that could be ours"
OWN_CLASS = "take the peer's own class alone"


class Sessions:
    """Sessions under budgets without a cap."""

    def __init__(self, server):
        self._client = epsledger.connect(address=server.address)
        #: How many were made.
        self.made = 0

    def new(self, relation="ADD_OR_REMOVE_ONE"):
        self.made += 1
        name = "budget-%d" % self.made
        self._client.create_budget(name=name, cap=epsledger.Cap.no_guarantee(), privacy_unit="person",
                                   neighboring_relation=relation)
        return self._client.open(session="run", budget=name, delta=1e-5, neighboring_relation=relation)


def dp_accounting_remote(sessions, relation_at):
    """A constructor with the arguments of an accountant of dp_accounting, whose relation is argument `relation_at`."""
    from epsledger.adapters.dp_accounting import RemotePrivacyAccountant

    def made(*arguments, neighboring_relation=None, **_):
        relation = arguments[relation_at] if len(arguments) > relation_at else neighboring_relation
        return RemotePrivacyAccountant(sessions.new(relation.name if relation else "ADD_OR_REMOVE_ONE"))
    return made


def opacus_accountant(sessions):
    return lambda: sessions.new().opacus()


def jax_privacy_remote(sessions):
    """The method of a configuration that makes an accountant."""
    from epsledger.adapters.dp_accounting import RemotePrivacyAccountant
    return lambda _: RemotePrivacyAccountant(sessions.new())


# Test module of the peer: what is replaced in it or in a module that it reads, by what.
PEERS = {
    "dp-accounting": {
        "dp_accounting.pld.pld_privacy_accountant_test": {
            "dp_accounting.pld.pld_privacy_accountant.PLDAccountant": lambda sessions: dp_accounting_remote(sessions, 0)},
        "dp_accounting.rdp.rdp_privacy_accountant_test": {
            "dp_accounting.rdp.rdp_privacy_accountant.RdpAccountant": lambda sessions: dp_accounting_remote(sessions, 1)},
    },
    "jax-privacy": {
        "analysis_test": {
            "jax_privacy.accounting.accountants.%sAccountantConfig.create_accountant" % kind: jax_privacy_remote
            for kind in ("Pld", "Rdp")},
    },
    "opacus": {
        "opacus.tests.accountants_test": {
            "opacus.tests.accountants_test.PRVAccountant": opacus_accountant,
            "opacus.tests.accountants_test.RDPAccountant": opacus_accountant},
        "opacus.tests.prv_accountant": {"opacus.tests.prv_accountant.PRVAccountant": opacus_accountant},
    },
}
# Patterns of test names, of any release, and why they are not about our accountant.
NOT_OURS = {
    "AccountingTest.test_accountant_load_state_dict": FRESH,
    "AccountingTest.test_rdp_accountant": TIGHTER,
    "DpsgdTrainingAccountantTest.test_compute_epsilon_via_pld": DIGITS,
    "DpsgdTrainingAccountantCycleLengthTest.test_compute_epsilon_via_pld": DIGITS,
    "DpsgdTrainingAccountant*Test.test_compute_epsilon_*": TIGHTER,
    "DpsgdTrainingAccountantCycleLengthTest.test_uneven_multiples*": TIGHTER,
    "DpsgdTrainingUserLevelAccountantTest.test_compute_epsilon_fixed_batch_size": OWN_CLASS,
    "DpsgdTrainingUserLevelAccountantTest.test_compute_epsilon_via_pld": OWN_CLASS,
    "PldPrivacyAccountantTest.test_additive_noise_mechanisms_with_zero_noise_multiplier2": REFUSED,
    "PldPrivacyAccountantTest.test_composition_errors_for_neighboring_relation*": TAKEN,
    "PldPrivacyAccountantTest.test_mixture_of_gaussians_basic": DIGITS,
    "PldPrivacyAccountantTest.test_poisson_subsampling_laplace_not_supported_for_replace_one": TAKEN,
    "PldPrivacyAccountantTest.test_poisson_subsampling_with_zero_probability[235]": REFUSED,
    "PldPrivacyAccountantTest.test_randomized_response_with_single_bucket*": REFUSED,
    "PldPrivacyAccountantTest.test_supports_randomized_response_add_or_remove_one": TAKEN,
    "PldPrivacyAccountantTest.test_supports_subsampled_gaussian_and_rr_composition2": TAKEN,
    "PldPrivacyAccountantTest.test_truncated_subsampled_gaussian_basic": TIGHTER,
    "RdpPrivacyAccountantTest.test_compute_rdp_tree_restart_raise*": OTHER_ERROR,
    "RdpPrivacyAccountantTest.test_epsilon_delta_consistency": DIGITS,
    "RdpPrivacyAccountantTest.test_laplace_repetition": TIGHTER,
    "RdpPrivacyAccountantTest.test_log_a_frac_early_termination": PRIVATE,
    "RdpPrivacyAccountantTest.test_raises_on_invalid*": OTHER_ERROR,
    "RdpPrivacyAccountantTest.test_supports": TAKEN,
    "RdpPrivacyAccountantTest.test_tree_wrong_neighbor_rel*": TAKEN,
    "RdpPrivacyAccountantTest.test_zero_fixed_batch_sample": REFUSED,
    "RdpPrivacyAccountantTest.test_zero_poisson_sample1": REFUSED,
}
PRIVATE_ERROR = re.compile(r"AttributeError: 'RemotePrivacyAccountant' object has no attribute '_\w+'\n$")
# Our number, then the one that the test wants.
NUMBERS = re.compile(r"AssertionError: ([\d.e+-]+) (?:!=|not less than or equal to) ([\d.e+-]+)"
                     r"|ACTUAL: array\(([\d.e+-]+)\)\s+DESIRED: array\(([\d.e+-]+)\)")
SAME_TO = 1e-3


def name_of(test):
    return "%s.%s" % (type(test).__name__, test._testMethodName)


def reason_of(test):
    return next((reason for pattern, reason in NOT_OURS.items() if fnmatch.fnmatchcase(name_of(test), pattern)), None)


def excuse(test, trace):
    """Why the failure does not count; None if it does."""
    if PRIVATE_ERROR.search(trace):
        return PRIVATE
    reason = reason_of(test)
    if reason in (TIGHTER, DIGITS):
        found = NUMBERS.findall(trace)
        if not found:
            return None
        ours, wanted = (float(one) for one in found[-1] if one)
        if not (ours < wanted if reason == TIGHTER else abs(ours - wanted) <= SAME_TO * wanted):
            return None
    return reason


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


class Result(unittest.TestResult):
    """A test that made none of our accountants says nothing about them, whatever comes of it."""

    def __init__(self, sessions):
        super().__init__()
        self._sessions = sessions
        self._made_before = 0
        self.passed = []
        self.failed = []  # (test, trace)
        self.elsewhere = 0

    def startTest(self, test):
        super().startTest(test)
        self._made_before = self._sessions.made

    def addSuccess(self, test):
        if self._sessions.made > self._made_before:
            self.passed.append(test)
        else:
            self.elsewhere += 1

    def addError(self, test, error):
        self._fail(test, error)

    def addFailure(self, test, error):
        self._fail(test, error)

    def _fail(self, test, error):
        self.failed.append((test, self._exc_info_to_string(error, test)))


def run(peer, sessions):
    """Result of all tests of the peer."""
    result = Result(sessions)
    for name, replaced in PEERS[peer].items():
        module = importlib.import_module(name)
        patches = [mock.patch(target, make(sessions)) for target, make in replaced.items()]
        for patch in patches:
            patch.start()
        try:
            unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
        finally:
            for patch in patches:
                patch.stop()
    return result


def main(peer, folder=None):
    if folder:
        sys.path.insert(0, folder)
    with KillableLedger() as server:
        result = run(peer, Sessions(server))
    wrong, excluded = [], {}
    for test, trace in result.failed:
        reason = excuse(test, trace)
        if reason is None:
            wrong.append("%s: %s" % (test.id(), trace))
        else:
            excluded.setdefault(reason, []).append(test.id())
    wrong += ["%s passed, and is listed under: %s" % (name_of(test), reason_of(test)) for test in result.passed if reason_of(test)]
    for text in wrong:
        print(text, file=sys.stderr)
    counts = {reason: len(tests) for reason, tests in sorted(excluded.items())}
    if result.elsewhere:
        counts[ELSEWHERE] = result.elsewhere
    print(json.dumps({"passed": len(result.passed), "wrong": len(wrong), "excluded": counts}))
    return 1 if wrong or not result.passed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
