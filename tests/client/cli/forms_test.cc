// What a form takes from a statement and from its answers, and what it refuses.

#include "client/cli/forms/forms.h"

#include <string>
#include <utility>
#include <vector>

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
    "epsilon": {"by": "PLD", "kind": "UPPER_BOUND", "epsilon": 2.5000001, "shown": "2.50001",
                "theorem": "a theorem"},
    "covers": "One session.", "warnings": ["It holds an unverified claim."],
    "caps": [{"name": "budgets/b", "cap": "(3, 1e-05)-DP", "void": true,
              "supersededBy": "budgets/c"}],
    "sampling": {"newestAttempt": {"library": "lib", "libraryVersion": "1"}, "caveat": "Claims."},
    "notCovered": ["Side channels."],
    "ledger": {"rootBudget": "budgets/b", "sequence": 9, "hash": "ab", "merkleRoot": "cd"},
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

nlohmann::json Facet(const nlohmann::json& json) {
  return nlohmann::json::parse(Filled(FormKind::kOpenLineage, json))["epsledger_privacyStatement"];
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
  const FormAnswers answers = *FormAnswers::Parse(kAnswers);
  const FormKind registry = FormKind::kOpenDpRegistry;
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

TEST(Forms, SayInfinityInTheWordOfTheirLanguage) {
  for (const char* shown : {"infinity", "Infinity", "inf"}) {
    nlohmann::json unbounded = StatementJson();
    unbounded["epsilon"]["epsilon"] = "Infinity";
    unbounded["epsilon"]["shown"] = shown;
    // YAML reads ".inf" as a number and "infinity" as a text.
    EXPECT_THAT(Filled(FormKind::kOpenDpRegistry, unbounded), HasSubstr("epsilon: .inf\n"));
    for (const FormKind kind : {FormKind::kNist800226, FormKind::kModelCard}) {
      EXPECT_THAT(Filled(kind, unbounded), HasSubstr("no guarantee can be stated"));
      EXPECT_THAT(Filled(kind, unbounded), Not(HasSubstr("epsilon inf")));
    }
    EXPECT_EQ(Facet(unbounded)["epsilonUpperBound"], nlohmann::json("Infinity"));
  }
}

// Returns the line that holds `word`.
std::string LineWith(const std::string& word, const std::string& text) {
  const size_t at = text.find(word);
  if (at == text.npos) return "";
  const size_t start = text.rfind('\n', at) + 1;
  return text.substr(start, text.find('\n', at) - start);
}

TEST(Forms, SayBesideTheGuaranteeWhatTakesFromIt) {
  const std::vector<std::pair<FormKind, const char*>> places = {
      {FormKind::kNist800226, "**Guarantee:**"},
      {FormKind::kModelCard, "| guarantee |"},
      {FormKind::kOpenDpRegistry, "privacy_parameters_details:"}};
  const auto hurt = StatementJson();
  auto sound = StatementJson();
  sound["warnings"] = nlohmann::json::array();
  sound["caps"][0]["void"] = false;
  sound["caps"][0]["supersededBy"] = "";
  auto only_void = hurt;
  only_void["warnings"] = nlohmann::json::array();
  for (const auto& [kind, place] : places) {
    const std::string line = LineWith(place, Filled(kind, hurt));
    EXPECT_THAT(line, HasSubstr("VOID: the guarantee of budgets/b, which was superseded by "
                                "budgets/c. WARNING: It holds an unverified claim. "));
    if (kind != FormKind::kOpenDpRegistry) {  // before the number
      EXPECT_LT(line.find("WARNING"), line.find("epsilon 2.50001"));
    }
    EXPECT_THAT(LineWith(place, Filled(kind, only_void)), HasSubstr("VOID"));
    const std::string clean = LineWith(place, Filled(kind, sound));
    EXPECT_FALSE(clean.empty());
    EXPECT_THAT(clean, Not(HasSubstr("VOID")));
    EXPECT_THAT(clean, Not(HasSubstr("WARNING")));
  }
  EXPECT_EQ(Facet(hurt)["void"], nlohmann::json(true));
  EXPECT_EQ(Facet(hurt)["voidGuaranteesOf"], nlohmann::json::array({"budgets/b"}));
  EXPECT_EQ(Facet(hurt)["warnings"], hurt["warnings"]);
  EXPECT_EQ(Facet(hurt)["covers"], nlohmann::json("One session."));
  EXPECT_EQ(Facet(sound)["void"], nlohmann::json(false));
  EXPECT_EQ(Facet(sound)["warnings"], nlohmann::json::array());
}

// Every field that a form takes: where it is, what it may not be, and what the error says of it.
TEST(Forms, RefuseAStatementWithAWrongFieldAndNameIt) {
  struct Row {
    const char* pointer;
    const char* value;  // "": the field is missing
    const char* says;
  };
  for (const Row& row : std::vector<Row>{
           {"/delta", "true", "statement's delta: got true, want a number in [0, 1]"},
           {"/delta", "", "statement's delta: got nothing, want a number in [0, 1]"},
           {"/delta", "\"1e-5\"", "statement's delta: got \"1e-5\""},
           {"/delta", "-1e-9", "statement's delta: got -1e-09"},
           {"/delta", "1.5", "statement's delta: got 1.5"},
           {"/epsilon", "null", "statement's epsilon: got null, want an object"},
           {"/epsilon/epsilon", "", "epsilon.epsilon: got nothing"},
           {"/epsilon/epsilon", "true", "epsilon.epsilon: got true"},
           {"/epsilon/epsilon", "-1", "epsilon.epsilon: got -1, want a number of at least 0"},
           {"/epsilon/epsilon", "\"NaN\"", "epsilon.epsilon: got \"NaN\""},
           {"/epsilon/epsilon", "\"-Infinity\"", "epsilon.epsilon: got \"-Infinity\""},
           {"/epsilon/epsilon", "\"Infinity\"", "epsilon.shown: got \"2.50001\""},
           {"/epsilon/epsilon", "2.6",
            "epsilon.shown: got \"2.50001\", want a number that is at "
            "least epsilon.epsilon, 2.6"},
           {"/epsilon/shown", "", "epsilon.shown: got nothing"},
           {"/epsilon/shown", "2.50001", "epsilon.shown: got 2.50001, want a text"},
           {"/epsilon/shown", "\"0.01\"", "epsilon.shown: got \"0.01\""},
           {"/epsilon/shown", "\"2.5\"", "epsilon.shown: got \"2.5\""},
           {"/epsilon/shown", "\"-5\"", "epsilon.shown: got \"-5\""},
           {"/epsilon/shown", "\"nan\"", "epsilon.shown: got \"nan\""},
           {"/epsilon/shown", "\"3 or less\"", "epsilon.shown: got \"3 or less\""},
           {"/epsilon/shown", "\" 3\"", "epsilon.shown: got \" 3\""},
           {"/epsilon/shown", "\"0x9\"", "epsilon.shown: got \"0x9\""},
           {"/epsilon/kind", "", "epsilon.kind: got nothing, want one of UPPER_BOUND"},
           {"/epsilon/kind", "\"GUESS\"", "epsilon.kind: got \"GUESS\""},
           {"/epsilon/by", "7", "epsilon.by: got 7, want a text"},
           {"/epsilon/reasonUnavailable", "\"r\"", "epsilon.epsilon: got 2.5000001, want nothing"},
           {"/resource", "[]", "resource: got a list, want an object"},
           {"/resource", "", "resource: got nothing, want an object"},
           {"/resource/name", "", "resource.name: got nothing, want a text"},
           {"/resource/name", "\"\"", "resource.name: got \"\", want a text that is not empty"},
           {"/resource/privacyUnit", "null", "resource.privacyUnit: got null"},
           {"/resource/neighboringRelation", "\"other\"", "got \"other\", want one of add-or"},
           {"/resource/acceptedChargeCount", "-1", "acceptedChargeCount: got -1"},
           {"/resource/acceptedChargeCount", "1.5", "acceptedChargeCount: got 1.5"},
           {"/resource/acceptedChargeCount", "18446744073709551615", "want an integer"},
           {"/resource/refusedChargeCount", "\"1\"", "refusedChargeCount: got \"1\""},
           {"/resource/history", "{}", "resource.history: got an object, want a list"},
           {"/resource/history/0", "1", "resource.history[0]: got 1, want a text"},
           {"/covers", "", "covers: got nothing"},
           {"/warnings", "", "warnings: got nothing, want a list"},
           {"/warnings/0", "null", "warnings[0]: got null"},
           {"/caps", "", "caps: got nothing"},
           {"/caps/0", "\"x\"", "caps[0]: got \"x\", want an object"},
           {"/caps/0/void", "", "caps[0].void: got nothing, want true or false"},
           {"/caps/0/void", "0", "caps[0].void: got 0"},
           {"/caps/0/supersededBy", "[]", "caps[0].supersededBy: got a list"},
           {"/caps/0/cap", "3", "caps[0].cap: got 3"},
           {"/sampling", "", "sampling: got nothing"},
           {"/sampling/newestAttempt", "", "sampling.newestAttempt: got nothing"},
           {"/sampling/newestAttempt/library", "1", "sampling.newestAttempt.library: got 1"},
           {"/sampling/caveat", "", "sampling.caveat: got nothing"},
           {"/notCovered", "", "notCovered: got nothing"},
           {"/ledger", "null", "ledger: got null, want an object"},
           {"/ledger/sequence", "\"9\"", "ledger.sequence: got \"9\""},
           {"/ledger/hash", "", "ledger.hash: got nothing"},
           {"/ledger/store", "{}", "ledger.store: got an object"},
           {"/time", "", "time: got nothing"},
           {"/serverVersion", "", "serverVersion: got nothing"}}) {
    nlohmann::json json = StatementJson();
    const nlohmann::json::json_pointer pointer(row.pointer);
    if (std::string(row.value).empty()) {
      json[pointer.parent_pointer()].erase(pointer.back());
    } else {
      json[pointer] = nlohmann::json::parse(row.value);
    }
    for (const std::string& name : FormNames()) {
      const auto form =
          FillForm(*FormNamed(name), Statement(json), *FormAnswers::Parse(kAnswers), {});
      EXPECT_EQ(form.status().code(), absl::StatusCode::kFailedPrecondition) << row.pointer;
      EXPECT_THAT(std::string(form.status().message()), HasSubstr(row.says)) << row.pointer;
      if (std::string(row.pointer) != "/serverVersion") {
        EXPECT_THAT(std::string(form.status().message()), HasSubstr("by epsledger 0.1.0"));
      }
    }
  }
}

TEST(Forms, RefuseWhatCannotBeRead) {
  v1::PrivacyStatement statement = Statement(StatementJson());
  for (const char* json : {"", "null", "[]", "{", "{\"delta\": 1e999}", "{\"covers\": \"\\ud800\"}",
                           "{\"\\udc00\": 1}", "{\"delta\": 1, \"delta\": 0}"}) {
    statement.set_json(json);
    for (const std::string& name : FormNames()) {
      EXPECT_EQ(FillForm(*FormNamed(name), statement, FormAnswers(), {}).status().code(),
                absl::StatusCode::kFailedPrecondition)
          << json;
    }
  }
  const auto form = FillForm(FormKind::kInToto, Statement(StatementJson()), FormAnswers(),
                             {{.name = "model\xff", .sha256 = "ab"}});
  EXPECT_EQ(form.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(form.status().message()), HasSubstr("--subject"));
}

TEST(Forms, NameTheKeyOfTheSignature) {
  for (const std::string& name : FormNames()) {
    EXPECT_THAT(Filled(*FormNamed(name), StatementJson()), HasSubstr("6b6579")) << name;  // "key"
  }
}

TEST(FormAnswers, AreCheckedByKeyKindAndChoice) {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "answers"},
           {"{\"name\": \"a\", \"name\": \"b\"}", "answers"},
           {"{\"nam\": \"a\"}", "nam: no form asks that; want one of: name, curators"},
           {"{\"name\": 7}", "name: want a text"},
           {"{\"notes\": \"\\ud800\"}", "notes: got a text with half of a surrogate pair"},
           {"{\"notes\": \"\\udc00x\"}", "notes: got a text with half of a surrogate pair"},
           {"{\"notes\": \"a\", \"\\ud800\": \"b\"}", "a key: got a text with half"},
           {"{\"notes\": 1e999}", "notes: got 1e999, want a number that a double can hold"},
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
