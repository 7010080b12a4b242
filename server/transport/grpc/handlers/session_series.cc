#include "server/transport/grpc/handlers/session_series.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/answer.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/guarantee_convert.h"
#include "server/core/codec.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/handlers/history_key.h"

namespace epsledger::transport {
namespace {

constexpr int64_t kDefaultPointCount = 100;
constexpr int64_t kMaxPointCount = 500;
// The part ahead of the present gets one in this many points.
constexpr int64_t kAheadShare = 3;
// Epsilon grows fastest in the first steps, where a chart would draw a straight line below the
// curve. With at least this many points, round numbers before the first multiple are points as
// well. There are 48 round numbers up to 2^53.
constexpr int64_t kLeastCountForEarlyPoints = 60;

// Returns the next of 1, 2, 5, 10, 20, 50, ... after `number`, which is one of them or 0.
int64_t NextRound(int64_t number) {
  if (number == 0) return 1;
  int64_t power = 1;
  while (number / power >= 10) power *= 10;
  return number / power == 2 ? 5 * power : 2 * number;
}

// Returns the smallest round number with at most `count` multiples inside (0, total). With
// `early_points` the round numbers below it count as well.
int64_t RoundStride(int64_t total, int64_t count, bool early_points) {
  int64_t below = 0;
  for (int64_t stride = 1;; stride = NextRound(stride)) {
    if ((total - 1) / stride + (early_points ? below : 0) <= count) return stride;
    ++below;
  }
}

// The charges between the previous point and this one: uses by the event's index.
struct Stretch {
  int64_t steps = 0;  // in all, up to this point
  std::map<int64_t, int64_t> uses = {};
  int64_t sequence = 0;
  int64_t time_micros = 0;
};

// The data of one answer: gathered on the ledger's thread, page by page, then composed on another
// thread.
struct Series {
  core::SessionName name;
  double delta = 0;
  accounting::Accountant accountant = accounting::Accountant::kBest;
  int64_t point_count = kDefaultPointCount;

  bool started = false;
  int64_t total = 0;
  int64_t stride = 1;
  bool early_points = false;
  int64_t after_sequence = 0;
  int64_t last_attempt = 0;
  std::vector<Stretch> stretches = {};
  std::vector<accounting::NestedEvent> events = {};
  std::vector<std::string> event_keys = {};  // canonical encodings, made in Compose
  std::shared_ptr<SeriesCache> cache = {};
  int64_t next_event = -1;  // charged last; -1: nothing is ahead
  int64_t steps_that_fit = 0;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  v1::GetSessionSeriesResponse response = {};
};

// Returns the epsilon that a cap states at this delta, or without a delta.
std::optional<double> EpsilonOf(const core::Cap& cap, double delta) {
  if (const auto* pure = std::get_if<core::PureEpsilonCap>(&cap)) return pure->epsilon;
  if (std::holds_alternative<core::UnitsCap>(cap)) {
    const std::optional<core::TradeOffCurveCap::Point> point = core::PointOf(cap, delta);
    if (!point.has_value()) return std::nullopt;
    return point->epsilon;
  }
  const auto* approximate = std::get_if<core::ApproximateDpCap>(&cap);
  if (approximate == nullptr || approximate->delta != delta) return std::nullopt;
  return approximate->epsilon;
}

void Lower(std::optional<double> epsilon, const std::string& resource,
           v1::GetSessionSeriesResponse* response) {
  if (!epsilon.has_value()) return;
  if (response->has_epsilon_cap() && response->epsilon_cap() <= *epsilon) return;
  response->set_epsilon_cap(*epsilon);
  response->set_epsilon_cap_resource(resource);
}

absl::Status Start(const core::Ledger& ledger, const core::SessionState& session, Series* series) {
  series->started = true;
  series->relation = session.spec.relation;
  for (const core::SessionEvent& event : session.events) {
    if (event.accepted_count > accounting::kMaxEventCount - series->total) {
      return absl::FailedPreconditionError(
          "the session has more than 2^53 steps: too many to draw");
    }
    series->total += event.accepted_count;
    series->events.push_back(event.event);
  }
  series->early_points = series->point_count >= kLeastCountForEarlyPoints;
  series->stride = RoundStride(series->total, series->point_count - 2, series->early_points);
  v1::GetSessionSeriesResponse& response = series->response;
  response.set_sequence(ledger.head().sequence);
  response.set_steps(series->total);
  int64_t leased = 0;
  for (const core::OpenLease& lease : session.open_leases) leased += lease.count;
  response.set_leased_steps(leased);
  if (session.spec.own_cap.has_value()) {
    Lower(EpsilonOf(*session.spec.own_cap, series->delta), FormatSessionName(series->name),
          &response);
  }
  for (const core::BudgetState* budget = ledger.FindBudget(session.spec.budget_id);
       budget != nullptr; budget = ledger.FindBudget(budget->spec.parent_id)) {
    Lower(EpsilonOf(budget->spec.cap, series->delta), FormatBudgetName(budget->spec.id), &response);
  }
  if (session.last_charge.sequence == 0) return absl::OkStatus();
  const int64_t event = session.last_charge.event_index;
  const auto preview = ledger.PreviewCharge(series->name, *session.events[event].event, 1);
  if (!preview.ok() || preview->steps_that_fit < 1) return absl::OkStatus();
  // The result is the largest possible count, so no cap limits the steps.
  if (preview->steps_that_fit >= accounting::kMaxEventCount - series->total)
    return absl::OkStatus();
  series->next_event = event;
  series->steps_that_fit = preview->steps_that_fit;
  return absl::OkStatus();
}

int64_t PointAfter(int64_t steps, const Series& series) {
  if (!series.early_points || steps >= series.stride) {
    return (steps / series.stride + 1) * series.stride;
  }
  int64_t point = 1;
  while (point <= steps) point = NextRound(point);
  return point;
}

// Counts an accepted charge, and ends a stretch at each point within it.
void Count(const core::ChargeRecord& record, Series* series) {
  v1::GetSessionSeriesResponse& response = series->response;
  std::vector<Stretch>& stretches = series->stretches;
  if (stretches.empty()) stretches.emplace_back();
  int64_t steps = stretches.back().steps;
  if (record.row.attempt != series->last_attempt) {
    series->last_attempt = record.row.attempt;
    v1::AttemptStart& attempt = *response.add_attempts();
    attempt.set_number(record.row.attempt);
    attempt.set_steps_before(steps);
    attempt.set_sequence(record.sequence);
    ToProto(record.time_micros, attempt.mutable_time());
  }
  for (int64_t left = std::min(record.row.count, series->total - steps); left > 0;) {
    Stretch& stretch = stretches.back();
    const int64_t point = std::min(series->total, PointAfter(steps, *series));
    const int64_t uses = std::min(left, point - steps);
    stretch.uses[record.row.event_index] += uses;
    stretch.sequence = record.sequence;
    stretch.time_micros = record.time_micros;
    steps += uses;
    left -= uses;
    stretch.steps = steps;
    if (steps == point && steps < series->total) stretches.push_back({.steps = steps});
  }
}

// Returns a guarantee without a kind if there is no answer.
v1::Guarantee EpsilonOf(const Series& series, const std::map<int64_t, int64_t>& counts) {
  accounting::Question question;
  question.accountant = series.accountant;
  question.relation = series.relation;
  question.query = accounting::EpsilonAtDelta::FromDelta(series.delta);
  for (const auto& [event, count] : counts) {
    question.events.push_back({series.events[event], count});
  }
  v1::Guarantee message;
  const absl::StatusOr<accounting::Guarantee> epsilon = accounting::Answer(question);
  if (epsilon.ok()) bridge::ToProto(*epsilon, &message);
  return message;
}

std::string KeyOf(const Series& series, const std::map<int64_t, int64_t>& counts) {
  std::string key = BeginHistoryKey(series.relation, {series.delta});
  for (const auto& [event, count] : counts) {
    AddToHistoryKey(series.event_keys[event], count, &key);
  }
  return absl::StrCat(static_cast<int>(series.accountant), " ", key);
}

// Sets the epsilon of `counts`; leaves it unset if the accountant does not know one of the events.
void Answer(const Series& series, const std::map<int64_t, int64_t>& counts, int64_t steps,
            v1::SeriesPoint* point) {
  point->set_steps(steps);
  *point->mutable_epsilon() = series.cache->Get(
      KeyOf(series, counts), [&]() -> v1::Guarantee { return EpsilonOf(series, counts); });
  if (point->epsilon().kind() == v1::Guarantee::KIND_UNSPECIFIED) point->clear_epsilon();
}

void Compose(Series series, const Call& call) {
  for (const accounting::NestedEvent& event : series.events) {
    series.event_keys.push_back(core::EncodeEvent(*event));
  }
  v1::GetSessionSeriesResponse& response = series.response;
  std::map<int64_t, int64_t> counts;
  Answer(series, counts, 0, response.add_points());
  for (const Stretch& stretch : series.stretches) {
    if (call->Abandoned()) return;
    for (const auto& [event, uses] : stretch.uses) counts[event] += uses;
    v1::SeriesPoint& point = *response.add_points();
    Answer(series, counts, stretch.steps, &point);
    point.set_sequence(stretch.sequence);
    ToProto(stretch.time_micros, point.mutable_time());
  }
  if (series.next_event >= 0) {
    v1::SeriesPoint& first = *response.add_ahead();
    first = response.points(response.points_size() - 1);
    first.clear_time();
    first.clear_sequence();
    const int64_t count = std::max<int64_t>(1, series.point_count / kAheadShare - 2);
    const int64_t stride = RoundStride(series.steps_that_fit, count, /*early_points=*/false);
    const int64_t end = series.total + series.steps_that_fit;
    const int64_t charged = counts[series.next_event];
    // Use the same points as the previous chart, so that they are in the cache.
    for (int64_t steps = series.total; steps < end;) {
      if (call->Abandoned()) return;
      steps = std::min(end, (steps / stride + 1) * stride);
      counts[series.next_event] = charged + (steps - series.total);
      Answer(series, counts, steps, response.add_ahead());
    }
  }
  call->Succeed(response);
}

void ReadOn(core::DurableLedger& ledger, const std::shared_ptr<ComputationPool>& computations,
            const Call& call, Series series);

absl::Status ReadPage(core::DurableLedger& ledger, core::LedgerReader& reader,
                      const std::shared_ptr<ComputationPool>& computations, const Call& call,
                      Series series) {
  const core::Ledger* budgets = reader.LedgerOf(series.name.budget_id);
  const core::SessionState* session =
      budgets == nullptr ? nullptr : budgets->FindSession(series.name);
  if (session == nullptr) return NoSuchSession(series.name);
  if (!series.started) {
    RETURN_IF_ERROR(Start(*budgets, *session, &series));
  }
  const auto steps = [&series] {
    return series.stretches.empty() ? 0 : series.stretches.back().steps;
  };
  if (series.total > 0) {
    ASSIGN_OR_RETURN(const core::LedgerReader::ChargePage page,
                     reader.ListCharges(series.name, series.after_sequence, core::kMaxPageSize));
    for (const core::ChargeRecord& record : page.records) {
      series.after_sequence = record.sequence;
      if (record.row.decision == core::ChargeDecision::kAccepted) Count(record, &series);
      if (steps() >= series.total) break;
    }
    if (steps() < series.total) {
      if (page.records.empty())
        return absl::DataLossError("the ledger lacks charges that it has counted");
      if (!call->Abandoned()) ReadOn(ledger, computations, call, std::move(series));
      return absl::OkStatus();
    }
  }
  return computations->Submit(call->caller().tenant, [call, series = std::move(series)]() mutable {
    Compose(std::move(series), call);
  });
}

void ReadOn(core::DurableLedger& ledger, const std::shared_ptr<ComputationPool>& computations,
            const Call& call, Series series) {
  ReadState(ledger, call,
            [&ledger, computations, call,
             series = std::move(series)](core::LedgerReader& reader) mutable {
              return ReadPage(ledger, reader, computations, call, std::move(series));
            });
}

}  // namespace

absl::Status GetSessionSeries(const HandlerContext& context, std::shared_ptr<SeriesCache> cache,
                              const v1::GetSessionSeriesRequest& request, const Call& call) {
  ASSIGN_OR_RETURN(core::SessionName name, ParseSessionName("name", request.name()));
  Series series{.name = std::move(name), .delta = request.delta(), .cache = std::move(cache)};
  absl::Status status =
      accounting::CheckInterval("delta", request.delta(), accounting::kOpenProbability);
  if (!status.ok()) return status;
  if (request.accountant() != v1::Accountant::KIND_UNSPECIFIED) {
    ASSIGN_OR_RETURN(const accounting::Accountant accountant,
                     bridge::FromProto(request.accountant(), "accountant"));
    series.accountant = accountant;
  }
  if (request.point_count() != 0) {
    status = accounting::CheckRange("pointCount", request.point_count(), 2, kMaxPointCount);
    if (!status.ok()) return status;
    series.point_count = request.point_count();
  }
  ReadOn(context.ledger, context.computations, call, std::move(series));
  return absl::OkStatus();
}

}  // namespace epsledger::transport
