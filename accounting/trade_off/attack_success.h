#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_ATTACK_SUCCESS_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_ATTACK_SUCCESS_H_

// What a guarantee says about attacks: membership tests with a prior, and reconstruction. The
// statements and their proofs are in accounting/trade_off/README.md, "Attacks".

#include "accounting/guarantee.h"

namespace epsledger::accounting {

// The question about the profile that answers for a membership attack with a prior. The record is
// in the data set with probability `prior`.
struct BayesPoint {
  // min(prior, 1 - prior), exactly.
  double smaller;
  // At most log((1 - smaller) / smaller), by a few ulp; >= 0.
  double epsilon;
  // True if delta of (with || without) is in question (REMOVE), false for (without || with) (ADD).
  bool with_against_without;
};

// REQUIRES: prior in (0, 1).
BayesPoint BayesPointOf(double prior);

// Returns the largest probability with which a membership attack is right: upper >= (1 - p) + p
// delta(log((1 - p) / p)), p = smaller, and lower <= it, from a guarantee `delta` at point.epsilon.
// 1 - p <= lower <= upper <= 1. An absent bound on delta leaves the bound absent. 1 minus the
// result is the Bayes risk. An APPROXIMATION has `upper` only.
Guarantee BayesSuccess(const BayesPoint& point, const Guarantee& delta);

// Returns the largest true positive rate of a test: upper >= 1 - f and lower <= 1 - f, from a
// guarantee `type_two_error` of f at its false positive rate. An APPROXIMATION has `upper` only.
Guarantee TruePositiveRate(const Guarantee& type_two_error);

// Returns a bound on the probability that an attacker reconstructs a record ([HMB23]), from the
// TruePositiveRate of f = T(without, with) at the baseline: upper >= 1 - f(baseline). `lower` is
// dropped: whether an attack reaches the bound depends on the mechanism and the prior.
Guarantee AsReconstructionBound(Guarantee true_positive_rate);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_ATTACK_SUCCESS_H_
