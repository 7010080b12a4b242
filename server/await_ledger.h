#ifndef EPSLEDGER_SERVER_AWAIT_LEDGER_H_
#define EPSLEDGER_SERVER_AWAIT_LEDGER_H_

#include <csignal>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/access_command.h"
#include "server/flags.h"
#include "server/storage/group_commit_ledger.h"

namespace epsledger {

// Opens the ledger that the flags name. If PostgreSQL does not answer, tries again once a second:
// the log reports it, and the HTTP addresses answer /readyz with 503 and the reason. `published`:
// see GroupCommitLedger::Options. Returns CANCELLED if one of `stop_signals` comes meanwhile; any
// other error is permanent.
absl::StatusOr<std::unique_ptr<storage::GroupCommitLedger>> AwaitLedger(
    const Flags& flags, const std::vector<core::NamedEntry>& published,
    const sigset_t& stop_signals);

// Does the same without waiting.
absl::StatusOr<std::unique_ptr<storage::GroupCommitLedger>> OpenLedger(
    const Flags& flags, const std::vector<core::NamedEntry>& published = {});

}  // namespace epsledger

#endif  // EPSLEDGER_SERVER_AWAIT_LEDGER_H_
