#include "client/trainers/fsdp/command_line.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace epsledger::trainers::fsdp {
namespace {

using testing::HasSubstr;

struct Parsed {
  ParsedCommandLine line;
  std::string errors;
  std::string output;
};

Parsed Parse(const std::vector<std::string>& more) {
  std::vector<const char*> arguments = {"epsledger-fsdp", "--budget", "b", "--data", "digits"};
  for (const std::string& argument : more) arguments.push_back(argument.c_str());
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  Parsed parsed{.line = ParseCommandLine(static_cast<int>(arguments.size()), arguments.data())};
  parsed.output = testing::internal::GetCapturedStdout();
  parsed.errors = testing::internal::GetCapturedStderr();
  return parsed;
}

TEST(ParseCommandLine, HasNoCanariesUnlessAsked) {
  const Parsed parsed = Parse({});
  ASSERT_TRUE(parsed.line.options.has_value()) << parsed.errors;
  EXPECT_EQ(parsed.line.options->canaries.count, 0);
  EXPECT_EQ(parsed.line.options->canaries.scores_file, "");
}

TEST(ParseCommandLine, TakesCanariesWithAFileForTheirScores) {
  const Parsed parsed = Parse({"--canaries", "100", "--canary-scores", "scores.csv"});
  ASSERT_TRUE(parsed.line.options.has_value()) << parsed.errors;
  EXPECT_EQ(parsed.line.options->canaries.count, 100);
  EXPECT_EQ(parsed.line.options->canaries.scores_file, "scores.csv");
}

TEST(ParseCommandLine, RefusesCanariesThatAuditNothing) {
  const auto refused = [](const std::vector<std::string>& arguments) {
    const Parsed parsed = Parse(arguments);
    EXPECT_FALSE(parsed.line.options.has_value());
    EXPECT_EQ(parsed.line.exit_code, 2);
    return parsed.errors;
  };
  EXPECT_THAT(refused({"--canaries", "100"}), HasSubstr("--canaries requires --canary-scores"));
  EXPECT_THAT(refused({"--canary-scores", "f"}), HasSubstr("--canary-scores requires --canaries"));
  EXPECT_THAT(refused({"--canaries", "0", "--canary-scores", "f"}), HasSubstr("--canaries"));
  EXPECT_THAT(refused({"--canaries", "9", "--canary-scores", ""}), HasSubstr("--canary-scores"));
  EXPECT_THAT(refused({"--canaries", "9", "--canary-scores", "f", "--checkpoint", "c", "--session",
                       "s", "--resume"}),
              HasSubstr("is not in the checkpoint"));
  EXPECT_THAT(refused({"--canaries", "9", "--canary-scores", "f", "--relation", "replace-one"}),
              HasSubstr("want add-or-remove-one"));
}

TEST(ParseCommandLine, HelpSaysWhatCanariesAreForAndWhoReadsTheirScores) {
  const Parsed parsed = Parse({"--help"});
  EXPECT_EQ(parsed.line.exit_code, 0);
  EXPECT_THAT(parsed.output, HasSubstr("\nAudit:\n"));
  EXPECT_THAT(parsed.output, HasSubstr("epsctl audit --method one-run --scores FILE"));
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
