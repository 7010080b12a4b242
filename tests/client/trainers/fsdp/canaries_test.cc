#include "client/trainers/fsdp/canaries.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "client/cli/commands/canary_file.h"
#include "client/trainers/fsdp/exact_sum.h"
#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/run/canary_scores.h"
#include "proto/bridge/canary_audit.h"
#include "tests/client/trainers/fsdp/small_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;
using network::Network;

const CanaryRequest kRequest = {
    .count = 200, .input_size = 301, .class_count = 10, .magnitude = 0.5F};

TEST(DrawCanaries, AreSignsWithLabelsAndFairCoins) {
  CanaryRequest request = kRequest;
  request.count = 4000;
  request.input_size = 13;
  const auto canaries = DrawCanaries(request);
  ASSERT_TRUE(canaries.ok()) << canaries.status();
  const LabeledColumns& records = canaries->records;
  ASSERT_EQ(records.inputs.rows(), 13);
  ASSERT_EQ(records.inputs.cols(), 4000);
  ASSERT_EQ(records.labels.size(), 4000U);
  ASSERT_EQ(canaries->is_member.size(), 4000U);
  EXPECT_TRUE((records.inputs.array().abs() == 0.5F).all());
  // Each fails a fair coin about once in 10^10 runs: 6.5 standard deviations.
  const double spread = 6.5 * std::sqrt(4000) / 2;
  EXPECT_NEAR(static_cast<double>(canaries->member_count()), 2000, spread);
  for (Eigen::Index row = 0; row < 13; ++row) {
    const auto positive = (records.inputs.row(row).array() > 0).count();
    EXPECT_NEAR(static_cast<double>(positive), 2000, spread) << row;
  }
  for (int label = 0; label < 10; ++label) {
    const auto count = std::count(records.labels.begin(), records.labels.end(), label);
    EXPECT_NEAR(static_cast<double>(count), 400, 6.5 * std::sqrt(4000 * 0.1 * 0.9)) << label;
  }
}

TEST(DrawCanaries, AreOthersEveryTime) {
  const auto first = DrawCanaries(kRequest);
  const auto second = DrawCanaries(kRequest);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->records.inputs, second->records.inputs);
  EXPECT_NE(first->is_member, second->is_member);
}

TEST(DrawCanaries, AreRefusedOutsideTheirDomains) {
  const auto code = [](auto change) {
    CanaryRequest request = kRequest;
    change(request);
    return DrawCanaries(request).status().code();
  };
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code([](auto& r) { r.count = 0; }), invalid);
  EXPECT_EQ(code([](auto& r) { r.count = kMaxRecords + 1; }), invalid);
  EXPECT_EQ(code([](auto& r) { r.input_size = 0; }), invalid);
  EXPECT_EQ(code([](auto& r) { r.class_count = 0; }), invalid);
  EXPECT_EQ(code([](auto& r) { r.magnitude = 0; }), invalid);
  EXPECT_EQ(code([](auto& r) { r.magnitude = std::numeric_limits<float>::infinity(); }), invalid);
}

TEST(AddMembers, AppendsTheMembersAndChangesNoRecord) {
  const LabeledColumns records = Blobs(50, 301, 10, 1);
  const auto canaries = DrawCanaries(kRequest);
  ASSERT_TRUE(canaries.ok());
  LabeledColumns train = records;
  AddMembers(*canaries, train);
  ASSERT_EQ(train.inputs.cols(), 50 + canaries->member_count());
  ASSERT_EQ(static_cast<int64_t>(train.labels.size()), 50 + canaries->member_count());
  EXPECT_EQ(train.inputs.leftCols(50), records.inputs);
  EXPECT_TRUE(std::equal(records.labels.begin(), records.labels.end(), train.labels.begin()));
  Eigen::Index column = 50;
  for (size_t canary = 0; canary < canaries->is_member.size(); ++canary) {
    if (!canaries->is_member[canary]) continue;
    EXPECT_EQ(train.inputs.col(column),
              canaries->records.inputs.col(static_cast<Eigen::Index>(canary)));
    EXPECT_EQ(train.labels[static_cast<size_t>(column)], canaries->records.labels[canary]);
    ++column;
  }
}

// A canary is no image that could be turned: it is the same at every view.
TEST(AddMembers, AppendsTheMembersToEveryView) {
  CanaryRequest request = kRequest;
  request.input_size = 20;
  const auto canaries = DrawCanaries(request);
  ASSERT_TRUE(canaries.ok()) << canaries.status();
  LabeledColumns train = Blobs(30, 20, 5, 1);
  train.more_views = {Blobs(30, 20, 5, 2).inputs, Blobs(30, 20, 5, 3).inputs};
  const LabeledColumns before = train;
  AddMembers(*canaries, train);
  const Eigen::Index members = canaries->member_count();
  for (size_t view = 0; view < 2; ++view) {
    ASSERT_EQ(train.more_views[view].cols(), train.inputs.cols());
    EXPECT_EQ(train.more_views[view].leftCols(30), before.more_views[view]);
    EXPECT_EQ(train.more_views[view].rightCols(members), train.inputs.rightCols(members));
  }
}

TEST(ScoreCanaries, IsMinusTheCrossEntropyAndDoesNotLookAtTheCoins) {
  auto canaries = DrawCanaries(kRequest);
  ASSERT_TRUE(canaries.ok());
  const Network<float> network = SmallMlp(301, 8, 10);
  const auto scores = ScoreCanaries(network, *canaries);
  ASSERT_TRUE(scores.ok()) << scores.status();
  ASSERT_EQ(scores->size(), 200U);
  const Matrix<float> logits = network.Forward(canaries->records.inputs)->activations.back();
  for (Eigen::Index i = 0; i < 200; ++i) {
    const auto at = static_cast<size_t>(i);
    const Eigen::ArrayXd column = logits.col(i).cast<double>().array();
    EXPECT_NEAR((*scores)[at], column[canaries->records.labels[at]] - std::log(column.exp().sum()),
                1e-5);
  }
  canaries->is_member.flip();
  EXPECT_EQ(*ScoreCanaries(network, *canaries), *scores);
}

TEST(ScoreCanaries, RefusesCanariesOfAnotherShape) {
  const auto canaries = DrawCanaries(kRequest);
  ASSERT_TRUE(canaries.ok());
  EXPECT_EQ(ScoreCanaries(SmallMlp(300, 8, 10), *canaries).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(CanaryScoreLines, AreWhatEpsctlReads) {
  const auto canaries = DrawCanaries(kRequest);
  ASSERT_TRUE(canaries.ok());
  const auto scores = ScoreCanaries(SmallMlp(301, 8, 10), *canaries);
  ASSERT_TRUE(scores.ok());
  const std::string lines = CanaryScoreLines(canaries->is_member, *scores);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 200);
  v1::AuditCanariesRequest request;
  const absl::Status parsed = cli::ParseCanaryScores(lines, &request);
  ASSERT_TRUE(parsed.ok()) << parsed;
  std::vector<double> members;
  std::vector<double> others;
  for (size_t canary = 0; canary < 200; ++canary) {
    (canaries->is_member[canary] ? members : others).push_back((*scores)[canary]);
  }
  EXPECT_EQ(std::vector<double>(request.member_scores().begin(), request.member_scores().end()),
            members);
  EXPECT_EQ(
      std::vector<double>(request.non_member_scores().begin(), request.non_member_scores().end()),
      others);
}

TEST(CanaryScores, SeparateTheMembersThatAModelMemorised) {
  const auto canaries = DrawCanaries(kRequest);
  ASSERT_TRUE(canaries.ok());
  LabeledColumns train = Blobs(50, 301, 10, 1);
  AddMembers(*canaries, train);
  Network<float> network = SmallMlp(301, 32, 10);
  const TrainingOptions options{.max_steps = 300,
                                .noise_multiplier = 1,
                                .expected_batch_size = 150,
                                .learning_rate = 0.2,
                                .residual_clip = 30};
  ExactRelease no_noise;
  const auto result = TrainSound(
      network, train, options, InitialState(network, options),
      [&]() -> absl::StatusOr<std::vector<int>> { return All(train); }, no_noise);
  ASSERT_TRUE(result.ok()) << result.status();
  const auto scores = ScoreCanaries(network, *canaries);
  ASSERT_TRUE(scores.ok());
  int surprising = 0;
  for (size_t canary = 0; canary < scores->size(); ++canary) {
    if (canaries->is_member[canary]) {
      EXPECT_GT((*scores)[canary], -0.3) << canary;
    } else if ((*scores)[canary] < -0.3) {
      ++surprising;
    }
  }
  // The model knows a tenth or so of those that were left out, by luck.
  EXPECT_GT(surprising, 0.65 * static_cast<double>(200 - canaries->member_count()));

  // And the audit says so: no run of epsilon 1 looks like this one.
  v1::AuditCanariesRequest request;
  ASSERT_TRUE(
      cli::ParseCanaryScores(CanaryScoreLines(canaries->is_member, *scores), &request).ok());
  request.set_method(v1::AuditCanariesRequest::ONE_RUN);
  request.set_confidence(0.95);
  request.set_delta(1e-5);
  request.set_claimed_epsilon(1);
  const auto question = bridge::ToQuestion(request, 200);
  ASSERT_TRUE(question.ok()) << question.status();
  const auto audit = bridge::AuditCanaries(*question);
  ASSERT_TRUE(audit.ok()) << audit.status();
  EXPECT_TRUE(audit->contradicts_claim()) << audit->epsilon_lower_bound().lower();
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
