#ifndef EPSLEDGER_PROTO_CONVERT_CURVES_H_
#define EPSLEDGER_PROTO_CONVERT_CURVES_H_

// Privacy profiles and trade-off curves: the bodies of AccountingService.GetPrivacyProfile and
// GetTradeOffCurve, and of `epsctl curve`.

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/question.h"
#include "epsledger/v1/accounting_service.pb.h"

namespace epsledger::convert {

// Each point is a question of its own: enough for a smooth picture, and no request keeps a thread
// for long. accounting_service.proto states it.
inline constexpr int kMaxCurvePoints = 1'000;

// A valid question and the points where it is asked; its query is set at each of them.
struct CurveQuestion {
  accounting::Question question;
  std::vector<double> at;
};

// The question that a request asks. INVALID_ARGUMENT names the field in proto3 JSON form:
//   "epsilons: got 1001 points, want at most 1000"
//   "typeOneErrors[3]: got 1.5, want in [0, 1]"
//   "epsilonRange.count: got 1, want in [2, 1000]"
// and refuses a request with both a list and a range, or neither. Without an accountant: BEST.
absl::StatusOr<CurveQuestion> ToQuestion(const v1::GetPrivacyProfileRequest& request);
absl::StatusOr<CurveQuestion> ToQuestion(const v1::GetTradeOffCurveRequest& request);

// Bounds at every point, in order: each point is a guarantee of its own, by the accountant that it
// names. `abandoned` is asked before each; when nobody waits any more the answer is CANCELLED.
// Status: as accounting::Answer, of the first point that has no answer.
// Cost: the history is composed once, and asked one question for each point.
absl::StatusOr<v1::GetPrivacyProfileResponse> PrivacyProfile(const CurveQuestion& question,
                                                             absl::FunctionRef<bool()> abandoned);
// As above. true_positive_rate_upper >= 1 - type_two_error.lower, and true_positive_rate_lower <=
// 1 - type_two_error.upper, rounding included; each is set where its bound is.
absl::StatusOr<v1::GetTradeOffCurveResponse> TradeOffCurve(const CurveQuestion& question,
                                                           absl::FunctionRef<bool()> abandoned);

}  // namespace epsledger::convert

#endif  // EPSLEDGER_PROTO_CONVERT_CURVES_H_
