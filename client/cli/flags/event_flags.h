#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_EVENT_FLAGS_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_EVENT_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "epsledger/mechanism.h"
#include "epsledger/v1/charge.pb.h"
#include "epsledger/v1/mechanism.pb.h"

namespace epsledger::cli {

// A mechanism event on the command line: a shorthand for the common ones, JSON for all.
struct EventFlags {
  std::optional<double> gaussian;
  std::optional<double> laplace;
  std::optional<double> pure_dp;
  std::optional<double> sampling_probability;
  std::string json;
  int64_t count = 1;

  // Adds --gaussian, --laplace, --pure-dp, --sampling-probability, --event and --count.
  void AddTo(CLI::App& command);
  // The same without --count, under the heading `group`.
  void AddEventTo(CLI::App& command, const std::string& group);

  bool any() const { return gaussian || laplace || pure_dp || !json.empty(); }

  // INVALID_ARGUMENT unless exactly one event is given.
  absl::StatusOr<v1::CountedEvent> ToMessage() const;
  // The same, for a server: INVALID_ARGUMENT also for a number outside its domain, so that a wrong
  // one is told without asking.
  absl::StatusOr<v1::CountedEvent> ToCheckedMessage() const;
};

// Returns the event in `json`, the value of `flag` ("--event"). INVALID_ARGUMENT names the flag if
// the text is not JSON, has a key twice (Mechanism::FromJson takes the last value) or is not an
// event.
absl::StatusOr<Mechanism> ReadEvent(absl::string_view flag, absl::string_view json);

// "gaussian 1.1", "poissonSampled 0.01 of gaussian 1.1", or the JSON of other events.
std::string DescribeEvent(const v1::MechanismEvent& event);
// Describes the event of a charge, or what the ledger keeps of the event that it refused.
std::string DescribeEvent(const v1::Charge& charge);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_EVENT_FLAGS_H_
