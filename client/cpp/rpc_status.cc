#include "client/cpp/rpc_status.h"

#include <optional>
#include <string>

#include <google/protobuf/any.pb.h>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "epsledger/refusal.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace epsledger {
namespace {

constexpr char kChargeType[] = "type.googleapis.com/epsledger.v1.Charge";
constexpr char kRefusalType[] = "type.googleapis.com/epsledger.v1.Refusal";
constexpr char kRetryInfoType[] = "type.googleapis.com/google.rpc.RetryInfo";
constexpr char kUnknownOutcomeType[] = "epsledger.dev/charge-of-unknown-outcome";

// gRPC's own words for an OK without a message that can be read. They say nothing of what the
// server did, unlike a server's UNIMPLEMENTED.
constexpr char kNoMessage[] = "No message returned for unary request";

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  if (status.error_message() == kNoMessage) {
    return absl::InternalError("the server answered without a message that can be read");
  }
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  google::rpc::Status details;
  if (!status.error_details().empty() && details.ParseFromString(status.error_details())) {
    for (const google::protobuf::Any& detail : details.details()) {
      result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
    }
  }
  return result;
}

std::optional<v1::Charge> RefusedChargeOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kChargeType);
  v1::Charge charge;
  if (!payload.has_value() || !charge.ParseFromString(std::string(*payload))) return std::nullopt;
  if (charge.decision() != v1::Charge::REFUSED || !charge.has_refusal()) return std::nullopt;
  return charge;
}

absl::Status RefusedStatus(const v1::Charge& charge) {
  const v1::Refusal::Reason reason = charge.refusal().reason();
  absl::Status status(reason == v1::Refusal::ATTEMPT_FENCED ? absl::StatusCode::kAborted
                                                            : absl::StatusCode::kFailedPrecondition,
                      absl::StrCat("charge refused: ", v1::Refusal::Reason_Name(reason)));
  status.SetPayload(kChargeType, absl::Cord(charge.SerializeAsString()));
  return status;
}

std::optional<v1::Refusal> RefusedPlanOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kRefusalType);
  v1::Refusal refusal;
  if (!payload.has_value() || !refusal.ParseFromString(std::string(*payload))) return std::nullopt;
  return refusal;
}

std::chrono::nanoseconds RetryDelayOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryInfoType);
  google::rpc::RetryInfo info;
  if (!payload.has_value() || !info.ParseFromString(std::string(*payload))) return {};
  const auto& delay = info.retry_delay();
  if (delay.seconds() < 0 || delay.seconds() > 3600 || delay.nanos() < 0) return {};
  return std::chrono::seconds(delay.seconds()) + std::chrono::nanoseconds(delay.nanos());
}

bool IsWorthRetrying(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kUnknown:
      return true;
    default:
      return false;
  }
}

bool MayHaveCommitted(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
      return false;
    default:
      return true;
  }
}

absl::Status OutcomeUnknown(const absl::Status& status, const std::string& charge_id,
                            const std::string& how_it_went) {
  absl::Status result(
      status.code(),
      absl::StrCat("charge ", charge_id, ": the outcome is unknown and counts as spent (",
                   how_it_went, "); ask again for this same charge, and draw no noise until it is ",
                   "accepted. Last answer: ", absl::StatusCodeToString(status.code()), ": ",
                   status.message()));
  result.SetPayload(kUnknownOutcomeType, absl::Cord(charge_id));
  return result;
}

std::optional<std::string> UnknownCharge(const absl::Status& status) {
  const auto payload = status.GetPayload(kUnknownOutcomeType);
  if (!payload.has_value()) return std::nullopt;
  return std::string(*payload);
}

}  // namespace epsledger
