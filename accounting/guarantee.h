#ifndef EPSLEDGER_ACCOUNTING_GUARANTEE_H_
#define EPSLEDGER_ACCOUNTING_GUARANTEE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace epsledger::accounting {

// One way of composing events. Numbers as in proto/epsledger/v1/guarantee.proto.
enum class Accountant : uint8_t {
  kBasic = 1,
  kAdvanced = 2,
  kOptimal = 3,
  kRenyi = 4,
  kMoments = 5,
  kMomentsHolder = 6,
  kMomentsAsPublished = 7,
  kZcdp = 8,
  kGaussian = 9,
  kClt = 10,
  kPld = 11,
  kTradeOff = 12,
  // The smallest upper bound among all that know every event.
  kBest = 13,
};

// "BASIC", "RENYI", ...: the name in requests and tables.
std::string_view Name(Accountant accountant);

enum class GuaranteeKind : uint8_t {
  // `upper` >= the truth, rounding included.
  kUpperBound = 1,
  // `lower` <= the truth, rounding included.
  kLowerBound = 2,
  // Neither. Shown with its label, and never used to decide.
  kApproximation = 3,
};

// The functionals of the central limit theorem, summed over a history, and mu and gamma, which
// follow from them (central_limit/berry_esseen.h). Upper ends.
struct CentralLimitReading {
  double kl = 0;
  double kappa2 = 0;
  double kappa3 = 0;
  double kappa3_bar = 0;
  double mu = 0;
  // Distance of the Berry-Esseen band; the band states nothing for gamma >= 1/2.
  double gamma = 0;
};

// A number, what kind of number it is, and why it holds.
//
// Invariants: no member is NaN; lower <= upper where both are set; an absent member is unknown,
// never zero. Infinity means "no finite bound".
struct Guarantee {
  GuaranteeKind kind = GuaranteeKind::kUpperBound;
  // The accountant that answered. For a question to kBest, the winner.
  Accountant accountant = Accountant::kBest;
  // The theorem that makes the number true, with its source.
  std::string theorem;
  std::optional<double> upper;
  std::optional<double> lower;
  // For a calibration: its answer, on the safe side; `upper` is then what the history spends there.
  // For centralLimit: mu.
  std::optional<double> value;
  // Natural logarithms of upper and lower, set with every delta: a delta may lie below 1e-308.
  std::optional<double> log_upper;
  std::optional<double> log_lower;
  // The Renyi order that was used, if any.
  std::optional<double> order;
  // What is lost by stating G_mu instead of the trade-off function. Set with every gaussianDpMu.
  std::optional<double> regret;
  // Set by centralLimit only.
  std::optional<CentralLimitReading> central_limit;
  // True if the history contains an unverifiedClaim: the number is then only as good as the claim.
  bool contains_unverified_claim = false;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_GUARANTEE_H_
