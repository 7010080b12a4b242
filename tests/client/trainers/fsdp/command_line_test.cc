#include "client/trainers/fsdp/command_line.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <set>
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
  std::vector<const char*> arguments = {"epsledger-fsdp", "--budget", "b"};
  if (more.empty() || more.front() != "--data") {
    arguments.insert(arguments.end(), {"--data", "digits"});
  }
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

std::string Settings(std::vector<std::string> more) {
  more.insert(more.begin(), {"--data", "mnist", "--features", "scattering"});
  const Parsed parsed = Parse(more);
  EXPECT_TRUE(parsed.line.options.has_value()) << parsed.errors;
  return parsed.line.options.has_value() ? SettingsText(*parsed.line.options) : "";
}

TEST(ParseCommandLine, TakesWhatIsDoneBeforeTraining) {
  const Parsed parsed =
      Parse({"--data", "mnist", "--features", "scattering", "--center-noise", "30",
             "--public-basis", "digits:200", "--augmentation-multiplicity", "2"});
  ASSERT_TRUE(parsed.line.options.has_value()) << parsed.errors;
  EXPECT_EQ(parsed.line.options->center_noise, 30);
  EXPECT_EQ(parsed.line.options->public_directions, 200);
  EXPECT_EQ(parsed.line.options->view_count, 2);
}

// A run goes on only with what its checkpoint was trained on.
TEST(ParseCommandLine, SettingsTellApartWhatIsDoneBeforeTraining) {
  const std::vector<std::vector<std::string>> all = {
      {},
      {"--deskew"},
      {"--center-noise", "30"},
      {"--center-noise", "31"},
      {"--public-basis", "digits:200"},
      {"--public-basis", "digits:201"},
      {"--augmentation-multiplicity", "2"},
      {"--augmentation-multiplicity", "3"},
      {"--center-noise", "30", "--public-basis", "digits:200"}};
  std::set<std::string> texts;
  for (const auto& flags : all) texts.insert(Settings(flags));
  EXPECT_EQ(texts.size(), all.size());
  // As before there were such flags: those checkpoints can continue.
  EXPECT_THAT(Settings({}), testing::StartsWith("data mnist 0 0, features scattering 1, model"));
}

TEST(ParseCommandLine, RefusesWhatHasNoBoundOrIsNotPublic) {
  const auto refused = [](std::vector<std::string> arguments) {
    const Parsed parsed = Parse(arguments);
    EXPECT_FALSE(parsed.line.options.has_value());
    EXPECT_EQ(parsed.line.exit_code, 2);
    return parsed.errors;
  };
  EXPECT_THAT(refused({"--center-noise", "30"}), HasSubstr("--center-noise: wants --features"));
  EXPECT_THAT(refused({"--center-noise", "0", "--features", "scattering"}),
              HasSubstr("--center-noise"));
  EXPECT_THAT(refused({"--public-basis", "digits:9"}), HasSubstr("--public-basis: wants"));
  EXPECT_THAT(refused({"--public-basis", "digits:9", "--features", "scattering"}),
              HasSubstr("public and private at once"));
  for (const char* bad :
       {"digits", "digits:", "digits:0", "digits:1797", "digits:-1", "digits:2x", "mnist:5"}) {
    EXPECT_THAT(refused({"--public-basis", bad, "--features", "scattering"}),
                HasSubstr("want digits:N with N in [1, 1796]"))
        << bad;
  }
  EXPECT_THAT(refused({"--augmentation-multiplicity", "0"}), HasSubstr("--augmentation"));
  EXPECT_THAT(refused({"--augmentation-multiplicity", "17"}), HasSubstr("--augmentation"));
}

TEST(ParseCommandLine, HelpSaysWhatCanariesAreForAndWhoReadsTheirScores) {
  const Parsed parsed = Parse({"--help"});
  EXPECT_EQ(parsed.line.exit_code, 0);
  EXPECT_THAT(parsed.output, HasSubstr("\nAudit:\n"));
  EXPECT_THAT(parsed.output, HasSubstr("epsctl audit --method one-run --scores FILE"));
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
