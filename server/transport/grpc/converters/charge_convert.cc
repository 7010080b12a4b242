#include "server/transport/grpc/converters/charge_convert.h"

#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "accounting/event/validation.h"
#include "proto/convert/enum_convert.h"
#include "proto/convert/mechanism_convert.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

// A ChargeRequest and an item of a batch name these alike. `path` is "" or "items[3].".
template <class Message>
absl::StatusOr<core::ChargeItem> ReadItem(const Message& message, const std::string& path) {
  absl::Status status = CheckChargeId(path + "chargeId", message.charge_id());
  if (!status.ok()) return status;
  absl::StatusOr<accounting::MechanismEvent> event =
      convert::FromProto(message.event(), path + "event");
  if (!event.ok()) return event.status();
  status = accounting::CheckRange(path + "count", message.count(), 1, accounting::kMaxEventCount);
  if (!status.ok()) return status;
  return core::ChargeItem{message.charge_id(), *std::move(event), message.count()};
}

}  // namespace

absl::StatusOr<core::Charge> FromProto(const v1::ChargeRequest& request) {
  absl::StatusOr<AttemptName> name = ParseAttemptName("attempt", request.attempt());
  if (!name.ok()) return name.status();
  absl::StatusOr<core::ChargeItem> item = ReadItem(request, "");
  if (!item.ok()) return item.status();
  core::Charge charge{.session = std::move(name->session), .attempt = name->attempt};
  charge.items.push_back(*std::move(item));
  return charge;
}

absl::StatusOr<core::Charge> FromProto(const v1::BatchChargeRequest& request) {
  absl::StatusOr<AttemptName> name = ParseAttemptName("attempt", request.attempt());
  if (!name.ok()) return name.status();
  absl::Status status =
      convert::CheckEnum(request.mode(), v1::BatchChargeRequest::Mode_descriptor(), "mode");
  if (!status.ok()) return status;
  const int size = request.items_size();
  if (size < 1 || size > core::kMaxBatchItems) {
    return accounting::OutOfDomain("items", absl::StrCat(size, " items"),
                                   absl::StrCat("1 to ", core::kMaxBatchItems));
  }
  core::Charge charge{.session = std::move(name->session),
                      .attempt = name->attempt,
                      .mode = static_cast<core::BatchMode>(request.mode())};  // the same numbers
  std::set<std::string_view> ids;
  for (int i = 0; i < size; ++i) {
    const std::string path = absl::StrCat("items[", i, "].");
    absl::StatusOr<core::ChargeItem> item = ReadItem(request.items(i), path);
    if (!item.ok()) return item.status();
    if (!ids.insert(request.items(i).charge_id()).second) {
      return accounting::OutOfDomain(path + "chargeId", Shown(item->charge_id),
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
}

void ToProto(const core::SessionName& session, const core::ChargeRecord& record,
             v1::Charge* message) {
  message->set_name(FormatChargeName({session, record.row.attempt}, record.row.charge_id));
  convert::ToProto(record.event, message->mutable_event());
  message->set_count(record.row.count);
  message->set_decision(record.row.decision == core::ChargeDecision::kAccepted
                            ? v1::Charge::ACCEPTED
                            : v1::Charge::REFUSED);
  if (record.row.refusal) ToProto(*record.row.refusal, message->mutable_refusal());
  message->set_sequence(record.sequence);
  ToProto(record.time_micros, message->mutable_create_time());
}

}  // namespace epsledger::transport
