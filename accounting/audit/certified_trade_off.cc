#include "accounting/audit/certified_trade_off.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "accounting/answer.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/trade_off/tabulated_trade_off.h"

namespace epsledger::accounting {
namespace {

// An audit first reads f far out, where it is small; the decision falls near the middle.
constexpr SamplingOptions kSampling{
    .relative_width = 1e-3, .absolute_width = 1e-10, .largest_epsilon = 700, .max_samples = 400};

}  // namespace

absl::StatusOr<TradeOffFunction> CertifiedTradeOff(const Question& history) {
  if (history.adjacency.has_value()) {
    return OutOfDomain("adjacency", *history.adjacency == Adjacency::kAdd ? "ADD" : "REMOVE",
                       "none: an audit is of both directions");
  }
  ASSIGN_OR_RETURN(ComposedHistory composed, ComposedHistory::Create(history));
  absl::Status failure;
  const auto delta = [&](double epsilon) {
    if (!failure.ok()) return Bounds{0, 1};
    const absl::StatusOr<Guarantee> answer = composed.Ask(DeltaAtEpsilon{epsilon});
    if (!answer.ok()) {
      failure = answer.status();
      return Bounds{0, 1};
    }
    // An approximation is never a bound.
    if (answer->kind == GuaranteeKind::kApproximation) return Bounds{0, 1};
    return Bounds{answer->lower.value_or(0), answer->upper.value_or(1)};
  };
  const std::vector<ProfileSample> samples = SampleProfile(delta, kSampling);
  if (!failure.ok()) return failure;
  // Without a direction the profile is the larger of both, so the same samples serve both orders.
  return TradeOffFunction::FromTable(std::make_shared<TabulatedTradeOff>(samples, samples));
}

}  // namespace epsledger::accounting
