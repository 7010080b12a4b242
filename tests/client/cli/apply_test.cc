// `epsctl apply`: the file, the difference, and what it does to a real server.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "client/cli/apply/budget_file.h"
#include "client/cli/apply/yaml_json.h"
#include "tests/client/cli/verbs_on_a_server.h"

namespace epsledger::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string ErrorOf(const std::string& text) {
  const auto read = ReadYamlList(text, "budgets");
  return read.ok() ? "" : std::string(read.status().message());
}

TEST(ReadYamlList, TakesScalarsAsTheTextThatStandsThere) {
  const auto read = ReadYamlList(
      "budgets:\n"
      "  - {a: no, b: 1e-5, c: \"null\", d: null, e: ~, f: , g: 007, h: [x, 'y: z'], i: {}}\n"
      "  - a: |\n      two\n      lines\n",
      "budgets");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].line, 2);
  EXPECT_EQ((*read)[0].json,
            R"({"a":"no","b":"1e-5","c":"null","d":null,"e":null,"f":null,"g":"007",)"
            R"("h":["x","y: z"],"i":{}})");
  EXPECT_EQ((*read)[1].line, 3);
  EXPECT_EQ((*read)[1].json, R"({"a":"two\nlines\n"})");
}

TEST(ReadYamlList, TakesAListWithoutAKeyAndJson) {
  const auto read = ReadYamlList("[{\"a\": {\"b\": 1}}, {}]", "budgets");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].json, R"({"a":{"b":"1"}})");
  EXPECT_EQ((*read)[1].json, "{}");
}

TEST(ReadYamlList, NamesTheLineOfWhatIsWrong) {
  EXPECT_THAT(ErrorOf("budgets:\n- a: 1\n  a: 2\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("twice")));
  EXPECT_THAT(ErrorOf("budgets: []\nbudgets: []\n"), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf("budgets: []\nother: []\n"), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf("budgets: [a]"), HasSubstr("got no object"));
  EXPECT_THAT(ErrorOf("budgets:\n  - a: [1, ~]\n"), HasSubstr("empty element"));
  EXPECT_THAT(ErrorOf("budgets:\n  - {[1]: 2}\n"), HasSubstr("a key that is not a text"));
  EXPECT_THAT(ErrorOf("a: [\nb"), HasSubstr("line "));
  EXPECT_THAT(ErrorOf("--- []\n--- []\n"), HasSubstr("got several documents"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("got no document"));
  // In these YAML::LoadAll finds documents until the memory is full.
  EXPECT_THAT(ErrorOf(",reatws:\n-o   &r"), HasSubstr("got several documents"));
  EXPECT_THAT(ErrorOf(",a:\n-b &c"), HasSubstr("got several documents"));
  EXPECT_THAT(ErrorOf(""), Not(IsEmpty()));
  EXPECT_THAT(ErrorOf("text"), HasSubstr("want a list"));
  EXPECT_THAT(ErrorOf(std::string("[{a: \"\xff\"}]")), Not(IsEmpty()));
  EXPECT_THAT(ErrorOf(std::string((1 << 20) + 1, ' ')), HasSubstr("want at most 1048576"));
  std::string deep = "- a: ";
  for (int i = 0; i < 100; ++i) deep += "[";
  EXPECT_THAT(ErrorOf(deep + std::string(100, ']')), HasSubstr("levels"));
}

TEST(ReadYamlList, RefusesAliasesThatGrowWithoutEnd) {
  std::string text = "- a: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    absl::StrAppend(&text, "  b", i, ": &a", i, " [");
    for (int k = 0; k < 9; ++k) absl::StrAppend(&text, k == 0 ? "" : ", ", "*a", i - 1);
    absl::StrAppend(&text, "]\n");
  }
  EXPECT_THAT(ErrorOf(text), HasSubstr("grow beyond 1 MiB"));
}

constexpr char kRest[] =
    ", cap: {pureEpsilon: {epsilon: 1}}, neighboringRelation: ADD_OR_REMOVE_ONE, "
    "privacyUnit: person}\n";

TEST(ReadBudgets, PutsParentsFirstAndNamesWhatIsWrong) {
  const auto read = ReadBudgets(absl::StrCat("- {name: c, parent: b", kRest, "- {name: a", kRest,
                                             "- {name: budgets/b, parent: budgets/a", kRest));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[0].name(), "budgets/a");
  EXPECT_EQ((*read)[1].name(), "budgets/b");
  EXPECT_EQ((*read)[2].name(), "budgets/c");
  EXPECT_EQ((*read)[2].parent(), "budgets/b");
  const auto error = [](const std::string& text) {
    return std::string(ReadBudgets(text).status().message());
  };
  EXPECT_THAT(error(absl::StrCat("- {name: a, parent: b", kRest, "- {name: b, parent: a", kRest)),
              HasSubstr("parent: got one that is below it"));
  EXPECT_THAT(error(absl::StrCat("- {name: a, parent: a", kRest)), HasSubstr("below it"));
  EXPECT_THAT(error(absl::StrCat("- {name: a", kRest, "- {name: budgets/a", kRest)),
              AllOf(HasSubstr("line 2"), HasSubstr("which is in line 1 already")));
  EXPECT_THAT(error(absl::StrCat("- {parent: a", kRest)), HasSubstr("name: got none"));
  EXPECT_EQ(error("- {name: a, labels: ~, partition: }"), "");
  EXPECT_THAT(error("- {name: a, capp: 1}"), AllOf(HasSubstr("line 1"), HasSubstr("capp")));
  EXPECT_THAT(error("- {name: a, cap: {pureEpsilon: {epsilon: much}}}"), HasSubstr("much"));
}

class Apply : public LedgerVerbsTest {
 protected:
  // The file as it is, after the budget "adult" that the fixture made.
  std::string File(const std::string& more = "") const {
    return absl::StrCat(
        "budgets:\n"
        "  - name: adult\n"
        "    cap: {pureEpsilon: {epsilon: ",
        epsilon_,
        "}}\n"
        "    neighboringRelation: ADD_OR_REMOVE_ONE\n"
        "    privacyUnit: person\n"
        "    labels: {team: ",
        team_,
        ", tier: 1}\n"
        "    alertThresholds: [0.5, 0.9]\n"
        "    partition: {function: hash(id) mod 4}\n",
        more);
  }
  std::string Child(const std::string& name, const std::string& parent) const {
    return absl::StrCat("  - {name: ", name, ", parent: ", parent, kRest);
  }
  int64_t LedgerSize() {
    return std::stoll(nlohmann::json::parse(Want(ExitCode::kOk, {"ledger", "head", "adult"}))
                          .at("sequence")
                          .get<std::string>());
  }
  std::vector<std::string> Actions(const std::string& json) {
    std::vector<std::string> actions;
    for (const auto& row : nlohmann::json::parse(json)) {
      actions.push_back(row["budget"].get<std::string>() + " " + row["action"].get<std::string>());
    }
    return actions;
  }

  std::string team_ = "vision";
  std::string epsilon_ = "100";
};

TEST_F(Apply, WhatIsThereAlreadyIsLeftAlone) {
  const int64_t before = LedgerSize();
  ASSERT_GT(before, 0);
  const std::string planned = Want(ExitCode::kOk, {"apply", "-f", "-", "--plan"}, File());
  EXPECT_THAT(Actions(planned), ::testing::ElementsAre("budgets/adult as it is"));
  Want(ExitCode::kOk, {"apply", "-f", "-", "--yes"}, File());
  EXPECT_EQ(LedgerSize(), before);
  const std::string listed = Want(ExitCode::kOk, {"budget", "list"});
  Want(ExitCode::kOk, {"apply", "-f", "-", "--plan"}, listed);
}

TEST_F(Apply, CreatesAndChangesOnceAndNotAgain) {
  team_ = "speech";
  const std::string file = File(Child("grand", "child") + Child("child", "adult"));
  const int64_t before = LedgerSize();
  const std::string planned = Want(ExitCode::kFailed, {"apply", "-f", "-", "--plan"}, file);
  EXPECT_THAT(Actions(planned),
              ::testing::ElementsAre("budgets/adult change", "budgets/child create",
                                     "budgets/grand create"));
  EXPECT_THAT(planned, HasSubstr("team=vision, tier=1 -> team=speech, tier=1"));
  EXPECT_EQ(LedgerSize(), before);
  Want(ExitCode::kUsage, {"apply", "-f", "-"}, file);  // nobody can be asked
  EXPECT_EQ(LedgerSize(), before);
  Want(ExitCode::kOk, {"apply", "-f", "-", "--yes"}, file);
  EXPECT_EQ(LedgerSize(), before + 3);
  const auto grand = As<v1::Budget>(Want(ExitCode::kOk, {"budget", "get", "grand"}));
  EXPECT_EQ(grand.parent(), "budgets/child");
  EXPECT_EQ(As<v1::Budget>(Want(ExitCode::kOk, {"budget", "get", "adult"})).labels().at("team"),
            "speech");
  Want(ExitCode::kOk, {"apply", "-f", "-", "--yes"}, file);
  Want(ExitCode::kOk, {"apply", "-f", "-", "--plan"}, file);
  EXPECT_EQ(LedgerSize(), before + 3);
}

TEST_F(Apply, AConflictChangesNothingAtAll) {
  epsilon_ = "101";
  team_ = "speech";
  const std::string file = File(Child("child", "adult"));
  const int64_t before = LedgerSize();
  const Outcome planned = Run({"apply", "-f", "-", "--plan"}, file);
  EXPECT_EQ(planned.code, ExitCode::kFailed);
  EXPECT_THAT(planned.out, AllOf(HasSubstr("conflict"), HasSubstr("exists with another cap"),
                                 HasSubstr("budget supersede adult")));
  const Outcome applied = Run({"apply", "-f", "-", "--yes"}, file);
  EXPECT_NE(applied.code, ExitCode::kOk);
  EXPECT_THAT(applied.err, HasSubstr("nothing was changed"));
  EXPECT_EQ(LedgerSize(), before);
}

TEST_F(Apply, TheServersErrorOfANewBudgetIsAConflict) {
  const std::string file = File(
      "  - {name: child, parent: adult, cap: {pureEpsilon: {epsilon: -1}}, "
      "neighboringRelation: ADD_OR_REMOVE_ONE, privacyUnit: person}\n");
  const Outcome planned = Run({"apply", "-f", "-", "--plan"}, file);
  EXPECT_EQ(planned.code, ExitCode::kFailed);
  EXPECT_THAT(planned.out, AllOf(HasSubstr("conflict"), HasSubstr("epsilon")));
}

TEST_F(Apply, WhateverTheServerWouldRefuseIsFoundBeforeAnythingIsChanged) {
  const std::string good = Child("good", "adult");
  const std::string rest = ", neighboringRelation: ADD_OR_REMOVE_ONE, privacyUnit: person";
  const std::string cap = ", cap: {pureEpsilon: {epsilon: 1}}";
  for (const auto& [wrong, says] : std::vector<std::pair<std::string, std::string>>{
           {"  - {name: b, parent: good, neighboringRelation: REPLACE_ONE, privacyUnit: person" +
                cap + "}\n",
            "neighboring_relation: got REPLACE_ONE"},
           {"  - {name: b, parent: good, neighboringRelation: ADD_OR_REMOVE_ONE, privacyUnit: day" +
                cap + "}\n",
            "privacy_unit: got "},
           {"  - {name: b, parent: good, cap: {renyi: {order: 1, divergence: 1}}" + rest + "}\n",
            "order"},
           {"  - {name: b, parent: good, labels: {BAD KEY: x}" + cap + rest + "}\n", "BAD KEY"},
           {"  - {name: b, parent: nowhere" + cap + rest + "}\n", "nowhere"}}) {
    const int64_t before = LedgerSize();
    const Outcome planned = Run({"apply", "-f", "-", "--plan"}, File(good + wrong));
    EXPECT_EQ(planned.code, ExitCode::kFailed) << wrong;
    EXPECT_THAT(planned.out, AllOf(HasSubstr("conflict"), HasSubstr(says))) << wrong;
    EXPECT_NE(Run({"apply", "-f", "-", "--yes"}, File(good + wrong)).code, ExitCode::kOk);
    EXPECT_EQ(LedgerSize(), before) << wrong;
  }
  const int64_t before = LedgerSize();
  team_ = "{BAD: x}";
  EXPECT_EQ(Run({"apply", "-f", "-", "--yes"}, File(good)).code, ExitCode::kUsage);
  team_ = std::string(300, 'x');  // a value that is too long
  const Outcome labels = Run({"apply", "-f", "-", "--plan"}, File(good));
  EXPECT_THAT(labels.out, HasSubstr("conflict"));
  EXPECT_NE(Run({"apply", "-f", "-", "--yes"}, File(good)).code, ExitCode::kOk);
  EXPECT_EQ(LedgerSize(), before);
}

TEST_F(Apply, DriftIsFoundAndLeft) {
  Want(ExitCode::kOk, {"budget", "create", "stray", "--parent", "adult", "--pure-epsilon", "1",
                       "--relation", "add-or-remove-one", "--privacy-unit", "person"});
  Want(ExitCode::kOk, {"budget", "create", "other", "--pure-epsilon", "1", "--relation",
                       "add-or-remove-one", "--privacy-unit", "person"});
  const Outcome stray = Run({"apply", "-f", "-", "--plan"}, File());
  EXPECT_EQ(stray.code, ExitCode::kFailed);
  EXPECT_THAT(Actions(stray.out),
              ::testing::ElementsAre("budgets/adult as it is", "budgets/stray not in the file"));
  Want(ExitCode::kOk, {"budget", "freeze", "adult", "--reason", "DPO-417"});
  const Outcome frozen = Run({"apply", "-f", "-", "--plan"}, File(Child("stray", "adult")));
  EXPECT_EQ(frozen.code, ExitCode::kFailed);
  EXPECT_THAT(frozen.out, AllOf(HasSubstr("drift"), HasSubstr("DPO-417")));
  const int64_t before = LedgerSize();
  Want(ExitCode::kOk, {"apply", "-f", "-", "--yes"}, File(Child("stray", "adult")));
  EXPECT_EQ(LedgerSize(), before);
}

TEST_F(Apply, ASupersededOrClosedBudgetIsAConflict) {
  Want(ExitCode::kOk, {"budget", "supersede", "adult", "adult-2", "--pure-epsilon", "200",
                       "--reason", "why", "--yes"});
  const Outcome planned = Run({"apply", "-f", "-", "--plan"}, File());
  EXPECT_EQ(planned.code, ExitCode::kFailed);
  EXPECT_THAT(planned.out, AllOf(HasSubstr("conflict"), HasSubstr("by adult-2")));
}

TEST_F(Apply, GuardsWhatTheFileGuards) {
  const std::string file = File("    approvalPolicy: {guarded: [SUPERSEDE, CLOSE]}\n");
  Want(ExitCode::kFailed, {"apply", "-f", "-", "--plan"}, file);
  Want(ExitCode::kOk, {"apply", "-f", "-", "--yes"}, file);
  EXPECT_EQ(As<v1::Budget>(Want(ExitCode::kOk, {"budget", "get", "adult"}))
                .approval_policy()
                .guarded_size(),
            2);
  Want(ExitCode::kOk, {"apply", "-f", "-", "--plan"}, file);
  Want(ExitCode::kOk, {"apply", "-f", "-", "--plan"}, File());  // says nothing of guards
}

TEST_F(Apply, AWrongFileIsNamed) {
  const Outcome wrong = Run({"apply", "-f", "-", "--plan"}, "budgets:\n  - name: a\n    capp: 1\n");
  EXPECT_EQ(wrong.code, ExitCode::kUsage);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("--file -"), HasSubstr("line 2"), HasSubstr("capp")));
  EXPECT_EQ(Run({"apply", "--plan"}).code, ExitCode::kUsage);
}

}  // namespace
}  // namespace epsledger::cli
