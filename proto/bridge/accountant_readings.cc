#include "proto/bridge/accountant_readings.h"

#include <string>

#include "accounting/answer.h"
#include "accounting/event/domain.h"
#include "accounting/question.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/guarantee_convert.h"
#include "proto/bridge/history_convert.h"

namespace epsledger::bridge {
namespace {

using accounting::Accountant;

v1::AccountantReading ReadBy(Accountant accountant, const accounting::Query& query,
                             absl::StatusOr<accounting::ComposedHistory>& history) {
  v1::AccountantReading reading;
  reading.set_accountant(ToProto(accountant));
  const absl::StatusOr<accounting::Guarantee> guarantee =
      history.ok() ? history->Ask(accountant, query)
                   : absl::StatusOr<accounting::Guarantee>(history.status());
  if (guarantee.ok()) {
    ToProto(*guarantee, reading.mutable_guarantee());
  } else {
    reading.set_reason_unavailable(std::string(guarantee.status().message()));
  }
  return reading;
}

// REQUIRES: readings end with BEST.
v1::Accountant::Kind Winner(
    const google::protobuf::RepeatedPtrField<v1::AccountantReading>& readings) {
  const v1::Guarantee& best = readings[readings.size() - 1].guarantee();
  v1::Accountant::Kind winner = v1::Accountant::KIND_UNSPECIFIED;
  if (best.accountant() == v1::Accountant::BEST || best.kind() != v1::Guarantee::UPPER_BOUND) {
    return winner;
  }
  double smallest = accounting::kInfinity;
  for (const v1::AccountantReading& reading : readings) {
    const v1::Guarantee& guarantee = reading.guarantee();
    if (guarantee.kind() != v1::Guarantee::UPPER_BOUND || !guarantee.has_upper()) continue;
    const bool equal = guarantee.upper() == smallest && smallest < accounting::kInfinity;
    if (guarantee.upper() < smallest || (equal && guarantee.accountant() == best.accountant())) {
      smallest = guarantee.upper();
      winner = guarantee.accountant();
    }
  }
  return winner;
}

}  // namespace

std::vector<v1::AccountantReading> ReadEveryAccountant(
    const std::vector<accounting::CountedEvent>& events, accounting::NeighboringRelation relation,
    double delta) {
  accounting::Question question;
  question.relation = relation;
  question.events = events;
  question.query = accounting::EpsilonAtDelta::FromDelta(delta);
  auto history = accounting::ComposedHistory::Create(question);
  std::vector<v1::AccountantReading> readings;
  for (const Accountant accountant :
       {Accountant::kBasic, Accountant::kAdvanced, Accountant::kOptimal, Accountant::kRenyi,
        Accountant::kMoments, Accountant::kZcdp, Accountant::kGaussian, Accountant::kClt,
        Accountant::kPld, Accountant::kTradeOff, Accountant::kBest}) {
    readings.push_back(ReadBy(accountant, question.query, history));
  }
  return readings;
}

absl::StatusOr<accounting::Question> ToQuestion(const v1::CompareAccountantsRequest& request) {
  accounting::Question question;
  absl::Status status = ReadHistory(HistoryOf(request), &question);
  if (!status.ok()) return status;
  status = accounting::CheckInterval("delta", request.delta(), accounting::kOpenProbability);
  if (!status.ok()) return status;
  question.query = accounting::EpsilonAtDelta::FromDelta(request.delta());
  status = accounting::Validate(question);
  if (!status.ok()) return status;
  return question;
}

absl::StatusOr<v1::CompareAccountantsResponse> CompareAccountants(
    accounting::Question question, absl::FunctionRef<bool()> abandoned) {
  v1::CompareAccountantsResponse response;
  auto history = accounting::ComposedHistory::Create(question);
  for (const Accountant accountant :
       {Accountant::kBasic, Accountant::kAdvanced, Accountant::kOptimal, Accountant::kRenyi,
        Accountant::kMoments, Accountant::kMomentsHolder, Accountant::kMomentsAsPublished,
        Accountant::kZcdp, Accountant::kGaussian, Accountant::kClt, Accountant::kPld,
        Accountant::kTradeOff, Accountant::kBest}) {
    if (abandoned()) return absl::CancelledError("nobody waits for the comparison any more");
    *response.add_readings() = ReadBy(accountant, question.query, history);
  }
  response.set_winner(Winner(response.readings()));
  return response;
}

}  // namespace epsledger::bridge
