#include "client/cpp/charging.h"

#include <chrono>
#include <optional>
#include <string>

#include <google/protobuf/util/message_differencer.h>

#include "absl/strings/str_cat.h"
#include "client/cpp/retry.h"
#include "client/cpp/rpc_status.h"

namespace epsledger {
namespace {

std::string ChargeName(const v1::ChargeRequest& request) {
  return absl::StrCat(request.attempt(), "/charges/", request.charge_id());
}

absl::Status WrongAnswer(const std::string& asked, const char* field, const std::string& got,
                         const std::string& want) {
  return absl::InternalError(absl::StrCat("the server's answer is not one to ", asked, ": ", field,
                                          ": got ", got, ", want ", want));
}

}  // namespace

absl::Status VerifyAccepted(const v1::ChargeRequest& request, const v1::Charge& charge) {
  const std::string name = ChargeName(request);
  if (charge.name() != name) {
    return WrongAnswer(name, "name", absl::StrCat("\"", charge.name(), "\""), "that name");
  }
  if (charge.decision() != v1::Charge::ACCEPTED) {
    return WrongAnswer(name, "decision", absl::StrCat(static_cast<int>(charge.decision())),
                       "ACCEPTED with status OK");
  }
  if (charge.count() != request.count()) {
    return WrongAnswer(name, "count", absl::StrCat(charge.count()), absl::StrCat(request.count()));
  }
  if (!google::protobuf::util::MessageDifferencer::Equals(charge.event(), request.event())) {
    return WrongAnswer(name, "event", charge.event().ShortDebugString(),
                       request.event().ShortDebugString());
  }
  if (charge.sequence() < 1) {
    return WrongAnswer(name, "sequence", absl::StrCat(charge.sequence()), "1 or more");
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Charge> ChargeUntilDefinite(Connection& connection,
                                               const v1::ChargeRequest& request) {
  v1::Charge charge;
  const Tries tries = RetryUntilDefinite(connection.retry(), [&](std::chrono::nanoseconds timeout) {
    charge.Clear();
    return Connection::TryOnce(connection.charges(), &v1::ChargeService::StubInterface::Charge,
                               request, &charge, timeout);
  });
  if (tries.last.ok()) {
    const absl::Status verified = VerifyAccepted(request, charge);
    if (verified.ok()) return charge;
    return OutcomeUnknown(verified, request.charge_id(), tries.Describe());
  }
  const std::optional<v1::Charge> refused = RefusedChargeOf(tries.last);
  if (refused.has_value()) {
    if (refused->name() == ChargeName(request)) return tries.last;
    return OutcomeUnknown(WrongAnswer(ChargeName(request), "refused charge",
                                      absl::StrCat("\"", refused->name(), "\""), "that name"),
                          request.charge_id(), tries.Describe());
  }
  if (tries.may_have_committed_before || MayHaveCommitted(tries.last.code())) {
    return OutcomeUnknown(tries.last, request.charge_id(), tries.Describe());
  }
  return tries.last;
}

}  // namespace epsledger
