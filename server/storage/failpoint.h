#ifndef EPSLEDGER_SERVER_STORAGE_FAILPOINT_H_
#define EPSLEDGER_SERVER_STORAGE_FAILPOINT_H_

// For tests: points at which the process can be killed as by kill -9.
//
// EPSLEDGERD_FAILPOINT=name:n kills the process with SIGKILL when it passes the point of that name
// for the nth time (1 is the first). Nothing else arms a point; an unarmed point costs one relaxed
// load. A value without a known point, or without a count of at least 1, ends the process
// immediately with exit status 2: a test must not pass because nothing happened.

#include <sqlite3.h>

#include <atomic>

namespace epsledger::storage {

// The points, in the order in which a server passes them.
inline constexpr const char* kFailpoints[] = {
    "schema.before_step",       // a migration that is due
    "schema.before_commit",     // its last write
    "schema.after_step",        //
    "recovery.before",          // the store is open
    "recovery.entry",           // each entry replayed
    "recovery.after",           //
    "batch.before",             // commands and reads were taken from the queue
    "command.before",           // each command of the batch
    "command.after",            // decided and appended, not committed
    "begin.before",             // of a transaction
    "begin.after",              //
    "append.before",            // of each entry
    "append.after_ledger",      // the first row of a new ledger
    "append.after_entry",       // before its key
    "append.after_charge",      // the key of a charge or of a settled lease
    "append.after_budget",      // the name of a budget
    "commit.before",            //
    "log.before_write",         // each write to the log
    "log.before_sync",          // the fsync that makes a commit durable
    "log.after_sync",           //
    "checkpoint.before",        // the log is moved to the database
    "checkpoint.before_write",  // each page of it
    "checkpoint.before_sync",   // of the database
    "checkpoint.after_sync",    //
    "checkpoint.after",         //
    "anchor.before_write",      // the commit is durable
    "commit.after",             //
    "reply.before",             // each reply of the batch
    "reply.after",              //
    "read.before",              // each read of the batch
    "drain.before",             // the server stops: what is queued is still done
    "drain.after",              //
};

namespace internal {
extern std::atomic<bool> failpoint_armed;
void PassFailpoint(const char* name);
}  // namespace internal

// REQUIRES: `name` is in kFailpoints.
inline void Failpoint(const char* name) {
  if (internal::failpoint_armed.load(std::memory_order_relaxed)) internal::PassFailpoint(name);
}

// If a point is armed, makes the writes and syncs of the database and its log pass their points.
// REQUIRES: the database is in write-ahead mode and holds its files open.
void PassFailpointsInFiles(sqlite3* database);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_FAILPOINT_H_
