#include "proto/convert/accountant_readings.h"

#include <string>

#include "absl/status/statusor.h"
#include "accounting/accountant.h"
#include "proto/convert/enum_convert.h"
#include "proto/convert/guarantee_convert.h"

namespace epsledger::convert {

using accounting::Accountant;

std::vector<v1::AccountantReading> ReadEveryAccountant(
    const std::vector<accounting::CountedEvent>& events, accounting::NeighboringRelation relation,
    double delta) {
  accounting::Question question;
  question.relation = relation;
  question.events = events;
  question.query = accounting::EpsilonAtDelta::FromDelta(delta);
  std::vector<v1::AccountantReading> readings;
  for (const Accountant accountant :
       {Accountant::kBasic, Accountant::kAdvanced, Accountant::kOptimal, Accountant::kRenyi,
        Accountant::kMoments, Accountant::kZcdp, Accountant::kGaussian, Accountant::kClt,
        Accountant::kPld, Accountant::kTradeOff, Accountant::kBest}) {
    question.accountant = accountant;
    v1::AccountantReading& reading = readings.emplace_back();
    reading.set_accountant(ToProto(accountant));
    const absl::StatusOr<accounting::Guarantee> guarantee = accounting::Answer(question);
    if (guarantee.ok()) {
      ToProto(*guarantee, reading.mutable_guarantee());
    } else {
      reading.set_reason_unavailable(std::string(guarantee.status().message()));
    }
  }
  return readings;
}

}  // namespace epsledger::convert
