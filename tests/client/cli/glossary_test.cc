#include "client/cli/glossary/glossary.h"

#include <google/protobuf/descriptor.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "client/cli/exit_code.h"
#include "epsledger/v1/charge.pb.h"
#include "epsledger/v1/guarantee.pb.h"
#include "epsledger/v1/mechanism.pb.h"

namespace epsledger::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bool Explains(const std::string& name, GlossaryEntry::Kind kind) {
  for (const GlossaryEntry* entry : Explain(name)) {
    if (entry->kind == kind) return true;
  }
  return false;
}

void ExpectEveryValue(const google::protobuf::EnumDescriptor* values, GlossaryEntry::Kind kind) {
  for (int i = 0; i < values->value_count(); ++i) {
    if (values->value(i)->number() == 0) continue;
    EXPECT_TRUE(Explains(values->value(i)->name(), kind)) << values->value(i)->name();
  }
}

TEST(Glossary, ExplainsEverythingThatTheApiNames) {
  ExpectEveryValue(v1::Refusal::Reason_descriptor(), GlossaryEntry::Kind::kRefusal);
  ExpectEveryValue(v1::Accountant::Kind_descriptor(), GlossaryEntry::Kind::kAccountant);
  const auto* kinds = v1::MechanismEvent::descriptor()->FindOneofByName("kind");
  ASSERT_GT(kinds->field_count(), 20);
  for (int i = 0; i < kinds->field_count(); ++i) {
    EXPECT_TRUE(Explains(kinds->field(i)->json_name(), GlossaryEntry::Kind::kEvent));
    EXPECT_TRUE(Explains(kinds->field(i)->name(), GlossaryEntry::Kind::kEvent));
  }
  for (int code = 0; code <= static_cast<int>(ExitCode::kNotFound); ++code) {
    EXPECT_TRUE(Explains(std::to_string(code), GlossaryEntry::Kind::kExitCode)) << code;
  }
}

TEST(Glossary, RefusalsHaveARemedyAndNoEntryIsThereTwice) {
  std::set<std::pair<GlossaryEntry::Kind, std::string_view>> seen;
  for (const GlossaryEntry& entry : Glossary()) {
    EXPECT_TRUE(seen.emplace(entry.kind, entry.name).second) << entry.name;
    EXPECT_FALSE(entry.text.empty()) << entry.name;
    EXPECT_TRUE(entry.text.ends_with(".")) << entry.name;
    EXPECT_FALSE(Explain(entry.name).empty()) << entry.name << " does not find itself";
    if (entry.kind == GlossaryEntry::Kind::kRefusal) {
      EXPECT_FALSE(entry.remedy.empty()) << entry.name;
    }
    if (entry.kind == GlossaryEntry::Kind::kAccountant) {
      EXPECT_FALSE(entry.source.empty()) << entry.name;
    }
  }
}

TEST(Glossary, FindsNamesAsPeopleWriteThem) {
  for (const char* name : {"poissonSampled", "POISSON_SAMPLED", "poisson sampled",
                           "poisson-sampled", "Poisson Sampled"}) {
    EXPECT_THAT(Explain(name), SizeIs(1)) << name;
  }
  for (const char* name : {"3", "exit 3", "exit code 3", "exit-code-3"}) {
    EXPECT_THAT(Explain(name), SizeIs(1)) << name;
  }
  EXPECT_THAT(Explain("zcdp"), SizeIs(3)) << "accountant, event, term";
  EXPECT_THAT(Explain(""), IsEmpty());
}

TEST(Glossary, KnowsEveryWorkOfTheBibliography) {
  std::ifstream file(EPSLEDGER_SOURCE_DIR "/accounting/README.md");
  int works = 0;
  bool is_bibliography = false;
  for (std::string line; std::getline(file, line);) {
    is_bibliography = is_bibliography || line == "## Bibliography";
    const std::vector<std::string> cells = absl::StrSplit(line, " | ");
    if (!is_bibliography || cells.size() != 2 || cells[0] == "| key") continue;
    const std::string key = cells[0].substr(2);
    const std::string source = cells[1].substr(0, cells[1].size() - 2);
    ++works;
    for (const std::string& written : {key, "[" + key + "]", absl::AsciiStrToLower(key)}) {
      const std::vector<const GlossaryEntry*> found = Explain(written);
      ASSERT_THAT(found, SizeIs(1)) << written;
      EXPECT_EQ(found[0]->text, source + ".");
    }
  }
  EXPECT_GT(works, 40);
}

TEST(Glossary, KnowsTheWordsOfTheFirstHour) {
  for (const char* word :
       {"rdp", "RDP", "dp-sgd", "DP-SGD", "clip norm", "accountant", "gdp", "amplification",
        "subsampling", "statement", "tenant", "neighbors", "cap", "canary"}) {
    EXPECT_TRUE(Explains(word, GlossaryEntry::Kind::kTerm)) << word;
  }
}

TEST(Glossary, NamesWhatMayHaveBeenMeant) {
  EXPECT_THAT(NearMatches("cks2"), Contains("CKS20"));
  EXPECT_THAT(NearMatches("zdcp"), Contains("zcdp"));
  EXPECT_THAT(NearMatches("exhausted"), ElementsAre("budget-exhausted"));
  EXPECT_THAT(NearMatches("epsilom"), ElementsAre("epsilon"));
  EXPECT_THAT(NearMatches("no such thing at all"), IsEmpty());
}

}  // namespace
}  // namespace epsledger::cli
