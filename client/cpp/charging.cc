#include "client/cpp/charging.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <google/protobuf/util/message_differencer.h>

#include "absl/strings/str_cat.h"
#include "client/cpp/retry.h"
#include "client/cpp/rpc_status.h"

namespace epsledger {
namespace {

constexpr int64_t kMaxCount = int64_t{1} << 53;

std::string ChargeName(const std::string& attempt, const std::string& charge_id) {
  return absl::StrCat(attempt, "/charges/", charge_id);
}

absl::Status WrongAnswer(const std::string& asked, const char* field, const std::string& got,
                         const std::string& want) {
  return absl::InternalError(absl::StrCat("the server's answer is not one to ", asked, ": ", field,
                                          ": got ", got, ", want ", want));
}

// Returns the status of one key of which no try was accepted.
absl::Status NotAccepted(const Tries& tries, const std::string& attempt,
                         const std::string& charge_id) {
  const std::string name = ChargeName(attempt, charge_id);
  if (const std::optional<v1::Charge> refused = RefusedChargeOf(tries.last); refused.has_value()) {
    if (refused->name() == name) return tries.last;
    return OutcomeUnknown(
        WrongAnswer(name, "refused charge", absl::StrCat("\"", refused->name(), "\""), "that name"),
        charge_id, tries.Describe());
  }
  if (tries.may_have_committed_before || MayHaveCommitted(tries.last.code())) {
    return OutcomeUnknown(tries.last, charge_id, tries.Describe());
  }
  return tries.last;
}

absl::Status VerifyGranted(const v1::AcquireLeaseRequest& request, const v1::Lease& lease) {
  const std::string name = absl::StrCat(request.attempt(), "/leases/", request.lease_id());
  if (lease.name() != name) {
    return WrongAnswer(name, "name", absl::StrCat("\"", lease.name(), "\""), "that name");
  }
  if (lease.granted_count() != request.count()) {
    return WrongAnswer(name, "grantedCount", absl::StrCat(lease.granted_count()),
                       absl::StrCat(request.count()));
  }
  if (!google::protobuf::util::MessageDifferencer::Equals(lease.event(), request.event())) {
    return WrongAnswer(name, "event", lease.event().ShortDebugString(),
                       request.event().ShortDebugString());
  }
  if (lease.settled()) return WrongAnswer(name, "settled", "true", "an open lease");
  if (lease.sequence() < 1) {
    return WrongAnswer(name, "sequence", absl::StrCat(lease.sequence()), "1 or more");
  }
  return absl::OkStatus();
}

// One item of a batch.
absl::StatusOr<v1::Charge> ResultOf(const v1::ChargeRequest& asked, const v1::ChargeResult& result,
                                    const Tries& tries) {
  const std::string name = ChargeName(asked.attempt(), asked.charge_id());
  absl::Status wrong =
      result.has_accepted()
          ? VerifyAccepted(asked, result.accepted())
          : WrongAnswer(name, "refused charge", absl::StrCat("\"", result.refused().name(), "\""),
                        "that name");
  if (wrong.ok()) return result.accepted();
  if (result.has_refused() && result.refused().name() == name) {
    return RefusedStatus(result.refused());
  }
  return OutcomeUnknown(wrong, asked.charge_id(), tries.Describe());
}

}  // namespace

absl::Status ValidateCount(int64_t count) {
  if (count >= 1 && count <= kMaxCount) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("count: got ", count, ", want in [1, 2^53]"));
}

absl::Status VerifyAccepted(const v1::ChargeRequest& request, const v1::Charge& charge) {
  const std::string name = ChargeName(request.attempt(), request.charge_id());
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
  if (!tries.last.ok()) return NotAccepted(tries, request.attempt(), request.charge_id());
  const absl::Status verified = VerifyAccepted(request, charge);
  if (verified.ok()) return charge;
  return OutcomeUnknown(verified, request.charge_id(), tries.Describe());
}

absl::StatusOr<v1::Lease> LeaseUntilDefinite(Connection& connection,
                                             const v1::AcquireLeaseRequest& request) {
  v1::Lease lease;
  const Tries tries = RetryUntilDefinite(connection.retry(), [&](std::chrono::nanoseconds timeout) {
    lease.Clear();
    return Connection::TryOnce(connection.charges(),
                               &v1::ChargeService::StubInterface::AcquireLease, request, &lease,
                               timeout);
  });
  if (!tries.last.ok()) return NotAccepted(tries, request.attempt(), request.lease_id());
  const absl::Status verified = VerifyGranted(request, lease);
  if (verified.ok()) return lease;
  return OutcomeUnknown(verified, request.lease_id(), tries.Describe());
}

absl::StatusOr<std::vector<absl::StatusOr<v1::Charge>>> BatchUntilDefinite(
    Connection& connection, const v1::BatchChargeRequest& request) {
  v1::BatchChargeResponse response;
  const Tries tries = RetryUntilDefinite(connection.retry(), [&](std::chrono::nanoseconds timeout) {
    response.Clear();
    return Connection::TryOnce(connection.charges(), &v1::ChargeService::StubInterface::BatchCharge,
                               request, &response, timeout);
  });
  const std::string& first = request.items(0).charge_id();
  if (!tries.last.ok()) return NotAccepted(tries, request.attempt(), first);
  if (response.results_size() != request.items_size()) {
    return OutcomeUnknown(
        WrongAnswer(absl::StrCat("a batch from ", ChargeName(request.attempt(), first), " on"),
                    "results", absl::StrCat(response.results_size()),
                    absl::StrCat(request.items_size())),
        first, tries.Describe());
  }
  std::vector<absl::StatusOr<v1::Charge>> charges;
  for (int i = 0; i < request.items_size(); ++i) {
    const v1::BatchChargeItem& item = request.items(i);
    v1::ChargeRequest asked;
    asked.set_attempt(request.attempt());
    asked.set_charge_id(item.charge_id());
    *asked.mutable_event() = item.event();
    asked.set_count(item.count());
    charges.push_back(ResultOf(asked, response.results(i), tries));
  }
  return charges;
}

}  // namespace epsledger
