#ifndef EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_OPTIONS_H_
#define EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_OPTIONS_H_

#include <cstddef>
#include <vector>

#include "absl/time/time.h"
#include "server/core/access_command.h"

namespace epsledger::storage {

// The bounds of a GroupCommitLedger, and what it must find in its store.
struct GroupCommitOptions {
  // Commands in one transaction. Bounds how long a commit delays others.
  size_t max_batch = 1024;
  // Commands and reads of one tenant that may wait; of all tenants together twice as many.
  // Further ones get core::Overload, immediately and on the caller's thread. This is about a
  // second of work: a command is charged even if its client stopped waiting, so a long queue
  // would spend budgets on calls that nobody waits for. A request from within a reply is never
  // refused, because it reports a completed command.
  size_t max_queue = 16'384;
  // After this time the remaining reads of a batch wait until newly arrived commands are decided.
  absl::Duration max_reading = absl::Milliseconds(1);
  // Committed batches whose replies may wait. Beyond this bound decisions wait.
  size_t max_untold_batches = 16;
  // A held store that can only be read is tried again after this long.
  absl::Duration resume_interval = absl::Seconds(1);
  // For shared stores only, like the next four. An idle server looks for new entries of others at
  // this interval, and waits this long after a failure before it tries again.
  absl::Duration catch_up_interval = absl::Milliseconds(250);
  // The server stops serving from a database that does not answer for this long (for example
  // because it waits for a standby that is gone).
  absl::Duration patience = absl::Seconds(10);
  // After this long without an answer the server no longer knows which tokens were revoked.
  // Longer than max_deciding.
  absl::Duration token_patience = absl::Seconds(5);
  // Commands that are not decided within this time go into the next transaction. Other servers
  // wait for the ledgers of this one, and the database ends a session that holds them for too
  // long (kSessionSettings of the PostgreSQL store).
  absl::Duration max_deciding = absl::Seconds(3);
  // Commands wait this long for a ledger that another server holds.
  absl::Duration hold_patience = absl::Seconds(10);
  // Published entries that the store must hold (Replica::CheckPublished).
  std::vector<core::NamedEntry> published;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_GROUP_COMMIT_OPTIONS_H_
