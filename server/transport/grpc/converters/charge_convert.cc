#include "server/transport/grpc/converters/charge_convert.h"

#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/mechanism_convert.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

// A ChargeRequest and an item of a batch use the same names for these fields. `path` is for errors:
// "" or "items[3].".
template <class Message>
absl::StatusOr<core::ChargeItem> ReadItem(const Message& message, const std::string& path) {
  absl::Status status = CheckChargeId(path + "chargeId", message.charge_id());
  if (!status.ok()) return status;
  ASSIGN_OR_RETURN(accounting::MechanismEvent event,
                   bridge::FromProto(message.event(), path + "event"));
  status = accounting::CheckRange(path + "count", message.count(), 1, accounting::kMaxEventCount);
  if (!status.ok()) return status;
  return core::ChargeItem{message.charge_id(), std::move(event), message.count()};
}

}  // namespace

absl::StatusOr<core::Charge> FromProto(const v1::ChargeRequest& request) {
  ASSIGN_OR_RETURN(AttemptName name, ParseAttemptName("attempt", request.attempt()));
  ASSIGN_OR_RETURN(core::ChargeItem item, ReadItem(request, ""));
  core::Charge charge{.session = std::move(name.session), .attempt = name.attempt};
  charge.items.push_back(std::move(item));
  return charge;
}

absl::StatusOr<core::Charge> FromProto(const v1::AcquireLeaseRequest& request, int64_t now_micros) {
  ASSIGN_OR_RETURN(AttemptName name, ParseAttemptName("attempt", request.attempt()));
  absl::Status status = CheckChargeId("leaseId", request.lease_id());
  if (!status.ok()) return status;
  ASSIGN_OR_RETURN(accounting::MechanismEvent event, bridge::FromProto(request.event(), "event"));
  status = accounting::CheckRange("count", request.count(), 1, accounting::kMaxEventCount);
  if (!status.ok()) return status;
  const google::protobuf::Duration& time = request.time_to_live();
  constexpr int64_t kMaxSeconds = int64_t{366} * 24 * 3600;
  const bool positive = time.seconds() > 0 || (time.seconds() == 0 && time.nanos() > 0);
  if (!positive || time.seconds() > kMaxSeconds || time.nanos() < 0 || time.nanos() > 999'999'999 ||
      (time.seconds() == kMaxSeconds && time.nanos() > 0)) {
    return accounting::OutOfDomain("timeToLive",
                                   absl::StrCat(time.seconds(), " s and ", time.nanos(), " ns"),
                                   "in (0, 366 days]");
  }
  core::Charge charge{.session = std::move(name.session), .attempt = name.attempt};
  charge.items.push_back({request.lease_id(), std::move(event), request.count()});
  charge.lease_expire_time_micros = now_micros + time.seconds() * 1'000'000 + time.nanos() / 1'000;
  return charge;
}

absl::StatusOr<core::SettleLease> FromProto(const v1::SettleLeaseRequest& request) {
  ASSIGN_OR_RETURN(ChargeName name, ParseLeaseName("name", request.name()));
  RETURN_IF_ERROR(
      accounting::CheckRange("usedCount", request.used_count(), 0, accounting::kMaxEventCount));
  return core::SettleLease{.session = std::move(name.attempt.session),
                           .attempt = name.attempt.attempt,
                           .lease_id = std::move(name.charge_id),
                           .used_count = request.used_count()};
}

absl::StatusOr<std::optional<core::SeenHead>> ReadSeenHead(const v1::LedgerHead& head, bool is_set,
                                                           const HeadKey& key,
                                                           const core::Tenant& tenant) {
  if (!is_set) return std::nullopt;
  const std::string field = "lastSeenHead";
  ASSIGN_OR_RETURN(std::string id, ParseBudgetName(field + ".rootBudget", head.root_budget()));
  RETURN_IF_ERROR(accounting::CheckRange(field + ".sequence", head.sequence(), 1,
                                         std::numeric_limits<int64_t>::max()));
  if (!head.hash().empty() && head.hash().size() != std::tuple_size_v<core::Hash>) {
    return accounting::OutOfDomain(field + ".hash", absl::StrCat(head.hash().size(), " bytes"),
                                   "32 bytes, or none");
  }
  if (!head.merkle_root().empty()) {
    return accounting::OutOfDomain(field + ".merkleRoot", "a value", "unset");
  }
  core::SeenHead seen{std::move(id), head.sequence(), head.hash()};
  key.Check(tenant, head.tag(), &seen);
  return seen;
}

absl::StatusOr<core::Charge> FromProto(const v1::BatchChargeRequest& request) {
  ASSIGN_OR_RETURN(AttemptName name, ParseAttemptName("attempt", request.attempt()));
  RETURN_IF_ERROR(
      bridge::CheckEnum(request.mode(), v1::BatchChargeRequest::Mode_descriptor(), "mode"));
  const int size = request.items_size();
  if (size < 1 || size > core::kMaxBatchItems) {
    return accounting::OutOfDomain("items", absl::StrCat(size, " items"),
                                   absl::StrCat("1 to ", core::kMaxBatchItems));
  }
  core::Charge charge{.session = std::move(name.session),
                      .attempt = name.attempt,
                      .mode = static_cast<core::BatchMode>(request.mode())};  // the same numbers
  absl::flat_hash_set<absl::string_view> ids;
  ids.reserve(size);
  charge.items.reserve(size);
  const auto path = [](int i) { return absl::StrCat("items[", i, "]."); };
  for (int i = 0; i < size; ++i) {
    absl::StatusOr<core::ChargeItem> item = ReadItem(request.items(i), "");
    if (!item.ok()) return ReadItem(request.items(i), path(i)).status();
    if (!ids.insert(request.items(i).charge_id()).second) {
      return accounting::OutOfDomain(path(i) + "chargeId", Shown(item->charge_id),
                                     "ids that are distinct in the batch");
    }
    charge.items.push_back(*std::move(item));
  }
  return charge;
}

void ToProto(const core::Refusal& refusal, v1::Refusal* message) {
  message->set_reason(static_cast<v1::Refusal::Reason>(refusal.reason));  // the same numbers
  if (!refusal.limiting_session_id.empty()) {
    message->set_limiting_resource(
        FormatSessionName({refusal.limiting_budget_id, refusal.limiting_session_id}));
  } else if (!refusal.limiting_budget_id.empty()) {
    message->set_limiting_resource(FormatBudgetName(refusal.limiting_budget_id));
  }
  if (refusal.reason == core::RefusalReason::kBudgetExhausted ||
      refusal.reason == core::RefusalReason::kEventNotChargeable) {
    ToProto(refusal.cell, refusal.spent, message->mutable_cell());
    message->set_requested(refusal.requested.ToDoubleUp());
  }
  message->set_steps_that_fit(refusal.steps_that_fit);
  message->set_remedy(refusal.remedy);
}

void ToProto(const core::SessionName& session, const core::ChargeRecord& record,
             v1::Charge* message) {
  message->set_name(FormatChargeName({session, record.row.attempt}, record.row.charge_id));
  if (record.event.has_value()) bridge::ToProto(*record.event, message->mutable_event());
  if (record.outline.has_value()) {
    message->set_event_digest(record.outline->digest);
    message->set_event_description(record.outline->words);
  }
  message->set_count(record.row.count);
  message->set_decision(record.row.decision == core::ChargeDecision::kAccepted
                            ? v1::Charge::ACCEPTED
                            : v1::Charge::REFUSED);
  if (record.row.refusal) ToProto(*record.row.refusal, message->mutable_refusal());
  message->set_sequence(record.sequence);
  if (record.sequence > 0) message->set_hash(record.hash.data(), record.hash.size());
  ToProto(record.time_micros, message->mutable_create_time());
}

void ToProto(const core::SessionName& session, const core::OpenLease& lease, v1::Lease* message) {
  message->set_name(FormatLeaseName({session, lease.attempt}, lease.id));
  message->set_granted_count(lease.count);
  ToProto(lease.expire_time_micros, message->mutable_expire_time());
  message->set_sequence(lease.sequence);
  message->set_hash(lease.hash.data(), lease.hash.size());
}

void ToProto(const core::SessionName& session, const core::ChargeRecord& charge,
             std::optional<int64_t> used_count, v1::Lease* message) {
  message->set_name(FormatLeaseName({session, charge.row.attempt}, charge.row.charge_id));
  if (charge.event.has_value()) bridge::ToProto(*charge.event, message->mutable_event());
  message->set_granted_count(charge.row.count);
  message->set_sequence(charge.sequence);
  if (charge.sequence > 0) message->set_hash(charge.hash.data(), charge.hash.size());
  if (!used_count) return;
  message->set_settled(true);
  message->set_used_count(*used_count);
  message->set_wasted_count(charge.row.count - *used_count);
}

}  // namespace epsledger::transport
