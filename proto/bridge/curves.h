#ifndef EPSLEDGER_PROTO_BRIDGE_CURVES_H_
#define EPSLEDGER_PROTO_BRIDGE_CURVES_H_

// Privacy profiles and trade-off curves: the bodies of AccountingService.GetPrivacyProfile and
// GetTradeOffCurve, and of `epsctl curve`.

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/question.h"
#include "epsledger/v1/accounting_service.pb.h"

namespace epsledger::bridge {

// Each point is a question of its own. This many are enough for a smooth picture, and no request
// keeps a thread for long. Stated in accounting_service.proto.
inline constexpr int kMaxCurvePoints = 1'000;

// A valid question and the points at which it is asked. The query is set for each point.
struct CurveQuestion {
  accounting::Question question;
  std::vector<double> at;
};

// Returns the question that a request asks. INVALID_ARGUMENT names the field in proto3 JSON form:
//   "epsilons: got 1001 points, want at most 1000"
//   "typeOneErrors[3]: got 1.5, want in [0, 1]"
//   "epsilonRange.count: got 1, want in [2, 1000]"
// It also refuses a request with both a list and a range, or with neither. Without an accountant
// the question is for BEST.
absl::StatusOr<CurveQuestion> ToQuestion(const v1::GetPrivacyProfileRequest& request);
absl::StatusOr<CurveQuestion> ToQuestion(const v1::GetTradeOffCurveRequest& request);

// Returns bounds at every point, in order. Each point is a guarantee of its own, by the accountant
// that it names. Calls `abandoned` before each point; when it returns true, returns CANCELLED.
// Status: as accounting::Answer, for the first point that has no answer.
// Cost: one composition of the history, and one question for each point.
absl::StatusOr<v1::GetPrivacyProfileResponse> PrivacyProfile(const CurveQuestion& question,
                                                             absl::FunctionRef<bool()> abandoned);
// As above. true_positive_rate_upper >= 1 - type_two_error.lower, and true_positive_rate_lower <=
// 1 - type_two_error.upper, rounding included; each is set if its bound is set.
absl::StatusOr<v1::GetTradeOffCurveResponse> TradeOffCurve(const CurveQuestion& question,
                                                           absl::FunctionRef<bool()> abandoned);

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_CURVES_H_
