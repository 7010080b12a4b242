#ifndef EPSLEDGER_TESTS_AGREEMENT_RANDOM_REQUEST_H_
#define EPSLEDGER_TESTS_AGREEMENT_RANDOM_REQUEST_H_

// Random valid requests, whether or not the accountants can answer them.

#include <cstdint>

#include "epsledger/v1/accounting_service.pb.h"

namespace epsledger::tests {

// Returns the request of this seed, the same on every machine. Every answer to it must be OK,
// UNIMPLEMENTED or FAILED_PRECONDITION.
//
// Distribution, all choices independent:
//   accountant             uniform among the 13
//   relation               unset or one of the 3, uniform; under add-or-remove-one a direction in
//                          1 of 3
//   sensitivity relation   uniform among unset and the 2
//   group size             1, and in 1 of 16 one of 2, 3, 100
//   events                 none in 1 of 32, one in 1 of 2, otherwise 2 to 4; counts log-uniform in
//                          [1, 1e6]
//   kind of event          in 1 of 2 uniform among all 26, nested up to 3 deep; otherwise uniform
//                          among 8 that most accountants know (Gaussian, Laplace, discrete Laplace,
//                          pure, approximate, mu-GDP, Poisson-sampled Gaussian, randomized
//                          response)
//   noise multiplier       log-uniform in [0.05, 100]
//   sampling probability   log-uniform in [1e-6, 1]
//   epsilon, mu, rho       log-uniform in [1e-4, 10]
//   delta                  log-uniform in [1e-100, 0.5]; deltas of events in [1e-15, 0.1]
//   relative width         unset, and in 1 of 16 log-uniform in [1e-4, 0.5]
//   query                  uniform among the 10 kinds; epsilons log-uniform in [1e-3, 1e3], of any
//                          sign if they may be negative; type I errors log-uniform in [1e-12, 1],
//                          orders - 1 log-uniform in [0.01, 1e3]. A calibration has a variable that
//                          the first event has. There are no calibrations of an empty history, and
//                          none under PLD, TRADE_OFF and BEST, where one search takes dozens of
//                          answers (tests/accounting/calibration_test.cc has those)
// One number in 64 is an end of its domain instead: 5e-324, 1e-300, 1e300, 2^53, 0, 1, ...
v1::ComputeRequest RandomRequest(uint64_t seed);

}  // namespace epsledger::tests

#endif  // EPSLEDGER_TESTS_AGREEMENT_RANDOM_REQUEST_H_
