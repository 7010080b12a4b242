#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_PROBLEM_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/data/labeled_rows.h"
#include "client/trainers/istdp/command_line.h"

namespace epsledger::trainers::istdp {

// The records of a run, ready for training: scaled by public bounds, with a bias column (except for
// synthetic problems), rows of norm at most the public bound.
struct Problem {
  LabeledRows train;  // private
  HeldOutRows held_out;
  int64_t public_record_count = 0;
  std::vector<std::string> feature_names;  // one for each column
  std::string description;                 // for people; as LocatedData::description
};

// Finds and prepares the data that --data and related flags request. "synthetic:SEED" is 20,000
// training records of MakeSparseProblem and 5,000 held-out records. Status codes as FindData;
// INVALID_ARGUMENT also without a public record count.
absl::StatusOr<Problem> PrepareProblem(const CommandLine& options);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_PROBLEM_H_
