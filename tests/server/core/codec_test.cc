#include "server/core/codec.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include "absl/strings/escaping.h"
#include "accounting/event/validation.h"

namespace epsledger::core {
namespace {

using namespace accounting;  // NOLINT: every event by name

ChargeDecided SampleCharge() {
  return {.session_number = 1,
          .attempt = 2,
          .charge_id = "step-3",
          .event_index = 4,
          .count = 5,
          .decision = ChargeDecision::kAccepted,
          .refusal = {}};
}

std::string Hex(const Hash& hash) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

std::vector<MechanismEvent> OneOfEach() {
  const MechanismEvent gaussian = Gaussian{1.5};
  return {gaussian,
          Laplace{2},
          DiscreteGaussian{3, 4},
          DiscreteLaplace{0.5, 6},
          RandomizedResponse{0.25, 8},
          ExponentialMechanism{1},
          PermuteAndFlip{1},
          PureDp{0.5},
          ApproximateDp{0.5, 1e-6},
          Zcdp{0.1, 0},
          GaussianDp{0.3},
          RenyiCurve{{2, 3}, {0.1, 0.2}},
          TradeOffCurve{{0, 1}, {1, 0}},
          MixtureOfGaussians{1, {0, 1}, {0.5, 0.5}},
          PoissonSampled{0.01, gaussian},
          TruncatedPoissonSampled{0.01, 10, 1000, gaussian},
          SampledWithoutReplacement{1000, 10, gaussian},
          SampledWithReplacement{1000, 10, gaussian},
          RandomAllocation{10, 1, gaussian},
          Composed{{{gaussian, 3}, {MechanismEvent(PureDp{1}), 2}}},
          SelfComposed{gaussian, 7},
          TreeAggregation{1, 100},
          BandedMatrixFactorization{1, 2, 10, 0.1},
          RepeatAndSelect{gaussian, 3, 1},
          UnverifiedClaim{1, 1e-5, "somebody 2020"},
          NonPrivate{"debugging"},
          DominatingPair{{0.5, 0.25, 0.25}, {0.25, 0.75, 0}},
          ReportNoisyMax{Noise::kGumbel, 2, true},
          AboveThreshold{2, 20, 5, false},
          PartitionSelection{Noise::kGaussian, 1.5, 12},
          TruncatedGeometricSelection{1, 1e-6},
          Shuffled{1000, MechanismEvent(PureDp{1})},
          MatrixMechanism{.noise_multiplier = 1,
                          .strategy = MatrixStrategy::kToeplitz,
                          .steps = 10,
                          .max_participations = 2,
                          .min_separation = 5,
                          .coefficients = {1, 0.5}}};
}

// The layout is a promise to every stored ledger: these bytes were written by hand from the rules
// in codec.h, and the hash by another SHA-256 (Python's hashlib).
TEST(Codec, LayoutIsFixed) {
  const std::string content = EncodeContent(7, 1000000, SampleCharge());
  EXPECT_EQ(absl::BytesToHexString(content),
            "01"                // version
            "0000000000000007"  // sequence
            "00000000000f4240"  // time
            "06"                // ChargeDecided
            "0000000000000001"
            "0000000000000002"  // session, attempt
            "00000006"
            "737465702d33"  // charge id
            "0000000000000004"
            "0000000000000005"  // event index, count
            "01"
            "00");  // accepted, no refusal
  EXPECT_EQ(Hex(ChainHash(Hash{}, content)),
            "249d87cad615d52d90c6baffd96a36eae5816da098353d4d60bb3f1bec11da50");
}

TEST(Codec, AnAuditReadsBackAsItself) {
  const AuditRecorded body{.session_number = 3,
                           .audit = {.method = accounting::AuditMethod::kOneRunFDp,
                                     .hypothesis = accounting::AuditHypothesis::kGaussianTradeOff,
                                     .epsilon_lower = 1.5,
                                     .delta = 1e-5,
                                     .confidence = 0.95,
                                     .trials = 1000,
                                     .mu_lower = 0.25,
                                     .claimed_epsilon = std::nullopt,
                                     .source = "x"}};
  const std::string content = EncodeContent(1, 2, body);
  EXPECT_EQ(content[17], 0x10);  // tag 16, for good
  const absl::StatusOr<Entry> entry = DecodeEntry(content, Hash{});
  ASSERT_TRUE(entry.ok()) << entry.status();
  const auto& decoded = std::get<AuditRecorded>(entry->body);
  EXPECT_EQ(decoded.audit.method, body.audit.method);
  EXPECT_EQ(decoded.audit.mu_lower, 0.25);
  EXPECT_FALSE(decoded.audit.claimed_epsilon.has_value());
  EXPECT_EQ(decoded.audit.source, "x");
  EXPECT_EQ(EncodeContent(1, 2, decoded), content);
  std::string damaged = content;
  damaged[17 + 1 + 8] = 5;  // a method that does not exist
  EXPECT_EQ(DecodeEntry(damaged, Hash{}).status().code(), absl::StatusCode::kDataLoss);
}

TEST(Codec, WhatPeopleSayReadsBackAsItself) {
  const Annotated said{
      .budget_id = "b", .session_number = 2, .topic = AnnotationTopic::kIntendedUse, .text = "a"};
  const std::string content = EncodeContent(1, 2, said);
  EXPECT_EQ(content[17], 28);  // the tag, for good
  absl::StatusOr<Entry> entry = DecodeEntry(content, Hash{});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(EncodeContent(1, 2, std::get<Annotated>(entry->body)), content);
  std::string damaged = content;
  damaged[damaged.size() - 1 - 4 - 1] = 13;  // a topic that does not exist, before the text
  EXPECT_EQ(DecodeEntry(damaged, Hash{}).status().code(), absl::StatusCode::kDataLoss);

  const SignedOff signed_off{.budget_id = "b",
                             .session_number = 0,
                             .sign_off = {.signer = "Ada",
                                          .role = "officer",
                                          .comment = "",
                                          .statement_sha256 = std::string(32, 'x'),
                                          .statement_sequence = 7,
                                          .epsilon = 2.5,
                                          .delta = 1e-5}};
  const std::string second = EncodeContent(1, 2, signed_off);
  EXPECT_EQ(second[17], 29);
  entry = DecodeEntry(second, Hash{});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(std::get<SignedOff>(entry->body).sign_off, signed_off.sign_off);
}

TEST(Codec, EventLayoutIsFixed) {
  const MechanismEvent event = PoissonSampled{0.5, MechanismEvent(Gaussian{2})};
  EXPECT_EQ(absl::BytesToHexString(EncodeEvent(event)),
            "0f"
            "3fe0000000000000"
            "01"
            "4000000000000000");
}

TEST(Codec, EveryEventReadsBackAsItself) {
  const std::vector<MechanismEvent> events = OneOfEach();
  ASSERT_EQ(events.size(), std::variant_size_v<MechanismEvent::Kind>);
  for (const MechanismEvent& event : events) {
    ASSERT_TRUE(Validate(event, "event").ok()) << Validate(event, "event");
    const EventPriced body{.session_number = 1,
                           .event_index = 0,
                           .event = event,
                           .unit_costs = {{Cost::FromUnits(3), Cost::Infinite()}, {}}};
    const std::string content = EncodeContent(1, 2, body);
    const absl::StatusOr<Entry> entry = DecodeEntry(content, Hash{});
    ASSERT_TRUE(entry.ok()) << entry.status() << Describe(event);
    const auto* decoded = std::get_if<EventPriced>(&entry->body);
    ASSERT_NE(decoded, nullptr);
    EXPECT_TRUE(*decoded->event == event) << Describe(event);
    EXPECT_EQ(decoded->unit_costs, body.unit_costs);
    EXPECT_EQ(entry->content, content);
  }
}

TEST(Codec, DifferentEventsHaveDifferentEncodings) {
  const std::vector<MechanismEvent> events = OneOfEach();
  for (size_t i = 0; i < events.size(); ++i) {
    for (size_t j = 0; j < events.size(); ++j) {
      EXPECT_EQ(EncodeEvent(events[i]) == EncodeEvent(events[j]), i == j);
      EXPECT_EQ(events[i] == events[j], i == j);
    }
  }
}

TEST(Codec, TheDeepestValidEventReadsBack) {
  MechanismEvent event = Gaussian{1};
  while (Validate(MechanismEvent(SelfComposed{event, 2}), "event").ok()) {
    event = SelfComposed{event, 2};
  }
  const EventPriced body{.session_number = 1, .event_index = 0, .event = event, .unit_costs = {}};
  const absl::StatusOr<Entry> entry = DecodeEntry(EncodeContent(1, 2, body), Hash{});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_TRUE(*std::get<EventPriced>(entry->body).event == event);
}

TEST(Codec, DepthIsBoundedBeforeItIsFollowed) {
  std::string nested;  // selfComposed{selfComposed{...
  const EventPriced body{
      .session_number = 1, .event_index = 0, .event = MechanismEvent(Gaussian{1})};
  const std::string content = EncodeContent(1, 2, body);
  const std::string header = content.substr(0, 1 + 8 + 8 + 1 + 8 + 8);
  EXPECT_FALSE(DecodeEntry(header + std::string(1'000'000, '\x15'), Hash{}).ok());
}

TEST(Codec, DamageIsFoundAtEveryByte) {
  const EventPriced body{.session_number = 1,
                         .event_index = 0,
                         .event = MechanismEvent(Composed{{{MechanismEvent(Gaussian{1}), 3}}}),
                         .unit_costs = {{Cost::FromUnits(3)}}};
  const std::string content = EncodeContent(1, 2, body);
  ASSERT_TRUE(DecodeEntry(content, Hash{}).ok());
  for (size_t size = 0; size < content.size(); ++size) {
    EXPECT_FALSE(DecodeEntry(content.substr(0, size), Hash{}).ok()) << size;
  }
  EXPECT_FALSE(DecodeEntry(content + '\0', Hash{}).ok());
  for (size_t i = 0; i < content.size(); ++i) {
    std::string damaged = content;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EXPECT_NE(ChainHash(Hash{}, damaged), ChainHash(Hash{}, content));
  }
}

TEST(Codec, UnknownNumbersAreDamageNotGuesses) {
  std::string content = EncodeContent(1, 2, SampleCharge());
  content[content.size() - 2] = 3;  // a decision that does not exist
  EXPECT_EQ(DecodeEntry(content, Hash{}).status().code(), absl::StatusCode::kDataLoss);
  content = EncodeContent(1, 2, SampleCharge());
  content[0] = 3;  // a version of the future
  EXPECT_EQ(DecodeEntry(content, Hash{}).status().code(), absl::StatusCode::kDataLoss);
}

// As LayoutIsFixed: an entry that names who asked for it is of version 2.
TEST(Codec, LayoutOfTheActorIsFixed) {
  const Actor actor{.principal = "tokens/a", .door = Door::kHttp, .client = "n/1"};
  const std::string content = EncodeContent(7, 1000000, SampleCharge(), actor);
  EXPECT_EQ(absl::BytesToHexString(content.substr(0, 37)),
            "02"                // version
            "0000000000000007"  // sequence
            "00000000000f4240"  // time
            "00000008"          // the principal
            "746f6b656e732f61"  // tokens/a
            "02"                // HTTP
            "00000003"          // what the client says
            "6e2f31");          // n/1
  EXPECT_EQ(content.substr(37), EncodeContent(7, 1000000, SampleCharge()).substr(17));
  const absl::StatusOr<Entry> entry = DecodeEntry(content, Hash{});
  ASSERT_TRUE(entry.ok()) << entry.status();
  ASSERT_TRUE(entry->actor.has_value());
  EXPECT_EQ(entry->actor->principal, "tokens/a");
  EXPECT_EQ(entry->actor->door, Door::kHttp);
  EXPECT_EQ(entry->actor->client, "n/1");
  for (const char door : {0, 5}) {
    std::string damaged = content;
    damaged[29] = door;
    EXPECT_EQ(DecodeEntry(damaged, Hash{}).status().code(), absl::StatusCode::kDataLoss);
  }
  const absl::StatusOr<Entry> old = DecodeEntry(EncodeContent(7, 1000000, SampleCharge()), Hash{});
  ASSERT_TRUE(old.ok());
  EXPECT_FALSE(old->actor.has_value());
}

TEST(Codec, NegativeZeroIsDamage) {
  std::string content =
      EncodeContent(1, 2,
                    EventPriced{.session_number = 1,
                                .event = accounting::MechanismEvent(accounting::Gaussian{0})});
  ASSERT_TRUE(DecodeEntry(content, Hash{}).ok());
  content[content.size() - 12] = '\x80';  // the sign; the empty list of costs has the last 4 bytes
  EXPECT_EQ(DecodeEntry(content, Hash{}).status().code(), absl::StatusCode::kDataLoss);
}

// Whatever decodes encodes to the same bytes: one value, one encoding.
RC_GTEST_PROP(Codec, OnlyCanonicalBytesDecode, (bool charge)) {
  const EventPriced priced{.session_number = 1,
                           .event_index = 2,
                           .event = accounting::MechanismEvent(accounting::Laplace{0.5}),
                           .unit_costs = {{Cost::FromUnits(7)}, {}}};
  std::string bytes = charge ? EncodeContent(1, 2, SampleCharge()) : EncodeContent(1, 2, priced);
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    bytes[*rc::gen::inRange<size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  }
  const absl::StatusOr<Entry> entry = DecodeEntry(bytes, Hash{});
  if (entry.ok()) {
    RC_ASSERT(EncodeContent(entry->sequence, entry->time_micros, entry->body, entry->actor) ==
              bytes);
  }
}

TEST(FirstDifference, NamesTheField) {
  const BudgetSpec a{
      .id = "adult", .parent_id = "", .cap = PureEpsilonCap{1}, .privacy_unit = "person"};
  EXPECT_EQ(FirstDifference(a, a), "");
  BudgetSpec b = a;
  b.cap = PureEpsilonCap{2};
  EXPECT_EQ(FirstDifference(a, b), "cap");
  b = a;
  b.privacy_unit = "household";
  EXPECT_EQ(FirstDifference(a, b), "privacyUnit");
}

}  // namespace
}  // namespace epsledger::core
