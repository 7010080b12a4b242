#include "proto/bridge/mechanism_convert.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "accounting/event/validation.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/unknown_field_set.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/proto/valid_events.h"

namespace epsledger::bridge {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

RC_GTEST_PROP(MechanismConvert, EveryKindComesBackAsItWas, ()) {
  for (const int kind : tests::EventTags()) {
    const accounting::MechanismEvent event = tests::ValidEvent(kind, 4);
    RC_ASSERT(accounting::Validate(event, "event").ok());
    v1::MechanismEvent message;
    ToProto(event, &message);
    RC_ASSERT(static_cast<int>(message.kind_case()) == kind);
    const auto back = FromProto(message, "event");
    RC_ASSERT(back.ok());
    RC_ASSERT(*back == event);

    v1::MechanismEvent from_bytes;
    RC_ASSERT(from_bytes.ParseFromString(message.SerializeAsString()));
    RC_ASSERT(*FromProto(from_bytes, "event") == event);

    std::string json;
    RC_ASSERT(google::protobuf::util::MessageToJsonString(message, &json).ok());
    v1::MechanismEvent from_json;
    RC_ASSERT(google::protobuf::util::JsonStringToMessage(json, &from_json).ok());
    RC_ASSERT(*FromProto(from_json, "event") == event);
  }
}

RC_GTEST_PROP(MechanismConvert, ACountedEventComesBackAsItWas, ()) {
  const int kind = tests::AnyTag();
  const accounting::CountedEvent event{tests::ValidEvent(kind, 2), tests::Count()};
  v1::CountedEvent message;
  ToProto(event, &message);
  const auto back = FromProto(message, "events[0]");
  RC_ASSERT(back.ok());
  RC_ASSERT(back->count == event.count);
  RC_ASSERT(*back->event == *event.event);
}

TEST(MechanismConvert, ToProtoReplacesWhatTheMessageHeld) {
  v1::MechanismEvent message;
  ToProto(accounting::RenyiCurve{{2, 3}, {1, 1}}, &message);
  ToProto(accounting::RenyiCurve{{4}, {1}}, &message);
  EXPECT_EQ(message.renyi_curve().orders_size(), 1);
}

struct BadInput {
  const char* text;  // of a MechanismEvent
  const char* want;  // how the message starts
};

class BadEvents : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadEvents, AreNamedWithFieldValueAndDomain) {
  v1::MechanismEvent message;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().text, &message));
  const auto event = FromProto(message, "event");
  ASSERT_FALSE(event.ok());
  EXPECT_EQ(event.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(event.status()), StartsWith(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadEvents,
    ::testing::Values(
        BadInput{"", "event: unset, want one of gaussian, laplace, discreteGaussian,"},
        BadInput{"gaussian {}",
                 "event.gaussian.noiseMultiplier: unset, want a number, also if it "
                 "is 0"},
        BadInput{"discrete_laplace {}",
                 "event.discreteLaplace.noiseParameter: got 0, want in (0, inf)"},
        BadInput{"gaussian { noise_multiplier: -1 }",
                 "event.gaussian.noiseMultiplier: got -1, want in [0, inf)"},
        BadInput{"gaussian { noise_multiplier: nan }",
                 "event.gaussian.noiseMultiplier: got NaN, want in [0, inf)"},
        BadInput{"gaussian { noise_multiplier: inf }",
                 "event.gaussian.noiseMultiplier: got Infinity, want in [0, inf)"},
        BadInput{"laplace { noise_multiplier: -inf }",
                 "event.laplace.noiseMultiplier: got -Infinity, want in [0, inf)"},
        BadInput{"discrete_gaussian { sigma: 1 sensitivity: 0 }",
                 "event.discreteGaussian.sensitivity: got 0, want in [1, 9007199254740992]"},
        BadInput{"discrete_laplace { noise_parameter: 1 sensitivity: 9007199254740993 }",
                 "event.discreteLaplace.sensitivity: got 9007199254740993, want in "},
        BadInput{"randomized_response { noise_parameter: 1 num_buckets: 2 }",
                 "event.randomizedResponse.noiseParameter: got 1, want in [0, 1)"},
        BadInput{"poisson_sampled { sampling_probability: 1.5 event { gaussian { "
                 "noise_multiplier: 1 } } }",
                 "event.poissonSampled.samplingProbability: got 1.5, want in [0, 1]"},
        BadInput{"poisson_sampled { sampling_probability: 0.5 }",
                 "event.poissonSampled.event: unset, want one of gaussian, "},
        BadInput{"poisson_sampled { sampling_probability: 0.5 event { } }",
                 "event.poissonSampled.event: unset, want one of gaussian, "},
        BadInput{"composed { events { count: 1 event { gaussian { noise_multiplier: 1 } } } "
                 "events { count: 1 } }",
                 "event.composed.events[1].event: unset, want one of gaussian, "},
        BadInput{"composed { events { event { gaussian { noise_multiplier: 1 } } } }",
                 "event.composed.events[0].count: got 0, want in [1, "},
        BadInput{"self_composed { count: -3 event { pure_dp { epsilon: 1 } } }",
                 "event.selfComposed.count: got -3, want in [1, "},
        BadInput{"renyi_curve { orders: 2 }", "event.renyiCurve.divergences: got 0 points"},
        BadInput{"approximate_dp { epsilon: 1 delta: 1.0000001 }",
                 "event.approximateDp.delta: got 1.0000001, want in [0, 1]"},
        BadInput{"report_noisy_max { noise_multiplier: 1 }",
                 "event.reportNoisyMax.noise: got KIND_UNSPECIFIED, want LAPLACE, EXPONENTIAL or"},
        BadInput{"report_noisy_max { noise: GAUSSIAN noise_multiplier: 1 }",
                 "event.reportNoisyMax.noise: got GAUSSIAN, want LAPLACE, EXPONENTIAL or GUMBEL"},
        BadInput{"above_threshold { threshold_noise_multiplier: 1 query_noise_multiplier: 1 }",
                 "event.aboveThreshold.cutoff: got 0, want in [1, "},
        BadInput{"partition_selection { noise: GUMBEL noise_multiplier: 1 threshold: 2 }",
                 "event.partitionSelection.noise: got GUMBEL, want LAPLACE or GAUSSIAN"},
        BadInput{"truncated_geometric_selection { epsilon: 1 }",
                 "event.truncatedGeometricSelection.delta: got 0, want in (0, 1]"},
        BadInput{"matrix_mechanism { noise_multiplier: 1 steps: 3 }",
                 "event.matrixMechanism.strategy: got KIND_UNSPECIFIED, want MATRIX, TOEPLITZ, "},
        BadInput{"matrix_mechanism { noise_multiplier: 1 strategy: IDENTITY steps: 3 "
                 "max_participations: 4 min_separation: 1 }",
                 "event.matrixMechanism.maxParticipations: got 4, want in [1, 3]"},
        BadInput{"shuffled { reports: 3 }",
                 "event.shuffled.event: unset, want one of gaussian, "}));

TEST(MechanismConvert, RefusesANoiseOfALaterVersion) {
  v1::MechanismEvent message;
  message.mutable_report_noisy_max()->set_noise_multiplier(1);
  for (const int number : {5, 300, -1}) {
    message.mutable_report_noisy_max()->set_noise(static_cast<v1::Noise::Kind>(number));
    EXPECT_THAT(MessageOf(FromProto(message, "event").status()),
                StartsWith("event.reportNoisyMax.noise: got "))
        << number;
  }
}

// An old client leaves out a number that it sets to 0, and must not get the meaning of 0.
TEST(MechanismConvert, TellsANumberThatWasLeftOutFromZero) {
  const auto message_of = [](const std::string& text) {
    v1::MechanismEvent message;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
    return MessageOf(FromProto(message, "event").status());
  };
  struct Row {
    std::string before;
    std::string field;
    std::string json_name;
    std::string after;
  };
  const std::string gaussian = "event { gaussian { noise_multiplier: 1 } }";
  const Row rows[] = {
      {"gaussian", "noise_multiplier", "gaussian.noiseMultiplier", ""},
      {"laplace", "noise_multiplier", "laplace.noiseMultiplier", ""},
      {"discrete_gaussian", "sigma", "discreteGaussian.sigma", "sensitivity: 1"},
      {"randomized_response", "noise_parameter", "randomizedResponse.noiseParameter",
       "num_buckets: 2"},
      {"exponential_mechanism", "epsilon", "exponentialMechanism.epsilon", ""},
      {"permute_and_flip", "epsilon", "permuteAndFlip.epsilon", ""},
      {"pure_dp", "epsilon", "pureDp.epsilon", ""},
      {"approximate_dp", "epsilon", "approximateDp.epsilon", "delta: 1"},
      {"approximate_dp", "delta", "approximateDp.delta", "epsilon: 1"},
      {"zcdp", "rho", "zcdp.rho", ""},
      {"gaussian_dp", "mu", "gaussianDp.mu", ""},
      {"unverified_claim", "epsilon", "unverifiedClaim.epsilon", "delta: 1"},
      {"unverified_claim", "delta", "unverifiedClaim.delta", "epsilon: 1"},
      {"truncated_geometric_selection", "epsilon", "truncatedGeometricSelection.epsilon",
       "delta: 1"},
      {"mixture_of_gaussians", "noise_multiplier", "mixtureOfGaussians.noiseMultiplier",
       "sensitivities: 1 probabilities: 1"},
      {"poisson_sampled", "sampling_probability", "poissonSampled.samplingProbability", gaussian},
      {"truncated_poisson_sampled", "sampling_probability",
       "truncatedPoissonSampled.samplingProbability",
       "max_batch_size: 1 dataset_size: 2 " + gaussian},
      {"tree_aggregation", "noise_multiplier", "treeAggregation.noiseMultiplier", "step_count: 1"},
      {"banded_matrix_factorization", "noise_multiplier",
       "bandedMatrixFactorization.noiseMultiplier",
       "bands: 1 iterations: 2 sampling_probability: 0.5"},
      {"banded_matrix_factorization", "sampling_probability",
       "bandedMatrixFactorization.samplingProbability",
       "bands: 1 iterations: 2 noise_multiplier: 1"}};
  for (const Row& row : rows) {
    EXPECT_EQ(message_of(row.before + " { " + row.after + " }"),
              "event." + row.json_name + ": unset, want a number, also if it is 0");
    EXPECT_EQ(message_of(row.before + " { " + row.field + ": 0 " + row.after + " }"), "");
    EXPECT_EQ(message_of(row.before + " { " + row.field + ": -0.0 " + row.after + " }"), "");
  }
}

TEST(MechanismConvert, JsonTellsANumberThatWasLeftOutFromZero) {
  const auto read = [](const std::string& json) {
    v1::MechanismEvent message;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &message).ok()) << json;
    return FromProto(message, "event");
  };
  EXPECT_FALSE(read(R"({"gaussian": {}})").ok());
  EXPECT_FALSE(read(R"({"gaussian": {"noiseMultiplier": null}})").ok());
  for (const char* zero : {"0", "0.0", "\"0\"", "-0.0"}) {
    const auto event =
        read(absl::StrCat(R"({"gaussian": {"noiseMultiplier": )", std::string(zero), "}}"));
    ASSERT_TRUE(event.ok()) << zero << ": " << event.status();
    EXPECT_EQ(*event, accounting::MechanismEvent(accounting::Gaussian{0})) << zero;
    v1::MechanismEvent message;
    ToProto(*event, &message);
    std::string json;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(message, &json).ok());
    EXPECT_EQ(*read(json), *event) << json;
  }
}

// What an old client sends is what a new one sends, unless the number is 0.
TEST(MechanismConvert, AnOptionalNumberIsWrittenAsAPlainOneWas) {
  v1::MechanismEvent message;
  message.mutable_gaussian()->set_noise_multiplier(1);
  EXPECT_EQ(message.SerializeAsString(),
            std::string("\x0a\x09\x09\x00\x00\x00\x00\x00\x00\xf0\x3f", 11));
  message.mutable_gaussian()->set_noise_multiplier(0);
  EXPECT_EQ(message.SerializeAsString(),
            std::string("\x0a\x09\x09\x00\x00\x00\x00\x00\x00\x00\x00", 11));
  EXPECT_TRUE(message.ParseFromString(std::string("\x0a\x00", 2)));  // 0.1 with 0
  EXPECT_FALSE(FromProto(message, "event").ok());
}

TEST(MechanismConvert, RefusesASampleOfASampleOfAnotherSize) {
  using accounting::MechanismEvent;
  using accounting::SampledWithoutReplacement;
  const MechanismEvent gaussian = accounting::Gaussian{1};
  const auto read = [](const MechanismEvent& event) {
    v1::MechanismEvent message;
    ToProto(event, &message);
    return MessageOf(FromProto(message, "event").status());
  };
  const MechanismEvent inner = SampledWithoutReplacement{10, 5, gaussian};
  EXPECT_EQ(read(SampledWithoutReplacement{100, 10, inner}), "");
  EXPECT_EQ(read(SampledWithoutReplacement{100, 20, inner}),
            "event.sampledWithoutReplacement.event.sampledWithoutReplacement.datasetSize: got 10, "
            "want 20, the sampleSize around it");
  EXPECT_EQ(read(accounting::Composed{
                {{gaussian, 1},
                 {MechanismEvent(SampledWithoutReplacement{
                      100, 20,
                      MechanismEvent(accounting::SelfComposed{
                          MechanismEvent(accounting::TruncatedPoissonSampled{0.5, 5, 10, gaussian}),
                          2})}),
                  1}}}),
            "event.composed.events[1].event.sampledWithoutReplacement.event.selfComposed.event."
            "truncatedPoissonSampled.datasetSize: got 10, want 20, the sampleSize around it");
  // A Poisson sample has no fixed size.
  EXPECT_EQ(read(SampledWithoutReplacement{100, 20,
                                           MechanismEvent(accounting::PoissonSampled{0.5, inner})}),
            "");
  // A history that holds one was stored before this was checked.
  EXPECT_TRUE(accounting::Validate(SampledWithoutReplacement{100, 20, inner}, "event").ok());
}

TEST(MechanismConvert, RefusesAMatrixStrategyOfALaterVersion) {
  v1::MechanismEvent message;
  message.mutable_matrix_mechanism()->set_noise_multiplier(1);
  for (const int number : {7, 300, -1}) {
    message.mutable_matrix_mechanism()->set_strategy(static_cast<v1::MatrixStrategy::Kind>(number));
    EXPECT_THAT(MessageOf(FromProto(message, "event").status()),
                StartsWith("event.matrixMechanism.strategy: got "))
        << number;
  }
}

TEST(MechanismConvert, RefusesFieldsThatItDoesNotKnowAtEveryDepth) {
  v1::MechanismEvent message;
  v1::MechanismEvent* inner = message.mutable_poisson_sampled()->mutable_event();
  message.mutable_poisson_sampled()->set_sampling_probability(0.5);
  inner->mutable_gaussian()->set_noise_multiplier(1);
  ASSERT_TRUE(FromProto(message, "event").ok());
  const auto add_to = [](google::protobuf::Message* m) {
    m->GetReflection()->MutableUnknownFields(m)->AddVarint(27, 1);
  };

  v1::MechanismEvent outermost = message;
  add_to(&outermost);
  EXPECT_EQ(MessageOf(FromProto(outermost, "event").status()),
            "event: unknown field 27: this version does not know it");
  v1::MechanismEvent kind = message;
  add_to(kind.mutable_poisson_sampled());
  EXPECT_EQ(MessageOf(FromProto(kind, "event").status()),
            "event.poissonSampled: unknown field 27: this version does not know it");
  add_to(inner->mutable_gaussian());
  EXPECT_EQ(MessageOf(FromProto(message, "event").status()),
            "event.poissonSampled.event.gaussian: unknown field 27: this version does not know it");
}

TEST(MechanismConvert, AnEventOfALaterVersionIsAnUnknownFieldAndNotAnUnsetOne) {
  v1::MechanismEvent message;
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(27)->assign("");
  EXPECT_THAT(MessageOf(FromProto(message, "event").status()), HasSubstr("unknown field 27"));
}

v1::MechanismEvent Nested(int depth) {
  v1::MechanismEvent event;
  event.mutable_gaussian()->set_noise_multiplier(1);
  for (int i = 1; i < depth; ++i) {
    v1::MechanismEvent outer;
    outer.mutable_self_composed()->set_count(1);
    outer.mutable_self_composed()->mutable_event()->Swap(&event);
    event.Swap(&outer);
  }
  return event;
}

TEST(MechanismConvert, LimitsTheDepthBeforeGoingDown) {
  EXPECT_TRUE(FromProto(Nested(accounting::kMaxEventDepth), "event").ok());
  const absl::Status status = FromProto(Nested(accounting::kMaxEventDepth + 1), "event").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(status), HasSubstr("got 17 events inside each other, want at most 16"));
  // Deep enough to overflow a stack that is used level by level.
  EXPECT_THAT(MessageOf(FromProto(Nested(5'000), "event").status()),
              HasSubstr("events inside each other"));
}

TEST(MechanismConvert, ACountThatIsNotSetIsAnErrorAndNotOne) {
  v1::CountedEvent message;
  message.mutable_event()->mutable_gaussian()->set_noise_multiplier(1);
  EXPECT_EQ(MessageOf(FromProto(message, "events[0]").status()),
            "events[0].count: got 0, want in [1, 9007199254740992]");
}

}  // namespace
}  // namespace epsledger::bridge
