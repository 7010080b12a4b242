#ifndef EPSLEDGER_SERVER_BACKUP_COMMANDS_H_
#define EPSLEDGER_SERVER_BACKUP_COMMANDS_H_

#include <string>

#include "absl/status/status.h"

namespace epsledger {

// `epsledgerd backup` and `epsledgerd restore`: copies of a data directory, even of one that a
// server is using.
struct BackupCommand {
  enum class Verb { kNone, kBackUp, kRestore };
  Verb verb = Verb::kNone;
  std::string data_dir;
  std::string to;      // with kBackUp: the folder of backups
  std::string backup;  // with kRestore
  bool drill = false;  // with kRestore: into a temporary folder
};

// Runs the command. Prints the backup's name, or the heads of the restored ledgers.
absl::Status RunBackupCommand(const BackupCommand& command);

}  // namespace epsledger

#endif  // EPSLEDGER_SERVER_BACKUP_COMMANDS_H_
