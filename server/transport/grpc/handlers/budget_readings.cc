#include "server/transport/grpc/handlers/budget_readings.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/answer.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/accountant_readings.h"
#include "proto/bridge/curves.h"
#include "proto/bridge/guarantee_convert.h"
#include "server/core/cap.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/handlers/budget_pages.h"
#include "server/transport/grpc/handlers/history_key.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

constexpr int64_t kActivityWindowSeconds = 24 * 60 * 60;
constexpr int64_t kMaxActivityWindowSeconds = 366 * kActivityWindowSeconds;
constexpr int64_t kMostBudgetReadings = 200;
// Days with their spending in a list of budgets.
constexpr int64_t kListedSpendDays = 60;
// Budgets whose histories are copied between two turns of the charges.
constexpr int64_t kBudgetReadingsAtOnce = 10;
constexpr char kBudgetReadingList[] = "budgetReadings";

absl::StatusOr<int64_t> WindowSeconds(bool is_set, const google::protobuf::Duration& window) {
  if (!is_set) return kActivityWindowSeconds;
  RETURN_IF_ERROR(
      accounting::CheckRange("window.seconds", window.seconds(), 1, kMaxActivityWindowSeconds));
  RETURN_IF_ERROR(accounting::CheckRange("window.nanos", window.nanos(), 0, 0));
  return window.seconds();
}

void AddSpendDay(const core::SpendDay& day, v1::BudgetActivity* message) {
  const std::string date = absl::FormatCivilTime(absl::CivilDay(1970, 1, 1) + day.day);
  (*message->mutable_spent_by_day())[date] = day.spent_fraction;
}

// The newest `limit` days.
void AddSpendDays(const core::BudgetState& budget, int64_t limit, v1::BudgetActivity* message) {
  if (budget.newest_spend_day == 0) return;
  const auto& days = budget.spend_days;
  const int64_t before = std::min<int64_t>(limit - 1, days.size());
  for (auto day = days.end() - before; day != days.end(); ++day) AddSpendDay(*day, message);
  AddSpendDay({budget.newest_spend_day, budget.balance.SpentFraction()}, message);
}

v1::BudgetActivity ActivityOf(const core::Ledger& ledger, const core::BudgetState& budget,
                              int64_t window_seconds, int64_t most_spend_days) {
  v1::BudgetActivity message;
  if (budget.last_accepted_time_micros > 0) {
    ToProto(budget.last_accepted_time_micros, message.mutable_last_charge_time());
  }
  const int64_t since = absl::ToUnixMicros(absl::Now()) - window_seconds * 1'000'000;
  message.set_refused_charge_count(
      std::count_if(budget.recent_refusals.begin(), budget.recent_refusals.end(),
                    [&](const core::RefusalMark& mark) { return mark.time_micros >= since; }));
  message.mutable_window()->set_seconds(window_seconds);
  message.set_sequence(ledger.head().sequence);
  AddSpendDays(budget, most_spend_days, &message);
  return message;
}

// What all sessions at or below a budget, and those of the budgets that it supersedes, were
// charged.
struct ChargedBelow {
  std::vector<accounting::CountedEvent> history = {};
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  int64_t session_count = 0;
};

// Only the sessions of `group` count if it is not empty.
void AddHistories(const core::Ledger& ledger, const core::BudgetState& budget,
                  const std::string& group, ChargedBelow* charged) {
  charged->relation = budget.spec.relation;
  for (const core::SessionState* session :
       ledger.SessionsOf(budget.spec.id, "", std::numeric_limits<int64_t>::max())) {
    if (!group.empty() && session->spec.group != group) continue;
    ++charged->session_count;
    std::vector<accounting::CountedEvent> own = HistoryOf(*session);
    charged->history.insert(charged->history.end(), own.begin(), own.end());
  }
  for (const std::string& child_id : budget.child_ids) {
    const core::BudgetState& child = *ledger.FindBudget(child_id);
    // The successor of a superseded child includes it.
    if (child.superseded_by.empty()) AddHistories(ledger, child, group, charged);
  }
  if (!budget.supersedes.empty()) {
    AddHistories(ledger, *ledger.FindBudget(budget.supersedes), group, charged);
  }
}

// Returns an upper bound on the true positive rate of every test; 1 if it was abandoned.
double TruePositiveRate(const ChargedBelow& charged, double type_one_error,
                        absl::FunctionRef<bool()> abandoned) {
  if (charged.history.empty()) return type_one_error;  // a coin toss
  bridge::CurveQuestion curve;
  curve.question.events = charged.history;
  curve.question.relation = charged.relation;
  curve.at = {type_one_error};
  const auto points = bridge::TradeOffCurve(curve, abandoned);
  // An event without a known trade-off function guarantees nothing.
  return points.ok() && points->points(0).has_true_positive_rate_upper()
             ? points->points(0).true_positive_rate_upper()
             : 1;
}

struct GuaranteesQuestion {
  std::string id;
  double delta = 0;
  std::string group;
  std::optional<double> type_one_error = {};
};

absl::Status ComputeGuarantees(core::LedgerReader& reader, const GuaranteesQuestion& question,
                               ComputationPool& computations, const Call& call) {
  const core::Ledger* ledger = reader.LedgerOf(question.id);
  if (ledger == nullptr) return NoSuchBudget(question.id);
  ChargedBelow charged;
  AddHistories(*ledger, *ledger->FindBudget(question.id), question.group, &charged);
  v1::GetBudgetGuaranteesResponse message;
  message.set_session_count(charged.session_count);
  message.set_sequence(ledger->head().sequence);
  return computations.Submit(
      call->caller().tenant, [call, charged = std::move(charged), delta = question.delta,
                              type_one_error = question.type_one_error, message]() mutable {
        if (call->Abandoned()) return;
        if (type_one_error.has_value()) {
          message.set_true_positive_rate_upper(
              TruePositiveRate(charged, *type_one_error, [&call] { return call->Abandoned(); }));
        }
        for (v1::AccountantReading& reading :
             bridge::ReadEveryAccountant(charged.history, charged.relation, delta)) {
          *message.add_readings() = std::move(reading);
        }
        call->Succeed(message);
      });
}

// Returns the delta that a cap names.
std::optional<double> DeltaOf(const core::Cap& cap) {
  if (const auto* approximate = std::get_if<core::ApproximateDpCap>(&cap)) {
    return approximate->delta;
  }
  if (const auto* units = std::get_if<core::UnitsCap>(&cap)) return units->delta;
  return std::nullopt;
}

// One ListBudgetReadings on its way.
struct ReadingPage {
  double delta = 0;
  bool at_delta_of_cap = false;
  std::optional<double> type_one_error = {};
  int64_t window_seconds = kActivityWindowSeconds;
  std::string after = {};  // the last budget that was read
  int64_t left = 0;
  std::vector<ChargedBelow> charged = {};  // of each budget of the response
  v1::ListBudgetReadingsResponse response = {};
};

// Returns the parts of a reading that depend on the history alone.
v1::BudgetReading ReadingOf(const ChargedBelow& charged, double delta,
                            std::optional<double> type_one_error) {
  v1::BudgetReading message;
  accounting::Question question;
  question.accountant = accounting::Accountant::kBest;
  question.relation = charged.relation;
  question.query = accounting::EpsilonAtDelta::FromDelta(delta);
  question.events = charged.history;
  v1::AccountantReading& reading = *message.mutable_reading();
  reading.set_accountant(v1::Accountant::BEST);
  const absl::StatusOr<accounting::Guarantee> epsilon = accounting::Answer(question);
  if (epsilon.ok()) {
    bridge::ToProto(*epsilon, reading.mutable_guarantee());
  } else {
    reading.set_reason_unavailable(std::string(epsilon.status().message()));
  }
  if (type_one_error.has_value()) {
    // It is finished even if nobody waits any more: the cache keeps it.
    message.set_true_positive_rate_upper(
        TruePositiveRate(charged, *type_one_error, [] { return false; }));
  }
  return message;
}

void Compose(ReadingPage page, BudgetReadingCache& cache, const Call& call) {
  for (int i = 0; i < page.response.budgets_size(); ++i) {
    if (call->Abandoned()) return;
    v1::BudgetReading& shown = *page.response.mutable_budgets(i);
    const ChargedBelow& charged = page.charged[i];
    v1::BudgetReading reading =
        cache.Get(HistoryKey(charged.relation, charged.history,
                             {shown.delta(), page.type_one_error.value_or(-1)}),
                  [&] { return ReadingOf(charged, shown.delta(), page.type_one_error); });
    shown.mutable_reading()->Swap(reading.mutable_reading());
    if (reading.has_true_positive_rate_upper()) {
      shown.set_true_positive_rate_upper(reading.true_positive_rate_upper());
    }
  }
  call->Succeed(page.response);
}

void Read(const core::Ledger& ledger, const std::string& id, ReadingPage* page) {
  const core::BudgetState& budget = *ledger.FindBudget(id);
  v1::BudgetReading& reading = *page->response.add_budgets();
  ToProto(ledger, budget, reading.mutable_budget());
  reading.set_delta(page->delta);
  if (page->at_delta_of_cap) reading.set_delta(DeltaOf(budget.spec.cap).value_or(page->delta));
  *reading.mutable_activity() = ActivityOf(ledger, budget, page->window_seconds, kListedSpendDays);
  ChargedBelow charged;
  AddHistories(ledger, budget, "", &charged);
  reading.set_session_count(charged.session_count);
  page->charged.push_back(std::move(charged));
}

void FillReadings(const HandlerContext& context, std::shared_ptr<BudgetReadingCache> cache,
                  const Call& call, ReadingPage page) {
  ReadState(context.ledger, call,
            [context, cache = std::move(cache), call,
             page = std::move(page)](core::LedgerReader& reader) mutable -> absl::Status {
              const int64_t now = std::min(page.left, kBudgetReadingsAtOnce);
              const std::vector<std::string> ids = reader.BudgetIds(page.after, now + 1);
              const bool more = static_cast<int64_t>(ids.size()) > now;
              for (int64_t i = 0; i < std::min<int64_t>(now, ids.size()); ++i) {
                page.after = ids[i];
                const core::Ledger& ledger = *reader.LedgerOf(page.after);
                if (!IsVisible(ledger, page.after, call->caller())) continue;
                --page.left;
                Read(ledger, page.after, &page);
              }
              if (more && page.left > 0) {
                if (!call->Abandoned()) {
                  FillReadings(context, std::move(cache), call, std::move(page));
                }
                return absl::OkStatus();
              }
              if (more) {
                page.response.set_next_page_token(MakePageToken(kBudgetReadingList, page.after));
              }
              return context.computations->Submit(
                  call->caller().tenant,
                  [cache = std::move(cache), call, page = std::move(page)]() mutable {
                    Compose(std::move(page), *cache, call);
                  });
            });
}

}  // namespace

absl::Status GetBudgetGuarantees(const HandlerContext& context,
                                 const v1::GetBudgetGuaranteesRequest& request, const Call& call) {
  GuaranteesQuestion question{.delta = request.delta(), .group = request.group()};
  ASSIGN_OR_RETURN(question.id, ParseBudgetName("name", request.name()));
  RETURN_IF_ERROR(
      accounting::CheckInterval("delta", request.delta(), accounting::kOpenProbability));
  if (!request.group().empty()) RETURN_IF_ERROR(CheckResourceId("group", request.group()));
  if (request.has_type_one_error()) {
    question.type_one_error = request.type_one_error();
    RETURN_IF_ERROR(accounting::CheckInterval("typeOneError", request.type_one_error(),
                                              accounting::kProbability));
  }
  ReadState(context.ledger, call,
            [call, question = std::move(question),
             computations = context.computations](core::LedgerReader& reader) {
              return ComputeGuarantees(reader, question, *computations, call);
            });
  return absl::OkStatus();
}

absl::Status GetBudgetActivity(const HandlerContext& context,
                               const v1::GetBudgetActivityRequest& request, const Call& call) {
  ASSIGN_OR_RETURN(std::string id, ParseBudgetName("name", request.name()));
  ASSIGN_OR_RETURN(const int64_t window_seconds,
                   WindowSeconds(request.has_window(), request.window()));
  ReadState(context.ledger, call,
            [call, id = std::move(id), window_seconds](core::LedgerReader& reader) -> absl::Status {
              const core::Ledger* ledger = reader.LedgerOf(id);
              if (ledger == nullptr) return NoSuchBudget(id);
              call->Succeed(ActivityOf(*ledger, *ledger->FindBudget(id), window_seconds,
                                       core::kMaxSpendDays + 1));
              return absl::OkStatus();
            });
  return absl::OkStatus();
}

absl::Status ListBudgetReadings(const HandlerContext& context,
                                std::shared_ptr<BudgetReadingCache> cache,
                                const v1::ListBudgetReadingsRequest& request, const Call& call) {
  ReadingPage page{.delta = request.delta(),
                   .at_delta_of_cap = request.at_delta_of_cap(),
                   .left = request.page_size() == 0 ? kDefaultPageSize : request.page_size()};
  RETURN_IF_ERROR(
      accounting::CheckInterval("delta", request.delta(), accounting::kOpenProbability));
  if (request.has_type_one_error()) {
    page.type_one_error = request.type_one_error();
    RETURN_IF_ERROR(accounting::CheckInterval("typeOneError", request.type_one_error(),
                                              accounting::kProbability));
  }
  ASSIGN_OR_RETURN(page.window_seconds, WindowSeconds(request.has_window(), request.window()));
  RETURN_IF_ERROR(accounting::CheckRange("pageSize", request.page_size(), 0, kMostBudgetReadings));
  ASSIGN_OR_RETURN(page.after, ReadPageToken(kBudgetReadingList, request.page_token()));
  FillReadings(context, std::move(cache), call, std::move(page));
  return absl::OkStatus();
}

}  // namespace epsledger::transport
