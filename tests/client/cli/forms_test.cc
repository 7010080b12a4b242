// What a form takes from a statement and from its answers, and what it refuses.

#include "client/cli/forms/forms.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace epsledger::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

nlohmann::json StatementJson() {
  return nlohmann::json::parse(R"({
    "resource": {"name": "budgets/b/sessions/s", "privacyUnit": "person <i>",
                 "neighboringRelation": "replace-one", "acceptedChargeCount": 2,
                 "refusedChargeCount": 0, "history": ["2 x gaussian{noiseMultiplier: 1}"]},
    "delta": 1e-10,
    "epsilon": {"by": "PLD", "epsilon": 2.5000001, "shown": "2.50001", "theorem": "a theorem"},
    "covers": "One session.", "warnings": ["It holds an unverified claim."],
    "caps": [{"name": "budgets/b", "cap": "(3, 1e-05)-DP", "void": true}],
    "sampling": {"newestAttempt": {"library": "lib", "libraryVersion": "1"}, "caveat": "Claims."},
    "notCovered": ["Side channels."],
    "ledger": {"rootBudget": "budgets/b", "sequence": 9, "hash": "ab"},
    "time": "2026-11-28T00:00:00Z", "serverVersion": "0.1.0"})");
}

v1::PrivacyStatement Statement(const nlohmann::json& json) {
  v1::PrivacyStatement statement;
  statement.set_json(json.dump());
  statement.set_signature("signature");
  statement.set_public_key("key");
  return statement;
}

constexpr char kAnswers[] =
    R"({"name": "A: model", "curators": ["C"], "description": "d", "intendedUse": "u",
        "productType": "Dataset", "region": "r", "publicationDate": "2026-11-28",
        "authors": ["a"]})";

std::string Filled(FormKind kind, const nlohmann::json& json) {
  const auto form = FillForm(kind, Statement(json), *FormAnswers::Parse(kAnswers), {});
  EXPECT_TRUE(form.ok()) << form.status();
  return form.ok() ? form->text : "";
}

TEST(Forms, SayTheGuaranteeTheCapsAndEveryWarning) {
  for (const FormKind kind :
       {FormKind::kOpenDpRegistry, FormKind::kNist800226, FormKind::kModelCard}) {
    const std::string text = Filled(kind, StatementJson());
    EXPECT_THAT(text, HasSubstr("2.50001"));
    EXPECT_THAT(text, HasSubstr("1.0e-10"));
    EXPECT_THAT(text, HasSubstr("WARNING: It holds an unverified claim."));
    EXPECT_THAT(text, HasSubstr("budgets/b, (3, 1e-05)-DP, void."));
    EXPECT_THAT(text, HasSubstr("Side channels."));
    EXPECT_THAT(text, HasSubstr("are replaced by those of another"));
  }
}

TEST(Forms, InMarkdownShowTextsAsTheyAre) {
  const std::string card = Filled(FormKind::kModelCard, StatementJson());
  EXPECT_THAT(card, HasSubstr("person &lt;i>"));
  EXPECT_THAT(card, Not(HasSubstr("<i>")));
}

TEST(Forms, OfTheRegistryNeedANumberAndWhatItsSchemaWants) {
  nlohmann::json unbounded = StatementJson();
  unbounded["epsilon"] = {{"by", "BEST"}, {"epsilon", "Infinity"}, {"shown", "inf"}};
  const FormAnswers answers = *FormAnswers::Parse(kAnswers);
  const FormKind registry = FormKind::kOpenDpRegistry;
  EXPECT_EQ(FillForm(registry, Statement(unbounded), answers, {}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  unbounded["epsilon"] = {{"by", "BEST"}, {"reasonUnavailable", "nobody knows it"}};
  EXPECT_EQ(FillForm(registry, Statement(unbounded), answers, {}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Filled(FormKind::kNist800226, unbounded), HasSubstr("no guarantee can be stated"));
  EXPECT_THAT(Filled(FormKind::kOpenLineage, unbounded),
              HasSubstr("\"epsilonUpperBound\": \"unknown\""));
  const auto missing = FillForm(registry, Statement(StatementJson()), FormAnswers(), {});
  for (const char* key : {"name", "curators", "description", "intendedUse", "productType", "region",
                          "publicationDate", "authors"}) {
    EXPECT_THAT(std::string(missing.status().message()), HasSubstr(key));
  }
  for (const char* day : {"28.11.2026", "2026-13-01", "2026-02-29", "2026-11-31", "0000-01-01",
                          "2026-11-2x", "2026-11-28 "}) {
    nlohmann::json json = nlohmann::json::parse(kAnswers);
    json["publicationDate"] = day;
    const auto form =
        FillForm(registry, Statement(StatementJson()), *FormAnswers::Parse(json.dump()), {});
    EXPECT_THAT(std::string(form.status().message()), HasSubstr("publicationDate")) << day;
  }
}

TEST(FormAnswers, AreCheckedByKeyKindAndChoice) {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "answers"},
           {"{\"name\": \"a\", \"name\": \"b\"}", "answers"},
           {"{\"nam\": \"a\"}", "nam: no form asks that; want one of: name, curators"},
           {"{\"name\": 7}", "name: want a text"},
           {"{\"name\": \"\"}", "name: want a text"},
           {"{\"name\": [\"a\"]}", "name: want a text"},
           {"{\"name\": \"a\\u001b[2J\"}", "control characters"},
           {"{\"curators\": \"a\"}", "curators: want a list"},
           {"{\"curators\": []}", "curators: want a list"},
           {"{\"curators\": [7]}", "curators: want a text"},
           {"{\"productType\": \"Model\"}", "productType: got \"Model\", want one of"}}) {
    const auto answers = FormAnswers::Parse(text);
    EXPECT_EQ(answers.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(answers.status().message()), HasSubstr(why)) << text;
  }
  EXPECT_EQ(FormAnswers::Parse("{\"notes\": \"a\\nb\"}")->Text("notes"), "a\nb");
}

TEST(FormNamed, KnowsItsNamesAndSaysThem) {
  for (const std::string& name : FormNames()) EXPECT_TRUE(FormNamed(name).ok()) << name;
  EXPECT_THAT(std::string(FormNamed("pdf").status().message()), HasSubstr("in-toto"));
}

}  // namespace
}  // namespace epsledger::cli
