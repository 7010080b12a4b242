#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_CANARY_FLAGS_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_CANARY_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "epsledger/budget.h"

namespace CLI {
class App;
}  // namespace CLI

namespace epsledger::trainers {

// The flags of an audit in one run, which every trainer has.
struct CanaryFlags {
  int64_t count = 0;        // 0: no audit
  std::string scores_file;  // empty if and only if there are no canaries

  // Adds --canaries and --canary-scores. *this must outlive the parsing.
  void AddTo(CLI::App& app);

  // Returns INVALID_ARGUMENT with the reason if canaries cannot audit such a run.
  absl::Status Check(bool resumes, NeighboringRelation relation) const;
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_CANARY_FLAGS_H_
