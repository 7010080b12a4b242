#ifndef EPSLEDGER_ACCOUNTING_ACCOUNTANTS_COMPOSITION_H_
#define EPSLEDGER_ACCOUNTING_ACCOUNTANTS_COMPOSITION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/epsilon_at_delta.h"
#include "accounting/event/history.h"
#include "accounting/guarantee.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// A history composed by one accountant, ready for questions. Each method returns a Guarantee with
// `accountant` and `theorem` set, or UNIMPLEMENTED with the reason where the accountant's theorem
// gives no answer. Arguments are in the domains that Validate(Question) checks.
class Composition {
 public:
  virtual ~Composition() = default;

  virtual absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const = 0;
  virtual absl::StatusOr<Guarantee> Delta(double epsilon) const = 0;
  // UNIMPLEMENTED unless overridden.
  virtual absl::StatusOr<Guarantee> RenyiDivergence(double order) const;
  // For one direction, or for both: see TypeTwoErrorAt. Unless overridden, a lower bound from the
  // upper bounds that Delta returns ([DRS19] Prop 2.12).
  virtual absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const;
  // The smallest mu of the range and its regret, both bounded from above, as an APPROXIMATION: the
  // history need not be mu-GDP. Unless overridden, from some 170 calls of Delta, which must cover
  // both directions.
  virtual absl::StatusOr<Guarantee> GaussianDpMu(double alpha_min) const;

  // True if every answer comes from the privacy loss distribution: PLD returns the same answers.
  virtual bool is_privacy_loss() const { return false; }

  Accountant accountant() const { return accountant_; }

 protected:
  explicit Composition(Accountant accountant) : accountant_(accountant) {}

  // Returns a guarantee by this accountant and theorem.
  Guarantee Answer(std::string theorem) const;
  // Returns an upper bound on a delta, with its logarithm; sets `order` where one was used.
  Guarantee DeltaBelow(double log_delta, double order, std::string theorem) const;
  // Returns bounds on a delta from both sides.
  Guarantee DeltaBetween(Bounds log_delta, std::string theorem) const;
  absl::Status Unknown(const std::string& question) const;

 private:
  const Accountant accountant_;
};

struct CompositionOptions {
  int64_t group_size = 1;
  std::optional<double> advanced_delta_slack;
  // Wanted (upper - lower) / upper of a two-sided accountant.
  double relative_width = 1e-3;
  // The work that PLD may spend on one answer, as Precision::max_work counts it.
  double max_work = 0x1p21;
};

// UNIMPLEMENTED "the CLT accountant does not know groups: <reason>".
absl::Status UnknownGroup(Accountant accountant, const std::string& reason);

// Composes `uses` by the accountant named (not kBest). UNIMPLEMENTED with the reason if it does
// not know one of the events or the group size. The result may borrow the events of `uses`.
absl::StatusOr<std::unique_ptr<Composition>> Compose(Accountant accountant,
                                                     const std::vector<Use>& uses,
                                                     const Setting& setting,
                                                     const CompositionOptions& options);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_ACCOUNTANTS_COMPOSITION_H_
