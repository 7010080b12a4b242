#ifndef EPSLEDGER_SERVER_CORE_DURABLE_LEDGER_H_
#define EPSLEDGER_SERVER_CORE_DURABLE_LEDGER_H_

// The port through which transports reach the ledgers. server/storage implements it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/command.h"
#include "server/core/entry.h"
#include "server/core/ledger.h"

namespace epsledger::core {

// A consistent view of what is durable, valid during one call of Read.
class LedgerReader {
 public:
  virtual ~LedgerReader() = default;

  // The ledger that holds the budget, or nullptr.
  virtual const Ledger* LedgerOf(std::string_view budget_id) const = 0;
  // Ids of all budgets of all ledgers in order, after `after_id`, at most `limit`.
  virtual std::vector<std::string> BudgetIds(std::string_view after_id, int64_t limit) const = 0;
  // The stored row of a key, or nothing.
  virtual absl::StatusOr<std::optional<ChargeRecord>> FindCharge(const SessionName& session,
                                                                 int64_t attempt,
                                                                 std::string_view charge_id) = 0;
  // What became of a lease: its LeaseSettled entry, or nothing.
  virtual absl::StatusOr<std::optional<LeaseSettled>> FindSettlement(const SessionName& session,
                                                                     int64_t attempt,
                                                                     std::string_view lease_id) = 0;
  // The entries of a ledger with sequence > after_sequence in order, at most `limit`.
  virtual absl::StatusOr<std::vector<Entry>> ListEntries(const Ledger& ledger,
                                                         int64_t after_sequence, int64_t limit) = 0;
  // The session's charges with sequence > after_sequence in order, at most `limit`.
  virtual absl::StatusOr<std::vector<ChargeRecord>> ListCharges(const SessionName& session,
                                                                int64_t after_sequence,
                                                                int64_t limit) = 0;
};

// Every ledger of the server, durable. Thread-safe.
class DurableLedger {
 public:
  using Reply = absl::AnyInvocable<void(absl::StatusOr<Outcome>) &&>;
  using ReadFunction = absl::AnyInvocable<void(absl::StatusOr<LedgerReader*>) &&>;

  virtual ~DurableLedger() = default;

  // Queues a command. `reply` is called exactly once, on a thread of the ledger: with an outcome
  // only after everything that it tells is durable (I7), with UNAVAILABLE if nothing was done and
  // a repetition may succeed. After a failed commit every reply is UNAVAILABLE and nothing is ever
  // acknowledged again: what was in flight is unknown and counts as charged.
  // Replies are called one at a time, in the order of the decisions.
  virtual void Submit(Command command, Reply reply) = 0;

  // Calls `read` exactly once with the durable state, on a thread of the ledger, between commits.
  // Copy out what you need and return.
  virtual void Read(ReadFunction read) = 0;

  // OK while commands are accepted; otherwise why not. For health checks.
  virtual absl::Status Health() const = 0;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_DURABLE_LEDGER_H_
