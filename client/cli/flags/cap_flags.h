#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_CAP_FLAGS_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_CAP_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "client/cli/flags/event_flags.h"
#include "epsledger/budget.h"
#include "epsledger/v1/budget.pb.h"

namespace epsledger::cli {

// A cap on the command line. No flag has a default: a cap that nobody chose is an error.
struct CapFlags {
  std::optional<double> epsilon;
  std::optional<double> delta;
  std::string filter;
  std::optional<double> filter_order;
  std::optional<double> pure_epsilon;
  std::optional<double> rho;
  std::optional<double> mu;
  std::optional<double> renyi_order;
  std::optional<double> renyi_divergence;
  std::vector<std::string> curve_points;
  std::optional<int64_t> units;
  bool no_guarantee = false;

  // Adds --epsilon, --delta, --filter, --filter-order, --pure-epsilon, --rho, --mu, --renyi-order,
  // --renyi-divergence, --curve-point, --units and --no-guarantee.
  void AddTo(CLI::App& command);

  // Returns monostate if no cap flag is given. INVALID_ARGUMENT if a number is outside its domain,
  // if flags of more than one currency are given, or only one of a pair.
  absl::StatusOr<Cap> ToCap() const;

 private:
  absl::Status CheckDomains() const;
};

// Adds --relation, which has no default either.
CLI::Option* AddRelationFlag(CLI::App& command, NeighboringRelation& relation);

// "epsilon 1 at delta 1e-05, filter PORTFOLIO", "rho 0.02", ...
std::string DescribeCap(const v1::Cap& cap);

// The same without how it is enforced: "epsilon 1 at delta 1e-05", "3000 units".
std::string DescribeCapBriefly(const v1::Cap& cap);

// Makes the cap count units of the event of the flags, if they give one. INVALID_ARGUMENT for a
// currency that counts no units.
absl::Status SetReference(const EventFlags& flags, v1::Cap* cap);

// Returns the event whose units the cap counts; nullptr if it counts none, or none yet.
const v1::MechanismEvent* ReferenceOf(const v1::Cap& cap);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_CAP_FLAGS_H_
