#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_LEDGER_FLAGS_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_LEDGER_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "epsledger/budget.h"
#include "epsledger/client.h"

namespace CLI {
class App;
}  // namespace CLI

namespace epsledger::trainers {

// The flags that every trainer has: the ledger's address, the budget that pays, and the noise.
// Everything except the address is public and fixed before the records are read.
struct LedgerFlags {
  ClientOptions client;
  std::string token_file;
  std::string budget;   // its id, after Complete
  std::string session;  // a unique generated id if not given

  // The number of steps that the noise is chosen for, and the step at which training stops by
  // itself.
  int steps = 100;
  int max_steps = 0;  // 0: twice `steps`; with `declared`: `steps`
  std::optional<double> noise_multiplier;
  // True: the noise is chosen for the rest of the budget, not for its whole cap.
  bool fit_remaining = false;
  // A cap of the session itself.
  std::optional<double> epsilon;
  std::optional<double> delta;
  bool declared = false;
  int64_t lease = 0;  // steps of one lease; 0: one charge a step
  NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne;

  // Adds all flags. *this must outlive the parsing.
  void AddTo(CLI::App& app);

  // Sets what parsing did not set: the budget's id from "budgets/ID", TLS, the token, a session id
  // "PROGRAM-TIME-RANDOM", the step limit. INVALID_ARGUMENT or NOT_FOUND if the token file cannot
  // be used; INVALID_ARGUMENT for flags that conflict.
  absl::Status Complete(const std::string& program);
};

// Returns "adult" for both "adult" and "budgets/adult".
std::string BudgetId(const std::string& name_or_id);

// Returns the delta of reports: flags.delta if given, else that of the budget's cap, else 1e-5.
double ReportDelta(const LedgerFlags& flags, const Budget& budget);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_LEDGER_FLAGS_H_
