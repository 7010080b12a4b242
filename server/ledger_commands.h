#ifndef EPSLEDGER_SERVER_LEDGER_COMMANDS_H_
#define EPSLEDGER_SERVER_LEDGER_COMMANDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/open_store.h"

namespace epsledger {

// `epsledgerd ledger VERB`: an operator's commands for ledgers that no server holds. They read and
// replay entries, which this program can do; epsctl knows the protocol only.
struct LedgerCommand {
  enum class Verb { kNone, kVerify, kImport, kExport, kAcceptLoss, kMigrate, kPrepare };
  Verb verb = Verb::kNone;
  std::string file;     // an export file
  bool prices = false;  // with kVerify: proves prices in units again
  // With kVerify: a file of published heads, and the key that signed it in hexadecimal.
  std::string heads_file;
  std::vector<std::string> public_keys;
  StorePlace place;    // with kVerify, instead of a file; with kMigrate, both places
  std::string budget;  // with kExport: the root, "adult" or "budgets/adult"
  std::string reason;  // with kAcceptLoss
  std::string to;      // with kMigrate: "postgres" or "sqlite"
  std::string writer;  // with kPrepare: the role of the servers
};

// Runs the command and prints its findings, one line for each ledger. DATA_LOSS if something does
// not verify.
absl::Status RunLedgerCommand(const LedgerCommand& command);

}  // namespace epsledger

#endif  // EPSLEDGER_SERVER_LEDGER_COMMANDS_H_
