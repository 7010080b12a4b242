#include "server/statement/statement.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/verify/statement_check.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "server/core/policy.h"
#include "server/statement/signing_key.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::statement {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHostile[] = "<script>alert(1)</script>\"'&\n--></style><b>";

class Statements : public ::testing::Test {
 protected:
  void SetUp() override {
    core::BudgetSpec spec{.id = "b",
                          .cap = core::ApproximateDpCap{.epsilon = 3, .delta = 1e-6},
                          .privacy_unit = kHostile};
    spec.description.display_name = kHostile;
    ASSERT_TRUE(harness_.Run(core::CreateBudget{spec}).ok());
    core::SessionSpec session = core::AdaptiveSession("b", "s");
    session.display_name = kHostile;
    session.claim = core::Claim{
        .status = core::ClaimStatus::kProven, .epsilon = 0.1, .delta = 1e-6, .source = kHostile};
    ASSERT_TRUE(harness_.Run(core::CreateSession{session}).ok());
    core::Provenance provenance{.sampler = core::Sampler::kPoisson};
    provenance.library = kHostile;
    ASSERT_TRUE(harness_.Run(core::OpenAttempt{{"b", "s"}, kHostile, provenance}).ok());
    harness_.Decide({"b", "s"}, 1, "c", accounting::Gaussian{30.0}, 40);
  }

  Statement Make(const std::string& session, double delta = 1e-5) {
    absl::StatusOr<Facts> facts = ReadFacts(harness_.ledger, "b", session, delta);
    EXPECT_TRUE(facts.ok()) << facts.status();
    auto statement =
        Compose(*std::move(facts), delta, "2026-01-02T03:04:05Z", "0.1.0", [] { return false; });
    EXPECT_TRUE(statement.ok()) << statement.status();
    return *std::move(statement);
  }

  core::LedgerHarness harness_;
};

TEST_F(Statements, JsonIsJsonAndSaysTheSameTwice) {
  for (const char* session : {"", "s"}) {
    const std::string json = ToJson(Make(session));
    EXPECT_EQ(json, ToJson(Make(session)));
    google::protobuf::Struct parsed;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &parsed).ok()) << json;
    const auto& resource = parsed.fields().at("resource").struct_value().fields();
    EXPECT_EQ(resource.at("displayName").string_value(), kHostile);
    EXPECT_EQ(resource.at("privacyUnit").string_value(), kHostile);
    EXPECT_EQ(resource.at("neighboringRelation").string_value(), "add-or-remove-one");
    EXPECT_EQ(parsed.fields().at("ledger").struct_value().fields().at("sequence").number_value(),
              harness_.ledger.head().sequence);
  }
}

TEST_F(Statements, SayWhoseTheyAre) {
  Facts facts = *ReadFacts(harness_.ledger, "b", "s", 1e-5);
  facts.tenant = "acme";
  facts.store = "0123456789abcdef";
  facts.server_name = "https://<privacy>.example";
  const Statement statement = *Compose(facts, 1e-5, "", "", [] { return false; });
  const std::string json = ToJson(statement);
  EXPECT_THAT(json, HasSubstr("\"ledger\":{\"tenant\":\"acme\",\"rootBudget\":\"budgets/b\""));
  EXPECT_THAT(json, HasSubstr("\"store\":\"0123456789abcdef\""));
  EXPECT_THAT(json, HasSubstr("\"server\":\"https://<privacy>.example\""));
  EXPECT_THAT(ToText(statement), HasSubstr("\n  tenant" + std::string(16, ' ') + "acme\n"));
  EXPECT_THAT(ToText(statement),
              HasSubstr("\n  store" + std::string(17, ' ') + "0123456789abcdef\n"));
  EXPECT_THAT(ToText(statement), HasSubstr("https://<privacy>.example, epsledger"));
  EXPECT_THAT(ToHtml(statement), HasSubstr("acme"));
  EXPECT_THAT(ToHtml(statement), HasSubstr("https://&lt;privacy&gt;.example"));
  // Two tenants may have budgets of one name.
  facts.tenant = "rival";
  const Statement other = *Compose(facts, 1e-5, "", "", [] { return false; });
  EXPECT_NE(ToJson(other), json);
  EXPECT_NE(ToText(other), ToText(statement));
}

// Before an attempt says what it divides by, and after.
TEST_F(Statements, NameTheDivisorUnderWhatIsNotCoveredUnlessItIsPublic) {
  const std::string about = "The number that noisy sums were divided by: ";
  const auto not_covered = [](const Statement& statement) {
    const std::string text = ToText(statement);
    const size_t from = text.find("Not covered\n");
    return text.substr(from, text.find("\nLedger\n") - from);
  };
  for (const char* session : {"", "s"}) {
    const Statement before = Make(session);
    EXPECT_THAT(not_covered(before), HasSubstr(about + "clients did not say"));
    EXPECT_THAT(ToHtml(before), HasSubstr(about + "clients did not say"));
    EXPECT_THAT(ToJson(before), HasSubstr("\"normalizers\":[\"\"]"));
  }
  const std::vector<std::pair<core::Normalizer, std::string>> declared = {
      {core::Normalizer::kPublicConstant, ""},
      {core::Normalizer::kExpectedFromPublicCount, ""},
      {core::Normalizer::kExpectedFromPrivateCount, "computed from the number of records"},
      {core::Normalizer::kSampledBatchSize, "in the batch that was drawn"}};
  for (const auto& [normalizer, words] : declared) {
    Facts facts = *ReadFacts(harness_.ledger, "b", "s", 1e-5);
    facts.normalizers = {normalizer};
    const Statement after = *Compose(facts, 1e-5, "", "", [] { return false; });
    EXPECT_THAT(ToText(after), HasSubstr(core::Name(normalizer)));
    if (words.empty()) {
      EXPECT_THAT(not_covered(after), Not(HasSubstr(about)));
    } else {
      EXPECT_THAT(not_covered(after), HasSubstr(about));
      EXPECT_THAT(not_covered(after), HasSubstr(words));
    }
  }
  // Data sets that differ in one replaced record have the same number of records, but not batches
  // of the same records.
  Facts facts = *ReadFacts(harness_.ledger, "b", "s", 1e-5);
  facts.relation = accounting::NeighboringRelation::kReplaceOne;
  facts.normalizers = {core::Normalizer::kExpectedFromPrivateCount};
  EXPECT_THAT(NotCovered(facts), testing::Not(testing::Contains(HasSubstr(about))));
  facts.normalizers = {core::Normalizer::kSampledBatchSize};
  EXPECT_THAT(NotCovered(facts), testing::Contains(HasSubstr(about)));
}

// However much was charged, a statement is a document that can be read.
TEST_F(Statements, SayHowMuchElseThereIsOfALongHistory) {
  Facts facts = *ReadFacts(harness_.ledger, "b", "s", 1e-5);
  const accounting::CountedEvent one = facts.history[0];
  accounting::Composed large;
  large.events.assign(1'000, one);
  facts.history.push_back({accounting::MechanismEvent(large), 7});
  const auto lines = [](Facts of) {
    return Compose(std::move(of), 1e-5, "", "", [] { return false; })->history;
  };
  EXPECT_THAT(lines(facts),
              testing::ElementsAre("40 x gaussian{noiseMultiplier: 30}",
                                   testing::MatchesRegex("7 x composed of [0-9]+ bytes")));
  facts.history.resize(kMaxHistoryLines, one);
  EXPECT_EQ(lines(facts).size(), kMaxHistoryLines);
  facts.history.resize(kMaxHistoryLines + 2'000, one);
  EXPECT_EQ(lines(facts).size(), kMaxHistoryLines + 1);
  EXPECT_EQ(lines(facts).back(),
            "and 2000 more kinds of event, which epsctl session history lists");
  // Fewer lines of more bytes.
  accounting::Composed wide;
  wide.events.assign(40, one);
  facts.history.assign(1'000, {accounting::MechanismEvent(wide), 1});
  const std::vector<std::string> few = lines(facts);
  EXPECT_LT(few.size(), 300u);
  EXPECT_THAT(few.back(), HasSubstr("more kinds of event"));
  EXPECT_EQ(few[0].size(), std::string("1 x ").size() + kMaxHistoryLineBytes);
}

TEST_F(Statements, UserTextIsNeverMarkup) {
  for (const char* session : {"", "s"}) {
    const std::string html = ToHtml(Make(session));
    EXPECT_THAT(html, Not(HasSubstr("<script")));
    EXPECT_THAT(html, Not(HasSubstr("<b>")));
    EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"));
    // One style sheet, and it is ours.
    EXPECT_EQ(html.find("</style>"), html.rfind("</style>"));
    EXPECT_THAT(html, Not(HasSubstr("http:")));
    EXPECT_THAT(html, Not(HasSubstr("https:")));
    const std::string text = ToText(Make(session));
    EXPECT_THAT(text, Not(HasSubstr("\n-->")));
  }
}

TEST_F(Statements, EpsilonIsTheSmallestProvenAndTheLimitTheoremNeverIs) {
  const Statement statement = Make("s");
  ASSERT_TRUE(statement.best.guarantee.has_value());
  const double best = *statement.best.guarantee->upper;
  bool approximation_seen = false;
  for (const Reading& reading : statement.readings) {
    if (!reading.guarantee.has_value()) {
      EXPECT_NE(reading.reason_unavailable, "");
      continue;
    }
    if (reading.guarantee->kind == accounting::GuaranteeKind::kUpperBound) {
      EXPECT_LE(best, *reading.guarantee->upper);
    } else {
      approximation_seen = true;
    }
  }
  EXPECT_EQ(statement.best.guarantee->kind, accounting::GuaranteeKind::kUpperBound);
  ASSERT_TRUE(approximation_seen);
  EXPECT_THAT(ToText(statement), HasSubstr("approximation, not a bound"));
  EXPECT_THAT(ToHtml(statement), HasSubstr("approximation, not a bound"));
  EXPECT_THAT(ToJson(statement), HasSubstr("\"kind\":\"APPROXIMATION\""));
}

TEST_F(Statements, BudgetStatesItsCapAsOneMechanism) {
  // At the cap's own delta its epsilon, above it a little less.
  EXPECT_EQ(*Make("", 1e-6).best.guarantee->upper, 3);
  EXPECT_EQ(Make("").facts.caps[0].name, "budgets/b");
  EXPECT_LT(*Make("", 1e-5).best.guarantee->upper, 3);
  EXPECT_GT(*Make("", 1e-5).best.guarantee->upper, 2.9999);
  // Below the cap's delta nothing is promised.
  const Statement below = Make("", 1e-7);
  EXPECT_EQ(*below.best.guarantee->upper, std::numeric_limits<double>::infinity());
  EXPECT_THAT(ToText(below), HasSubstr("infinity"));
}

core::AuditRecord Found(double epsilon, double delta) {
  return {.method = accounting::AuditMethod::kTwoArmThreshold,
          .hypothesis = accounting::AuditHypothesis::kNone,
          .epsilon_lower = epsilon,
          .delta = delta,
          .confidence = 0.95,
          .trials = 2000,
          .source = kHostile};
}

TEST_F(Statements, UnprovenClaimIsShownAsAClaimOnly) {
  // Nothing of it was charged, and still there is no epsilon.
  core::SessionSpec spec = core::AdaptiveSession("b", "u");
  spec.claim = core::Claim{.status = core::ClaimStatus::kCounterexampleKnown,
                           .epsilon = 0.1,
                           .delta = 1e-6,
                           .source = "Theorem 3.3"};
  ASSERT_TRUE(harness_.Run(core::CreateSession{spec}).ok());
  ASSERT_TRUE(harness_.Run(core::RecordAudit{{"b", "u"}, Found(6.3, 1e-5)}).ok());
  const Statement statement = Make("u");
  EXPECT_FALSE(HasFiniteEpsilon(statement));
  for (const Reading& reading : statement.readings) {
    if (reading.guarantee.has_value() && reading.guarantee->upper.has_value()) {
      EXPECT_TRUE(std::isinf(*reading.guarantee->upper)) << reading.by;
    }
  }
  EXPECT_THAT(
      Warnings(statement),
      ::testing::ElementsAre(
          "This session is as published; claimed guarantee not proven (counterexample_known): no "
          "epsilon of it is proven.",
          "An audit exceeds the claim: epsilon is at least 6.3 at delta 1e-05, confidence 0.95 "
          "(TWO_ARM_THRESHOLD, 2000 trials)."));
  for (const std::string& form : {ToText(statement), ToHtml(statement)}) {
    EXPECT_THAT(form, HasSubstr("as published; claimed guarantee not proven"));
    EXPECT_THAT(form, HasSubstr("counterexample_known"));
    EXPECT_THAT(form, HasSubstr("not a result of this ledger"));
    EXPECT_THAT(form, HasSubstr("none is proven"));
  }
  EXPECT_THAT(ToJson(statement),
              HasSubstr("\"label\":\"as published; claimed guarantee not proven\","
                        "\"counterexampleKnown\":true"));
  EXPECT_THAT(ToJson(statement), HasSubstr("\"exceedsClaim\":true,\"exceedsProven\":false"));
}

TEST_F(Statements, AuditsStandBesideWhatIsProven) {
  // 40 Gaussian steps with noise multiplier 30: mu = .2108, epsilon(1e-5) = .76.
  ASSERT_TRUE(harness_.Run(core::RecordAudit{{"b", "s"}, Found(0.05, 1e-5)}).ok());
  const Statement below = Make("s");
  EXPECT_THAT(Warnings(below), ::testing::IsEmpty());
  for (const std::string& form : {ToText(below), ToHtml(below)}) {
    EXPECT_THAT(form, HasSubstr("epsilon is at least 0.05 at delta 1e-05, confidence 0.95"));
  }
  EXPECT_THAT(ToHtml(below), Not(HasSubstr("<script")));
  EXPECT_THAT(ToText(below), Not(HasSubstr("\n-->")));
  // Above the claim of .1 at 1e-6, then above the proven epsilon as well; each at its own delta.
  ASSERT_TRUE(harness_.Run(core::RecordAudit{{"b", "s"}, Found(0.5, 1e-5)}).ok());
  ASSERT_TRUE(harness_.Run(core::RecordAudit{{"b", "s"}, Found(0.9, 1e-5)}).ok());
  ASSERT_TRUE(harness_.Run(core::RecordAudit{{"b", "s"}, Found(0.9, 1e-8)}).ok());
  const Statement above = Make("s");
  ASSERT_EQ(above.audited.size(), 4u);
  EXPECT_TRUE(above.audited[1].exceeds_claim);
  EXPECT_FALSE(above.audited[1].exceeds_proven);
  EXPECT_TRUE(above.audited[2].exceeds_claim);
  EXPECT_TRUE(above.audited[2].exceeds_proven);
  // Claimed at 1e-6, which says nothing of 1e-8; and epsilon(1e-8) = 1.1.
  EXPECT_FALSE(above.audited[3].exceeds_claim);
  EXPECT_FALSE(above.audited[3].exceeds_proven);
  EXPECT_THAT(ToText(above), HasSubstr("ABOVE THE PROVEN EPSILON"));
  EXPECT_THAT(ToHtml(above), HasSubstr("Above the proven epsilon."));
  EXPECT_THAT(Warnings(above), ::testing::SizeIs(3));
}

TEST(StatementOfNoGuarantee, HasNoEpsilonWhateverWasCharged) {
  core::LedgerHarness harness;
  ASSERT_TRUE(harness
                  .Run(core::CreateBudget{
                      {.id = "b", .cap = core::NoGuaranteeCap{}, .privacy_unit = "person"}})
                  .ok());
  auto facts = ReadFacts(harness.ledger, "b", "", 1e-5);
  ASSERT_TRUE(facts.ok());
  const auto statement = Compose(*std::move(facts), 1e-5, "", "", [] { return false; });
  ASSERT_TRUE(statement.ok());
  EXPECT_FALSE(HasFiniteEpsilon(*statement));
  EXPECT_THAT(ToText(*statement), HasSubstr("no guarantee"));
}

TEST_F(Statements, SupersededBudgetIsVoid) {
  EXPECT_THAT(ToText(Make("")), Not(HasSubstr("VOID")));
  ASSERT_TRUE(harness_
                  .Run(core::SupersedeBudget{
                      "b", "c", core::ApproximateDpCap{.epsilon = 5, .delta = 1e-6}, "more"})
                  .ok());
  for (const char* session : {"", "s"}) {
    const Statement statement = Make(session);
    EXPECT_THAT(Warnings(statement).front(), HasSubstr("budgets/b is void"));
    EXPECT_THAT(ToText(statement), HasSubstr("VOID"));
    EXPECT_THAT(ToJson(statement), HasSubstr("\"void\":true,\"supersededBy\":\"budgets/c\""));
  }
}

TEST_F(Statements, DeclaredSessionStatesItsWholePlan) {
  ASSERT_TRUE(harness_
                  .Run(core::CreateSession{core::DeclaredSession(
                      "b", "d", {{accounting::MechanismEvent(accounting::Gaussian{20.0}), 10}})})
                  .ok());
  const Statement nothing_drawn = Make("d");
  EXPECT_GT(*nothing_drawn.best.guarantee->upper, 0);
  EXPECT_THAT(ToText(nothing_drawn), HasSubstr("whole plan"));
}

TEST_F(Statements, SignatureHoldsAndFailsAfterAnyChange) {
  const SigningKey key = *SigningKey::Generate();
  const Statement statement = Make("s");
  v1::PrivacyStatement message;
  message.set_json(ToJson(statement));
  message.set_text(ToText(statement));
  message.set_html(ToHtml(statement));
  message.set_signature(*key.Sign(message.json()));
  message.set_public_key(key.public_key());
  message.mutable_head()->set_root_budget("budgets/b");
  message.mutable_head()->set_sequence(harness_.ledger.head().sequence);
  const core::Hash& hash = harness_.ledger.head().hash;
  message.mutable_head()->set_hash(hash.data(), hash.size());
  const core::Hash root = harness_.ledger.merkle().Root();
  message.mutable_head()->set_merkle_root(root.data(), root.size());
  ASSERT_TRUE(cli::CheckStatement(message, key.public_key()).ok());

  const auto is_bad = [&](const v1::PrivacyStatement& changed) {
    return cli::CheckStatement(changed, key.public_key()).code() == absl::StatusCode::kDataLoss;
  };
  using Part = std::string* (v1::PrivacyStatement::*)();
  for (const Part part :
       {Part{&v1::PrivacyStatement::mutable_json}, Part{&v1::PrivacyStatement::mutable_text},
        Part{&v1::PrivacyStatement::mutable_html}, Part{&v1::PrivacyStatement::mutable_signature},
        Part{&v1::PrivacyStatement::mutable_public_key}}) {
    v1::PrivacyStatement changed = message;
    std::string& bytes = *(changed.*part)();
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>(bytes[i] ^ 1);
      EXPECT_TRUE(is_bad(changed)) << i;
      bytes[i] = static_cast<char>(bytes[i] ^ 1);
    }
    bytes.pop_back();
    EXPECT_TRUE(is_bad(changed));
  }
  v1::PrivacyStatement changed = message;
  changed.mutable_head()->set_sequence(message.head().sequence() - 1);
  EXPECT_TRUE(is_bad(changed));
  changed = message;
  changed.mutable_head()->set_merkle_root(std::string(32, 'x'));
  EXPECT_TRUE(is_bad(changed));
  EXPECT_EQ(cli::CheckStatement(message, SigningKey::Generate()->public_key()).code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(cli::CheckStatement(message, "short").code(), absl::StatusCode::kInvalidArgument);
}

TEST(ShownRoundedUp, IsNeverBelowTheNumber) {
  for (const double value : {0.0, 1.0, 3.00000049, 1e-20, 123456.789, 0.9999999, 999999.5, 1e300,
                             2.0 / 3, 1.2345674999}) {
    EXPECT_GE(std::strtod(ShownRoundedUp(value).c_str(), nullptr), value);
    EXPECT_LE(std::strtod(ShownRoundedDown(value).c_str(), nullptr), value);
    EXPECT_LE(std::strtod(ShownRoundedUp(value).c_str(), nullptr), value * (1 + 2e-5));
  }
  EXPECT_EQ(ShownRoundedUp(3), "3");
  EXPECT_EQ(ShownRoundedUp(3.0000001), "3.00001");
  EXPECT_EQ(ShownRoundedUp(std::numeric_limits<double>::infinity()), "infinity");
}

}  // namespace
}  // namespace epsledger::statement
