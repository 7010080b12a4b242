#include "client/cli/flags/history_flags.h"

#include <cstddef>
#include <istream>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "accounting/event/status_macros.h"
#include "client/cli/files/input_file.h"
#include "proto/bridge/json_message.h"
#include "proto/json_syntax/json_syntax.h"

namespace epsledger::cli {
namespace {

// Returns the name on the command line: ADD_OR_REMOVE_ONE is add-or-remove-one.
std::string FlagName(const std::string& enum_name) {
  return absl::AsciiStrToLower(absl::StrReplaceAll(enum_name, {{"_", "-"}}));
}

// Adds an option that takes the name of a value of `Kind`; `value` stays if it is not given.
template <class Kind>
CLI::Option* AddEnumFlag(CLI::App& command, const std::string& name, Kind& value,
                         const google::protobuf::EnumDescriptor* descriptor,
                         const std::string& help) {
  std::map<std::string, Kind> values;
  for (int i = 0; i < descriptor->value_count(); ++i) {
    if (descriptor->value(i)->number() == 0) continue;
    values.emplace(FlagName(descriptor->value(i)->name()),
                   static_cast<Kind>(descriptor->value(i)->number()));
  }
  return command
      .add_option_function<std::string>(
          name, [&value, values](const std::string& text) { value = values.at(text); }, help)
      ->check(CLI::IsMember(values));
}

// Corrects "not JSON at column 27: ..." for a text that was parsed after `prefix`: returns the
// column in the text itself.
std::string WithoutPrefix(const std::string& message, size_t prefix) {
  const std::string before = "at column ";
  const size_t start = message.find(before);
  if (start == message.npos) return message;
  const size_t digits = start + before.size();
  const size_t end = message.find_first_not_of("0123456789", digits);
  size_t column = 0;
  if (end == message.npos || !absl::SimpleAtoi(message.substr(digits, end - digits), &column)) {
    return message;
  }
  return absl::StrCat(message.substr(0, digits), column > prefix ? column - prefix : column,
                      message.substr(end));
}

// Returns every event of a JSON array.
absl::StatusOr<std::vector<v1::CountedEvent>> ParseArray(const std::string& text) {
  // The array is read as the field of that name, so that messages name the event as those of
  // requests do.
  const std::string prefix = "{\"events\":";
  const std::string object = absl::StrCat(prefix, text, "}");
  absl::Status status = json_syntax::CheckObject(object, nullptr);
  if (!status.ok()) {
    return absl::InvalidArgumentError(WithoutPrefix(std::string(status.message()), prefix.size()));
  }
  v1::ComputeRequest request;
  status = bridge::ReadJson(object, &request);
  if (!status.ok()) return status;
  std::vector<v1::CountedEvent> events(request.events().begin(), request.events().end());
  request.clear_events();
  if (request.ByteSizeLong() != 0) {
    return absl::InvalidArgumentError("got more than an array of events");
  }
  return events;
}

}  // namespace

void HistoryFlags::AddTo(CLI::App& command) {
  event.AddTo(command);
  command
      .add_option("--events", events_file,
                  "a file (- for standard input) with a JSON array of\n"
                  "{\"count\": N, \"event\": {...}}, or one such object a line")
      ->type_name("FILE")
      ->group("More events, or all");
  const char* group = "Neighbors";
  AddEnumFlag(command, "--relation", relation, v1::NeighboringRelation::Kind_descriptor(),
              "which data sets are neighbors; default: add-or-remove-one")
      ->type_name("RELATION")
      ->group(group);
  AddEnumFlag(command, "--adjacency", adjacency, v1::Adjacency::Kind_descriptor(),
              "one direction of add-or-remove-one; default: the worse one")
      ->type_name("DIRECTION")
      ->group(group);
  AddEnumFlag(command, "--sensitivity-relation", sensitivity_relation,
              v1::SensitivityRelation::Kind_descriptor(),
              "what a noise multiplier is relative to: the contribution of one record\n"
              "(default) or, with --relation replace-one, the replace-one sensitivity itself")
      ->type_name("WHAT")
      ->group(group);
  command.add_option("--group-size", group_size, "for groups of this many privacy units")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--relative-width", relative_width,
                  "wanted (upper - lower) / upper of two-sided accountants; default: 0.001")
      ->type_name("WIDTH")
      ->group("Options");
}

absl::StatusOr<std::vector<v1::CountedEvent>> HistoryFlags::Events(std::istream& in) const {
  std::vector<v1::CountedEvent> events;
  if (event.any()) {
    ASSIGN_OR_RETURN(v1::CountedEvent first, event.ToMessage());
    events.push_back(std::move(first));
  } else if (event.sampling_probability.has_value() || event.count != 1) {
    return absl::InvalidArgumentError(
        "event: got --sampling-probability or --count alone, want what they apply to: --gaussian, "
        "--laplace, --pure-dp or --event");
  }
  if (!events_file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadInput("--events", events_file, in));
    absl::StatusOr<std::vector<v1::CountedEvent>> more = ParseEvents(text);
    if (!more.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--events ", events_file, ": ", more.status().message()));
    }
    events.insert(events.end(), more->begin(), more->end());
  }
  if (events.empty()) {
    return absl::InvalidArgumentError(
        "event: got none, want one of --gaussian, --laplace, --pure-dp and --event, or --events");
  }
  return events;
}

std::string HistoryFlags::DescribeNeighbors() const {
  std::string text = FlagName(v1::NeighboringRelation::Kind_Name(relation));
  if (adjacency != v1::Adjacency::KIND_UNSPECIFIED) {
    absl::StrAppend(&text, " (", FlagName(v1::Adjacency::Kind_Name(adjacency)), ")");
  }
  if (group_size != 1) absl::StrAppend(&text, ", groups of ", group_size);
  return text;
}

CLI::Option* AddAccountantFlag(CLI::App& command, v1::Accountant::Kind& accountant) {
  return AddEnumFlag(command, "--accountant", accountant, v1::Accountant::Kind_descriptor(),
                     "the accountant that answers; default: best, the tightest proved bound")
      ->type_name("NAME");
}

absl::StatusOr<std::vector<v1::CountedEvent>> ParseEvents(const std::string& text) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(text);
  if (!stripped.empty() && stripped.front() == '[') return ParseArray(std::string(stripped));
  std::vector<v1::CountedEvent> events;
  int number = 0;
  for (const absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    const std::string line(absl::StripAsciiWhitespace(raw));
    if (line.empty()) continue;
    v1::CountedEvent one;
    const absl::Status status = bridge::ReadJsonObject(line, &one);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", status.message()));
    }
    events.push_back(std::move(one));
  }
  return events;
}

}  // namespace epsledger::cli
