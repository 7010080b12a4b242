#include "client/cli/commands/canary_file.h"

#include <optional>
#include <utility>
#include <vector>

#include <google/protobuf/struct.pb.h>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/json_message.h"

namespace epsledger::cli {
namespace {

struct Score {
  bool member = false;
  double score = 0;
};

absl::Status NotAScore(absl::string_view got) {
  return absl::InvalidArgumentError(
      absl::StrCat("got \"", got.substr(0, 64),
                   "\", want member,SCORE or non-member,SCORE, or {\"member\": true, \"score\": "
                   "SCORE}"));
}

absl::StatusOr<Score> ParseCsv(absl::string_view line) {
  const std::vector<absl::string_view> cells = absl::StrSplit(line, ',');
  if (cells.size() != 2) return NotAScore(line);
  const absl::string_view arm = absl::StripAsciiWhitespace(cells[0]);
  Score score{.member = arm == "member"};
  if (!score.member && arm != "non-member") return NotAScore(line);
  if (!absl::SimpleAtod(absl::StripAsciiWhitespace(cells[1]), &score.score)) {
    return NotAScore(line);
  }
  return score;
}

absl::StatusOr<Score> ParseJson(const std::string& line) {
  google::protobuf::Struct object;
  RETURN_IF_ERROR(bridge::ReadJsonObject(line, &object));
  const auto member = object.fields().find("member");
  const auto score = object.fields().find("score");
  if (object.fields_size() != 2 || member == object.fields().end() ||
      score == object.fields().end() ||
      member->second.kind_case() != google::protobuf::Value::kBoolValue ||
      score->second.kind_case() != google::protobuf::Value::kNumberValue) {
    return NotAScore(line);
  }
  return Score{.member = member->second.bool_value(), .score = score->second.number_value()};
}

}  // namespace

absl::Status ParseCanaryScores(const std::string& text, v1::AuditCanariesRequest* request) {
  int number = 0;
  for (const absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    if (line.empty()) continue;
    const bool is_json = line.front() == '{';
    const absl::StatusOr<Score> score = is_json ? ParseJson(std::string(line)) : ParseCsv(line);
    if (!score.ok()) {
      // Only a heading may be something other than a score.
      if (number == 1 && !is_json && !absl::StrContains(line, "member,")) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", score.status().message()));
    }
    (score->member ? request->mutable_member_scores() : request->mutable_non_member_scores())
        ->Add(score->score);
  }
  return absl::OkStatus();
}

}  // namespace epsledger::cli
