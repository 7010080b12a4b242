#ifndef EPSLEDGER_SERVER_CORE_DURABLE_LEDGER_H_
#define EPSLEDGER_SERVER_CORE_DURABLE_LEDGER_H_

// The port through which transports reach the ledgers. server/storage implements it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/access_ledger.h"
#include "server/core/command.h"
#include "server/core/entry.h"
#include "server/core/incarnation.h"
#include "server/core/ledger.h"
#include "server/core/tenant.h"

namespace epsledger::core {

// Somebody who waits for more.
class CommitListener {
 public:
  virtual ~CommitListener() = default;
  // On a thread of the ledger, between commits: be short.
  virtual void OnCommit() = 0;
};

// A ledger that takes no commands.
struct QuarantinedLedger {
  std::string root_id;  // of the budget
  std::string reason;
  bool can_be_lifted = false;  // by LiftQuarantine
};

// A consistent view of what is durable for one tenant, valid during one call of Read.
class LedgerReader {
 public:
  virtual ~LedgerReader() = default;

  // The ledger that holds the budget, or nullptr.
  virtual const Ledger* LedgerOf(std::string_view budget_id) const = 0;
  // Ids of all budgets of the tenant in order, after `after_id`, at most `limit`.
  virtual std::vector<std::string> BudgetIds(std::string_view after_id, int64_t limit) const = 0;
  // The stored row of a key, or nothing.
  virtual absl::StatusOr<std::optional<ChargeRecord>> FindCharge(const SessionName& session,
                                                                 int64_t attempt,
                                                                 std::string_view charge_id) = 0;
  // What became of a lease: its LeaseSettled entry, or nothing.
  virtual absl::StatusOr<std::optional<LeaseSettled>> FindSettlement(const SessionName& session,
                                                                     int64_t attempt,
                                                                     std::string_view lease_id) = 0;
  // The entries of a ledger with sequence > after_sequence in order, at most `limit`, and none
  // after those whose contents come to kMaxListedBytes.
  virtual absl::StatusOr<std::vector<Entry>> ListEntries(const Ledger& ledger,
                                                         int64_t after_sequence, int64_t limit) = 0;
  // The session's charges with sequence > after_sequence in order, at most `limit`, and none after
  // those whose entries come to kMaxListedBytes.
  struct ChargePage {
    std::vector<ChargeRecord> records;
    bool is_cut = false;  // by `limit` or by bytes: there may be more
  };
  virtual absl::StatusOr<ChargePage> ListCharges(const SessionName& session, int64_t after_sequence,
                                                 int64_t limit) = 0;

  // Calls `listener` once, after the first commit that adds to what this view shows of the ledger,
  // or one that fails: nothing comes in between unseen. A listener that has gone by then is
  // forgotten.
  virtual void NotifyOfNextCommit(const Ledger& ledger, std::weak_ptr<CommitListener> listener) = 0;
  // Every ledger of every tenant, for those who run the server.
  struct TenantLedger {
    std::string tenant;
    const Ledger* ledger;
  };
  virtual std::vector<TenantLedger> AllLedgers() const = 0;
  // Ledgers that contradict what was acknowledged, and take no commands at this server.
  virtual int64_t QuarantinedLedgerCount() const = 0;
  // Those of the tenant.
  virtual std::vector<QuarantinedLedger> QuarantinedLedgers() const = 0;
  // Heads that clients brought, that the ledgers do not hold and nobody can prove, since the start.
  virtual int64_t UnprovedHeadCount() const = 0;
  // Who may come in, of all tenants.
  virtual const AccessLedger& Access() const = 0;
  // The entries of the ledger of access with sequence > after_sequence in order, at most `limit`.
  virtual absl::StatusOr<std::vector<Entry>> ListAccessEntries(int64_t after_sequence,
                                                               int64_t limit) = 0;
};

// Every ledger of the server, durable. Thread-safe.
class DurableLedger {
 public:
  using Reply = absl::AnyInvocable<void(absl::StatusOr<Outcome>) &&>;
  using ReadFunction = absl::AnyInvocable<void(absl::StatusOr<LedgerReader*>) &&>;

  virtual ~DurableLedger() = default;

  // Queues a command on the tenant's ledgers, or, if it is an AccessCommand, on the one ledger of
  // access. `reply` is called exactly once, on a thread of the ledger: with an outcome
  // only after everything that it tells is durable (I7), with UNAVAILABLE if nothing was done and
  // a repetition may succeed. After a failed commit the replies in flight are UNAVAILABLE, and what
  // they were about is unknown and counts as charged; later ones are core::ReadOnly while the
  // ledger can only be read. Replies are called one at a time, in the order of the decisions. Keep
  // them short.
  virtual void Submit(Tenant tenant, Command command, Reply reply) = 0;

  // Calls `read` exactly once with the durable state of the tenant, on a thread of the ledger,
  // between commits. Copy out what you need and return.
  virtual void Read(Tenant tenant, ReadFunction read) = 0;

  // AccessLedger::tokens() of all tenants, as durable now: a change is in it before its reply is
  // called. Never nullptr, and never waits.
  virtual std::shared_ptr<const TokenTable> Tokens() const = 0;

  // False: a token may have been revoked elsewhere, and this server could not know.
  virtual bool TokensAreCurrent() const { return true; }

  // OK while commands are accepted; otherwise why not. For health checks.
  virtual absl::Status Health() const = 0;

  // The lives of what is stored, the present one last; the same as long as this object lives.
  // Empty: the store keeps no account of them.
  virtual std::vector<Incarnation> Incarnations() const { return {}; }
};

// A ledger in front of another one: what is not overridden is the other's.
class ForwardingLedger : public DurableLedger {
 public:
  // REQUIRES: `ledger` outlives this and every reply.
  explicit ForwardingLedger(DurableLedger& ledger) : ledger_(ledger) {}

  void Submit(Tenant tenant, Command command, Reply reply) override {
    ledger_.Submit(std::move(tenant), std::move(command), std::move(reply));
  }
  void Read(Tenant tenant, ReadFunction read) override {
    ledger_.Read(std::move(tenant), std::move(read));
  }
  std::shared_ptr<const TokenTable> Tokens() const override { return ledger_.Tokens(); }
  bool TokensAreCurrent() const override { return ledger_.TokensAreCurrent(); }
  absl::Status Health() const override { return ledger_.Health(); }
  std::vector<Incarnation> Incarnations() const override { return ledger_.Incarnations(); }

 protected:
  DurableLedger& ledger() const { return ledger_; }

 private:
  DurableLedger& ledger_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_DURABLE_LEDGER_H_
