#include "server/transport/grpc/status/status_mapping.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/domain.h"
#include "google/protobuf/message.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/access/access_control.h"
#include "server/core/proposal.h"
#include "server/core/unavailable.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

using accounting::FormatDouble;

// An error under construction.
class Error {
 public:
  Error(grpc::StatusCode code, std::string_view message, const std::string& reason) {
    status_.set_code(code);
    status_.set_message(Shortened(message, kMaxStatusMessageBytes));
    info_.set_reason(reason);
    info_.set_domain(kErrorDomain);
  }

  void AddMetadata(const char* key, const std::string& value) {
    (*info_.mutable_metadata())[key] = value;
  }
  void AddDetail(const google::protobuf::Message& detail) {
    details_.emplace_back().PackFrom(detail);
  }
  size_t DetailBytes() const {
    size_t bytes = status_.ByteSizeLong() + info_.ByteSizeLong();
    for (const auto& detail : details_) bytes += detail.ByteSizeLong();
    return bytes;
  }

  grpc::Status Build() && {
    status_.add_details()->PackFrom(info_);  // first, where clients look for it
    for (auto& detail : details_) *status_.add_details() = std::move(detail);
    return grpc::Status(static_cast<grpc::StatusCode>(status_.code()), status_.message(),
                        status_.SerializeAsString());
  }

 private:
  google::rpc::Status status_;
  google::rpc::ErrorInfo info_;
  std::vector<google::protobuf::Any> details_;
};

constexpr char kQuota[] = "epsledger.dev/quota";

std::string ReasonOf(const absl::Status& status) {
  if (core::IsOverload(status)) return "OVERLOADED";
  if (core::IsReadOnly(status)) return "LEDGER_READ_ONLY";
  if (core::IsApprovalRequired(status)) return "APPROVAL_REQUIRED";
  if (core::IsSecondPersonRequired(status)) return "SECOND_PERSON_REQUIRED";
  if (status.GetPayload(kQuota).has_value()) return "QUOTA_EXCEEDED";
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return "INVALID_FIELD";
    case absl::StatusCode::kNotFound:
      return "RESOURCE_NOT_FOUND";
    case absl::StatusCode::kAlreadyExists:
      return "CONTENT_DIFFERS";
    case absl::StatusCode::kFailedPrecondition:
      return "STATE_FORBIDS";
    case absl::StatusCode::kUnavailable:
      return "TRY_AGAIN";
    case absl::StatusCode::kDataLoss:
      return "LEDGER_DAMAGED";
    case absl::StatusCode::kUnauthenticated:
      return "CALLER_UNKNOWN";
    case absl::StatusCode::kPermissionDenied: {
      const std::string reason = access::DenialReasonOf(status);
      return reason.empty() ? "ROLE_TOO_SMALL" : reason;
    }
    case absl::StatusCode::kUnimplemented:
      return "NOT_IN_THIS_VERSION";
    default:
      return "UNEXPECTED";
  }
}

google::rpc::RetryInfo RetryLater() {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(kRetryDelay)));
  return retry;
}

// "<field>: got ..., want ..." is the form of every message about a field.
google::rpc::BadRequest Violation(std::string_view message) {
  google::rpc::BadRequest bad_request;
  auto* violation = bad_request.add_field_violations();
  const size_t colon = message.find(": ");
  if (colon == message.npos) {
    violation->set_description(Shortened(message, kMaxStatusMessageBytes));
  } else {
    violation->set_field(Shortened(message.substr(0, colon), kMaxShownBytes * 4));
    violation->set_description(Shortened(message.substr(colon + 2), kMaxStatusMessageBytes));
  }
  return bad_request;
}

// Describes cells in words: "Renyi divergence at order 8".
std::string QuantityInWords(const v1::CellBalance& cell) {
  switch (cell.quantity()) {
    case v1::CellBalance::EPSILON:
      return "epsilon";
    case v1::CellBalance::DELTA:
      return "delta";
    case v1::CellBalance::EPSILON_SQUARED:
      return "squared epsilon";
    case v1::CellBalance::RHO:
      return "rho";
    case v1::CellBalance::MU_SQUARED:
      return "squared mu";
    case v1::CellBalance::RENYI_DIVERGENCE:
      return absl::StrFormat("Renyi divergence at order %g", cell.order());
    case v1::CellBalance::PLAN_COUNT:
      return "plans that meet its trade-off curve";
    case v1::CellBalance::NO_GUARANTEE:
      return "nothing";
    case v1::CellBalance::UNITS:
      return "units of its reference";
    case v1::CellBalance::RESERVE:
      return "delta kept for events with one of their own";
    default:
      return "an unknown quantity";
  }
}

void AddRefusal(const v1::Refusal& refusal, Error* error) {
  if (!refusal.limiting_resource().empty()) {
    error->AddMetadata("limitingResource", refusal.limiting_resource());
  }
  error->AddMetadata("stepsThatFit", absl::StrCat(refusal.steps_that_fit()));
  if (!refusal.has_cell()) return;
  const v1::CellBalance& cell = refusal.cell();
  error->AddMetadata("quantity", v1::CellBalance::Quantity_Name(cell.quantity()));
  if (cell.quantity() == v1::CellBalance::RENYI_DIVERGENCE) {
    error->AddMetadata("order", FormatDouble(cell.order()));
  }
  error->AddMetadata("cap", FormatDouble(cell.cap()));
  error->AddMetadata("spent", FormatDouble(cell.spent()));
  error->AddMetadata("requested", FormatDouble(refusal.requested()));
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  // The codes of absl are those of gRPC.
  const std::string_view message(status.message().data(), status.message().size());
  Error error(static_cast<grpc::StatusCode>(status.code()), message, ReasonOf(status));
  if (status.code() == absl::StatusCode::kInvalidArgument) error.AddDetail(Violation(message));
  if (status.code() == absl::StatusCode::kUnavailable) error.AddDetail(RetryLater());
  return std::move(error).Build();
}

bool IsRefusedForNow(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE;
}

std::string ReasonOf(const grpc::Status& status) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  if (status.ok() || !details.ParseFromString(status.error_details()) ||
      details.details_size() == 0 || !details.details(0).UnpackTo(&info)) {
    return "";
  }
  return info.reason();
}

std::string Sentence(const v1::Refusal& refusal) {
  const std::string& where = refusal.limiting_resource();
  switch (refusal.reason()) {
    case v1::Refusal::BUDGET_EXHAUSTED:
      return absl::StrFormat(
          "the cap of %s has no room: %s %.6g of %.6g is spent and %.6g is asked for; %d single "
          "steps of this event would fit",
          where, QuantityInWords(refusal.cell()), refusal.cell().spent(), refusal.cell().cap(),
          refusal.requested(), refusal.steps_that_fit());
    case v1::Refusal::BUDGET_FROZEN:
      return absl::StrFormat("%s is frozen", where);
    case v1::Refusal::CLOSED:
      return absl::StrFormat("%s is closed", where);
    case v1::Refusal::NOT_IN_PLAN:
      return absl::StrFormat(
          "the plan of the session does not hold it; %d uses of this event are left in it",
          refusal.steps_that_fit());
    case v1::Refusal::ATTEMPT_FENCED:
      return "a newer attempt of the session was opened; this one may not charge any more";
    case v1::Refusal::EVENT_NOT_CHARGEABLE:
      return absl::StrFormat("the event has no finite cost in the currency of %s (%s)", where,
                             QuantityInWords(refusal.cell()));
    case v1::Refusal::POLICY_VIOLATION:
      return absl::StrCat("a policy forbids it: ", refusal.remedy());
    case v1::Refusal::BUDGET_SUPERSEDED:
      return absl::StrFormat("%s was superseded; open a session under its successor", where);
    case v1::Refusal::BATCH_REFUSED:
      return "another item of the all-or-nothing batch was refused";
    default:
      return "refused for a reason that this version does not know";
  }
}

grpc::Status RefusedCharge(const v1::Charge& charge) {
  const v1::Refusal& refusal = charge.refusal();
  Error error(refusal.reason() == v1::Refusal::ATTEMPT_FENCED
                  ? grpc::StatusCode::ABORTED
                  : grpc::StatusCode::FAILED_PRECONDITION,
              absl::StrCat("charge refused: ", Sentence(refusal)),
              v1::Refusal::Reason_Name(refusal.reason()).c_str());
  AddRefusal(refusal, &error);
  if (error.DetailBytes() + charge.ByteSizeLong() > kMaxStatusDetailBytes) {
    v1::Charge without_event = charge;
    without_event.clear_event();  // the client sent it, and GetCharge has it
    error.AddDetail(without_event);
  } else {
    error.AddDetail(charge);
  }
  return std::move(error).Build();
}

grpc::Status RefusedPlan(std::string_view session_name, const v1::Refusal& refusal) {
  Error error(grpc::StatusCode::FAILED_PRECONDITION,
              absl::StrCat("the plan of ", std::string(session_name),
                           " was refused and nothing was charged: ", Sentence(refusal)),
              v1::Refusal::Reason_Name(refusal.reason()).c_str());
  AddRefusal(refusal, &error);
  error.AddDetail(refusal);
  return std::move(error).Build();
}

absl::Status TooManyCalls() {
  return core::Overload(
      absl::StrCat(kMaxOpenCalls, " calls or ", kMaxOpenRequestBytes >> 20,
                   " MiB of requests are open already; nothing was charged, try again"));
}

absl::Status QuotaExceeded(std::string_view message) {
  absl::Status status =
      absl::FailedPreconditionError(absl::string_view(message.data(), message.size()));
  status.SetPayload(kQuota, absl::Cord());
  return status;
}

absl::Status TooManyCallsOfTenant() {
  return core::Overload(absl::StrCat(
      kMaxOpenCalls / 2, " calls or ", kMaxOpenRequestBytes >> 21,
      " MiB of requests of this tenant are open already, or three quarters of these of this "
      "caller; nothing was charged, try again"));
}

absl::Status TooManyStreamsOfTenant() {
  return core::Overload(absl::StrCat(kMaxOpenStreams / 2,
                                     " streams of this tenant are open already, or ",
                                     kMaxOpenStreams / 8 * 3, " of this caller; try again"));
}

absl::Status ReadsTooFast() {
  return core::Overload("the tenant reads more bytes a second than one may here: try again");
}

absl::Status TooBusy() {
  return core::Overload(
      absl::StrCat(kMaxQueuedComputations,
                   " computations wait already, or half as many of this tenant; try again"));
}

grpc::Status HeldTooLong() {
  return Error(grpc::StatusCode::DEADLINE_EXCEEDED,
               absl::StrCat("no answer within ", absl::ToInt64Seconds(kMaxCallDuration),
                            " s, the longest that this server holds a call: the outcome is "
                            "unknown and counts as done; repeat with the same key to learn it"),
               "HELD_TOO_LONG")
      .Build();
}

grpc::Status DeadlinePassed() {
  return {grpc::StatusCode::DEADLINE_EXCEEDED,
          "the deadline of the call has passed: the outcome is unknown and counts as done; repeat "
          "with the same key to learn it"};
}

grpc::Status Stopping() {
  return ToGrpcStatus(absl::UnavailableError(
      "the server is stopping: the outcome is unknown and counts as done; repeat with the same "
      "key to learn it"));
}

absl::Status TooManyStreams() {
  return core::Overload(absl::StrCat(kMaxOpenStreams, " streams are open already; try again"));
}

grpc::Status StreamTooOld() {
  return ToGrpcStatus(absl::UnavailableError(
      absl::StrCat("streams end after ", absl::ToInt64Minutes(kMaxStreamAge),
                   " minutes: open another, which goes on where this one ended; charges that it "
                   "did not answer are unknown: repeat them with their keys")));
}

grpc::Status SlowReader() {
  return Error(grpc::StatusCode::DEADLINE_EXCEEDED,
               absl::StrCat("the client took no message for ",
                            absl::ToInt64Seconds(kMaxWriteDuration),
                            " s: read faster, and go on where this stream ended"),
               "SLOW_READER")
      .Build();
}

grpc::Status ClientGone() {
  return grpc::Status(grpc::StatusCode::CANCELLED, "the client has gone");
}

}  // namespace epsledger::transport
