#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_HISTORY_FLAGS_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_HISTORY_FLAGS_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "client/cli/flags/event_flags.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "epsledger/v1/mechanism.pb.h"

namespace epsledger::cli {

// A history and its neighbors on the command line, for the commands that need no server.
struct HistoryFlags {
  EventFlags event;
  // "-" is standard input.
  std::string events_file;
  v1::NeighboringRelation::Kind relation = v1::NeighboringRelation::ADD_OR_REMOVE_ONE;
  // Unspecified: the worse of both.
  v1::Adjacency::Kind adjacency = v1::Adjacency::KIND_UNSPECIFIED;
  v1::SensitivityRelation::Kind sensitivity_relation = v1::SensitivityRelation::KIND_UNSPECIFIED;
  int64_t group_size = 1;
  std::optional<double> relative_width;

  // Adds the flags of EventFlags, --events, --relation, --adjacency, --sensitivity-relation,
  // --group-size and --relative-width.
  void AddTo(CLI::App& command);

  // Sets the fields of these names in any request of AccountingService. INVALID_ARGUMENT if no
  // event is given, or if one cannot be read; proto/bridge decides whether it makes sense.
  template <class Request>
  absl::Status Fill(std::istream& in, Request* request) const {
    absl::StatusOr<std::vector<v1::CountedEvent>> events = Events(in);
    if (!events.ok()) return events.status();
    for (v1::CountedEvent& one : *events) *request->add_events() = std::move(one);
    request->set_neighboring_relation(relation);
    request->set_adjacency(adjacency);
    request->set_sensitivity_relation(sensitivity_relation);
    request->set_group_size(group_size);
    if (relative_width.has_value()) request->set_relative_width(*relative_width);
    return absl::OkStatus();
  }

  // "add-or-remove-one", or "add-or-remove-one (remove)", "replace-one, groups of 3".
  std::string DescribeNeighbors() const;

 private:
  // Returns the event of the flags, then those of the file.
  absl::StatusOr<std::vector<v1::CountedEvent>> Events(std::istream& in) const;
};

// Adds --accountant, in lower case and with hyphens. `accountant` keeps its value if the flag is
// not given.
CLI::Option* AddAccountantFlag(CLI::App& command, v1::Accountant::Kind& accountant);

// Reads a JSON array of CountedEvent, or one object a line. INVALID_ARGUMENT says where the error
// is.
absl::StatusOr<std::vector<v1::CountedEvent>> ParseEvents(const std::string& text);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_HISTORY_FLAGS_H_
