// What attempts declare that they divide noisy sums by, the library versions with known faults, and
// the policies about both.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/core/codec.h"
#include "server/core/known_faults.h"
#include "server/core/policy.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using accounting::PureDp;

const std::vector<std::optional<Normalizer>> kEveryNormalizer = {
    std::nullopt, Normalizer::kPublicConstant, Normalizer::kExpectedFromPublicCount,
    Normalizer::kExpectedFromPrivateCount, Normalizer::kSampledBatchSize};

Provenance Dividing(std::optional<Normalizer> normalizer) {
  Provenance provenance{
      .sampler = Sampler::kPoisson, .clip_norm = 1, .library = "trainer", .library_version = "1"};
  provenance.normalizer = normalizer;
  return provenance;
}

Provenance Of(const std::string& library, const std::string& version) {
  Provenance provenance = Dividing(std::nullopt);
  provenance.library = library;
  provenance.library_version = version;
  return provenance;
}

class NormalizerTest : public testing::Test {
 protected:
  void Budget(const std::string& id, std::optional<Policy> policy, const std::string& parent = "") {
    BudgetSpec spec = PureBudget(id, 10, parent);
    spec.policy = std::move(policy);
    ASSERT_TRUE(harness_.Run(CreateBudget{spec}).ok());
    ASSERT_TRUE(harness_.Run(CreateSession{AdaptiveSession(id, "s")}).ok());
  }
  absl::Status Open(const std::string& budget, const Provenance& provenance) {
    return harness_.Run(OpenAttempt{{budget, "s"}, "", provenance}).status();
  }
  LedgerHarness harness_;
};

TEST_F(NormalizerTest, APolicyTakesWhatItListsAndRefusesTheRestAndWhatIsNotSaid) {
  for (size_t allowed = 1; allowed < kEveryNormalizer.size(); ++allowed) {
    LedgerHarness harness;
    BudgetSpec spec = PureBudget("b", 1);
    spec.policy = Policy{.allowed_normalizers = {*kEveryNormalizer[allowed]}};
    ASSERT_TRUE(harness.Run(CreateBudget{spec}).ok());
    ASSERT_TRUE(harness.Run(CreateSession{AdaptiveSession("b", "s")}).ok());
    for (size_t declared = 0; declared < kEveryNormalizer.size(); ++declared) {
      const absl::Status opened =
          harness.Run(OpenAttempt{{"b", "s"}, "", Dividing(kEveryNormalizer[declared])}).status();
      EXPECT_EQ(opened.ok(), declared == allowed) << opened;
      if (declared != allowed) {
        EXPECT_EQ(opened.code(), absl::StatusCode::kFailedPrecondition);
        EXPECT_NE(opened.message().find("provenance.normalizer: got "), opened.message().npos);
        EXPECT_NE(opened.message().find(Name(*kEveryNormalizer[allowed])), opened.message().npos);
      }
    }
    EXPECT_EQ(harness.ledger.FindSession({"b", "s"})->current_attempt, 1);
  }
}

TEST_F(NormalizerTest, WithoutAPolicyEveryDeclarationIsCharged) {
  Budget("b", std::nullopt);
  int64_t attempt = 0;
  for (const auto& normalizer : kEveryNormalizer) {
    ASSERT_TRUE(Open("b", Dividing(normalizer)).ok());
    EXPECT_FALSE(harness_.Decide({"b", "s"}, ++attempt, "c", PureDp{0.1}).row.refusal.has_value());
  }
  const std::set<std::optional<Normalizer>> all(kEveryNormalizer.begin(), kEveryNormalizer.end());
  EXPECT_EQ(harness_.ledger.FindSession({"b", "s"})->normalizers, all);
  EXPECT_EQ(harness_.ledger.FindBudget("b")->normalizers, all);
}

TEST_F(NormalizerTest, ThePoliciesOfAllBudgetsAboveHold) {
  Budget("root", Policy{.allowed_normalizers = {Normalizer::kPublicConstant}});
  Budget(
      "child",
      Policy{.allowed_normalizers = {Normalizer::kPublicConstant, Normalizer::kSampledBatchSize}},
      "root");
  EXPECT_FALSE(Open("child", Dividing(Normalizer::kSampledBatchSize)).ok());
  EXPECT_TRUE(Open("child", Dividing(Normalizer::kPublicConstant)).ok());
}

// An attempt counts from its first accepted charge on, at every budget above.
TEST_F(NormalizerTest, ABudgetKnowsWhatWasDividedByBelowIt) {
  Budget("root", std::nullopt);
  Budget("child", std::nullopt, "root");
  ASSERT_TRUE(Open("child", Dividing(Normalizer::kSampledBatchSize)).ok());
  EXPECT_TRUE(harness_.ledger.FindBudget("root")->normalizers.empty());
  ASSERT_TRUE(harness_.Decide({"child", "s"}, 1, "a", PureDp{100}).row.refusal.has_value());
  EXPECT_TRUE(harness_.ledger.FindBudget("root")->normalizers.empty());
  ASSERT_FALSE(harness_.Decide({"child", "s"}, 1, "b", PureDp{1}).row.refusal.has_value());
  const std::set<std::optional<Normalizer>> sampled = {Normalizer::kSampledBatchSize};
  EXPECT_EQ(harness_.ledger.FindBudget("child")->normalizers, sampled);
  EXPECT_EQ(harness_.ledger.FindBudget("root")->normalizers, sampled);
}

TEST_F(NormalizerTest, ARestartKnowsTheSame) {
  Budget("b", Policy{.allowed_samplers = {Sampler::kPoisson},
                     .allowed_normalizers = {Normalizer::kPublicConstant},
                     .known_faults_refused = true});
  ASSERT_TRUE(Open("b", Dividing(Normalizer::kPublicConstant)).ok());
  ASSERT_FALSE(harness_.Decide({"b", "s"}, 1, "c", PureDp{1}).row.refusal.has_value());
  LedgerHarness restarted;
  for (const Entry& entry : harness_.entries) {
    const absl::StatusOr<Entry> read = DecodeEntry(entry.content, entry.hash);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(EncodeContent(read->sequence, read->time_micros, read->body, read->actor),
              entry.content);
    ASSERT_TRUE(restarted.Restore(*read));
  }
  const SessionState& session = *restarted.ledger.FindSession({"b", "s"});
  EXPECT_EQ(session.provenance.normalizer, Normalizer::kPublicConstant);
  EXPECT_EQ(session.normalizers, harness_.ledger.FindSession({"b", "s"})->normalizers);
  const Policy& policy = *restarted.ledger.FindBudget("b")->spec.policy;
  EXPECT_EQ(policy.allowed_normalizers, std::vector<Normalizer>{Normalizer::kPublicConstant});
  EXPECT_TRUE(policy.known_faults_refused);
  EXPECT_EQ(policy.allowed_samplers, std::vector<Sampler>{Sampler::kPoisson});
}

// Entries without the new fields have the bytes of release 0.1.0, so hashes do not change.
TEST(NormalizerCodec, WhatDoesNotDeclareItKeepsItsBytes) {
  AttemptOpened opened{
      .session_number = 1, .attempt = 2, .client_description = "", .provenance = {}};
  const std::string plain = EncodeContent(1, 0, opened, std::nullopt);
  // sequence, time, tag 4, session, attempt, "", no sampler, clip norm 0, "", "".
  const std::string fields = std::string("\1", 1) + std::string("\0\0\0\0\0\0\0\1", 8) +
                             std::string(8, '\0') + "\4" + std::string("\0\0\0\0\0\0\0\1", 8) +
                             std::string("\0\0\0\0\0\0\0\2", 8) + std::string(4, '\0') +
                             std::string(1, '\0') + std::string(8, '\0') + std::string(8, '\0');
  EXPECT_EQ(plain, fields);
  opened.provenance.normalizer = Normalizer::kSampledBatchSize;
  const std::string declared = EncodeContent(1, 0, opened, std::nullopt);
  // The mark and the value stand in front of the sampler.
  const size_t at = fields.size() - 17;
  EXPECT_EQ(declared, fields.substr(0, at) + "\2\4" + fields.substr(at));
  for (char unknown : {'\0', '\5', '\x7f'}) {
    std::string wrong = declared;
    wrong[at + 1] = unknown;
    EXPECT_FALSE(DecodeEntry(wrong, Hash{}).ok()) << static_cast<int>(unknown);
  }
}

TEST(KnownFaults, EachHasASourceARangeAndADate) {
  ASSERT_FALSE(KnownFaults().empty());
  for (const KnownFault& fault : KnownFaults()) {
    EXPECT_FALSE(fault.library.empty());
    EXPECT_FALSE(fault.what.empty());
    EXPECT_TRUE(fault.source.starts_with("https://")) << fault.what;
    EXPECT_FALSE(fault.first.empty());
    EXPECT_FALSE(fault.newest_checked.empty()) << fault.what;
    ASSERT_EQ(fault.date.size(), 10u) << fault.date;
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(std::isdigit(static_cast<unsigned char>(fault.date[i])) != 0, i != 4 && i != 7);
    }
    // The ends of its own range have it, and the version with the fix does not have this one.
    const auto told = [&](std::string_view version) {
      Provenance provenance = Of(std::string(fault.library), std::string(version));
      const std::optional<std::string> said = FaultOf(provenance);
      return said.has_value() && said->find(std::string(fault.source)) != said->npos;
    };
    EXPECT_TRUE(FaultOf(Of(std::string(fault.library), std::string(fault.first))).has_value());
    EXPECT_TRUE(
        FaultOf(Of(std::string(fault.library), std::string(fault.newest_checked))).has_value());
    if (!fault.fixed_in.empty()) {
      EXPECT_FALSE(told(fault.fixed_in)) << fault.what;
    }
  }
}

TEST(KnownFaults, VersionsAreComparedAsNumbers) {
  Provenance opacus = Of("Opacus", "1.6.0");
  EXPECT_TRUE(FaultOf(opacus).has_value()) << "divides by an expected batch size of private n";
  opacus.normalizer = Normalizer::kExpectedFromPrivateCount;
  EXPECT_TRUE(FaultOf(opacus).has_value());
  for (const Normalizer is_public :
       {Normalizer::kPublicConstant, Normalizer::kExpectedFromPublicCount}) {
    opacus.normalizer = is_public;
    EXPECT_EQ(FaultOf(opacus), std::nullopt);
  }
  for (const char* faulty : {"1.5", "1.5.0", "v1.5.2", "1.5.4", "1.6.0rc1", "1.6.0.dev3", "1.3"}) {
    opacus.library_version = faulty;
    EXPECT_TRUE(FaultOf(opacus).has_value()) << faulty;
  }
  for (const char* without : {"1.6", "1.6.0+cu126", "1.6.0.post1", "1.10.0", "2"}) {
    opacus.library_version = without;
    EXPECT_EQ(FaultOf(opacus), std::nullopt) << without;
  }
  for (const char* before : {"0.15.4", "0.99.post1"}) {
    opacus.library_version = before;
    EXPECT_EQ(FaultOf(opacus), std::nullopt) << before;
  }
  for (const char* faulty : {"1.5.post1", "1.5-1", "1.5.0-1", "1.5.0.r1", "1.3.0rc1", "1.5.0.POST2",
                             "1.5.0.post1.dev2", "01.05"}) {
    opacus.library_version = faulty;
    EXPECT_TRUE(FaultOf(opacus).has_value()) << faulty;
  }
  // What is not understood is not taken for old.
  for (const char* incomparable :
       {"",     "main",   "unknown",   "0!1.5.0", "v0!1.5", "1!1.5",    "1.0.0 ",
        " 1.5", "1 .5",   "1..5",      "1,5",     "1_5",    "1.\u0665", "0x1.5",
        "1e0",  "1.6.0+", "1.6.0+a b", "2-",      "2.",     "vv2"}) {
    opacus.library_version = incomparable;
    EXPECT_TRUE(FaultOf(opacus).has_value()) << incomparable;
  }
  EXPECT_TRUE(FaultOf(Of("", "1")).has_value());
  EXPECT_EQ(FaultOf(Of("a-library-of-ones-own", "0.1")), std::nullopt);
  for (const char* name : {" opacus", "opacus ", "opacus\u200b", "opacus==1.5", "opacus[dev]",
                           "opacus.", "-opacus", "ope\u0301", " "}) {
    EXPECT_TRUE(FaultOf(Of(name, "1.6.0+own")).has_value()) << name;
  }
  for (const char* name :
       {"jax.privacy.keras.api", "jax__privacy.keras_api", "JAX-Privacy.Keras-API"}) {
    EXPECT_TRUE(FaultOf(Of(name, "1.0.0")).has_value()) << name;
  }
}

TEST(KnownFaults, ASamplerThatIsNotPoissonAvoidsWhatIsWrongAboutPoisson) {
  Provenance keras = Of("jax-privacy.keras-api", "1.0.0");
  EXPECT_TRUE(FaultOf(keras).has_value());
  keras.sampler = Sampler::kShuffled;
  EXPECT_EQ(FaultOf(keras), std::nullopt);
  keras.sampler = std::nullopt;
  EXPECT_TRUE(FaultOf(keras).has_value()) << "what is not said avoids nothing";
}

TEST_F(NormalizerTest, APolicyRefusesLibrariesWithKnownFaults) {
  Budget("b", Policy{.known_faults_refused = true});
  const absl::Status old = Open("b", Of("opacus", "1.5.3"));
  EXPECT_EQ(old.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(old.message().find("https://github.com/"), old.message().npos) << old;
  EXPECT_FALSE(Open("b", Of("opacus", "1.6.0")).ok());
  Provenance corrected = Of("opacus", "1.6.0");
  corrected.normalizer = Normalizer::kPublicConstant;
  EXPECT_TRUE(Open("b", corrected).ok());
  EXPECT_FALSE(harness_.Decide({"b", "s"}, 1, "c", PureDp{1}).row.refusal.has_value());
}

TEST_F(NormalizerTest, ARequiredProvenanceIsNotMetByBlanks) {
  Budget("b", Policy{.provenance_required = true});
  Provenance complete = Of("opacus", "1.6.0");
  complete.sampler = Sampler::kPoisson;
  complete.clip_norm = 1;
  for (const char* blank : {"", " ", "\t", "\u200b"}) {
    Provenance without = complete;
    without.library = blank;
    EXPECT_THAT(std::string(Open("b", without).message()),
                testing::HasSubstr("provenance.library:"));
    without = complete;
    without.library_version = blank;
    EXPECT_THAT(std::string(Open("b", without).message()),
                testing::HasSubstr("provenance.libraryVersion:"));
  }
  EXPECT_TRUE(Open("b", complete).ok());
}

}  // namespace
}  // namespace epsledger::core
