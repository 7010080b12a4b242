#include "proto/bridge/enum_convert.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace epsledger::bridge {
namespace {

using accounting::Accountant;
using accounting::NeighboringRelation;

TEST(EnumConvert, EveryAccountantKeepsItsName) {
  const auto* descriptor = v1::Accountant::Kind_descriptor();
  for (int i = 0; i < descriptor->value_count(); ++i) {
    const int number = descriptor->value(i)->number();
    if (number == 0) continue;
    const auto accountant = FromProto(static_cast<v1::Accountant::Kind>(number), "accountant");
    ASSERT_TRUE(accountant.ok()) << number;
    EXPECT_EQ(accounting::Name(*accountant), descriptor->value(i)->name());
    EXPECT_EQ(ToProto(*accountant), number);
  }
}

TEST(EnumConvert, TheOthersKeepTheirNumbers) {
  EXPECT_EQ(*FromProto(v1::NeighboringRelation::ADD_OR_REMOVE_ONE, ""),
            NeighboringRelation::kAddOrRemoveOne);
  EXPECT_EQ(*FromProto(v1::NeighboringRelation::REPLACE_ONE, ""), NeighboringRelation::kReplaceOne);
  EXPECT_EQ(*FromProto(v1::NeighboringRelation::REPLACE_SPECIAL, ""),
            NeighboringRelation::kReplaceSpecial);
  EXPECT_EQ(ToProto(NeighboringRelation::kReplaceSpecial),
            v1::NeighboringRelation::REPLACE_SPECIAL);
  EXPECT_EQ(*FromProto(v1::Adjacency::REMOVE, ""), accounting::Adjacency::kRemove);
  EXPECT_EQ(*FromProto(v1::Adjacency::ADD, ""), accounting::Adjacency::kAdd);
  EXPECT_EQ(*FromProto(v1::SensitivityRelation::CONTRIBUTION, ""),
            accounting::SensitivityRelation::kContribution);
  EXPECT_EQ(*FromProto(v1::SensitivityRelation::REPLACE_ONE, ""),
            accounting::SensitivityRelation::kReplaceOne);
  EXPECT_EQ(*FromProto(v1::CalibrateQuery::NOISE_MULTIPLIER, ""),
            accounting::Calibrate::Variable::kNoiseMultiplier);
  EXPECT_EQ(*FromProto(v1::CalibrateQuery::COUNT, ""), accounting::Calibrate::Variable::kCount);
  EXPECT_EQ(*FromProto(v1::CalibrateQuery::SAMPLING_PROBABILITY, ""),
            accounting::Calibrate::Variable::kSamplingProbability);
  EXPECT_EQ(ToProto(accounting::GuaranteeKind::kUpperBound), v1::Guarantee::UPPER_BOUND);
  EXPECT_EQ(ToProto(accounting::GuaranteeKind::kLowerBound), v1::Guarantee::LOWER_BOUND);
  EXPECT_EQ(ToProto(accounting::GuaranteeKind::kApproximation), v1::Guarantee::APPROXIMATION);
}

TEST(EnumConvert, NeverTakesAnUnknownNumberOrAnUnsetOne) {
  for (const int number : {0, 4, 99, -1, 1 << 30}) {
    const auto relation =
        FromProto(static_cast<v1::NeighboringRelation::Kind>(number), "neighboringRelation");
    ASSERT_FALSE(relation.ok()) << number;
    EXPECT_EQ(relation.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(relation.status().message()),
              "neighboringRelation: got " +
                  (number == 0 ? std::string("KIND_UNSPECIFIED") : std::to_string(number)) +
                  ", want one of ADD_OR_REMOVE_ONE, REPLACE_ONE, REPLACE_SPECIAL");
  }
}

}  // namespace
}  // namespace epsledger::bridge
