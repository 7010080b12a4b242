#ifndef EPSLEDGER_SERVER_CORE_DURABLE_LEDGER_H_
#define EPSLEDGER_SERVER_CORE_DURABLE_LEDGER_H_

// Transports reach the ledgers through this port. server/storage implements it.

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

// Is notified of a commit.
class CommitListener {
 public:
  virtual ~CommitListener() = default;
  // Runs on a thread of the ledger, between commits, so it must be short.
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

  // Returns the ledger that holds the budget, or nullptr.
  virtual const Ledger* LedgerOf(std::string_view budget_id) const = 0;
  // Returns at most `limit` budget ids of the tenant after `after_id`, in order.
  virtual std::vector<std::string> BudgetIds(std::string_view after_id, int64_t limit) const = 0;
  // Returns the stored row of a key, or nothing.
  virtual absl::StatusOr<std::optional<ChargeRecord>> FindCharge(const SessionName& session,
                                                                 int64_t attempt,
                                                                 std::string_view charge_id) = 0;
  // Returns the LeaseSettled entry of a lease, or nothing.
  virtual absl::StatusOr<std::optional<LeaseSettled>> FindSettlement(const SessionName& session,
                                                                     int64_t attempt,
                                                                     std::string_view lease_id) = 0;
  // Returns the entries of a ledger with sequence > after_sequence, in order: at most `limit`, and
  // no further entry once their contents have reached kMaxListedBytes.
  virtual absl::StatusOr<std::vector<Entry>> ListEntries(const Ledger& ledger,
                                                         int64_t after_sequence, int64_t limit) = 0;
  // Returns the charges of the session with sequence > after_sequence, in order: at most `limit`,
  // and no further charge once their entries have reached kMaxListedBytes.
  struct ChargePage {
    std::vector<ChargeRecord> records;
    bool is_cut = false;  // by `limit` or by bytes: more may exist
  };
  virtual absl::StatusOr<ChargePage> ListCharges(const SessionName& session, int64_t after_sequence,
                                                 int64_t limit) = 0;

  // Calls `listener` once, after the first commit that adds to what this view shows of the ledger,
  // or after a failed commit, so no change is missed. A listener that no longer exists then is
  // dropped.
  virtual void NotifyOfNextCommit(const Ledger& ledger, std::weak_ptr<CommitListener> listener) = 0;
  // Calls `listener` once, after the first commit that gives the tenant a budget which this view
  // does not show, also one of another server, so no budget is missed. Otherwise as
  // NotifyOfNextCommit.
  virtual void NotifyOfNextBudget(std::weak_ptr<CommitListener> listener) = 0;
  // Returns every ledger of every tenant, for the operators of the server.
  struct TenantLedger {
    std::string tenant;
    const Ledger* ledger;
  };
  virtual std::vector<TenantLedger> AllLedgers() const = 0;
  // The number of ledgers that contradict what was acknowledged and take no commands at this
  // server.
  virtual int64_t QuarantinedLedgerCount() const = 0;
  // The quarantined ledgers of the tenant.
  virtual std::vector<QuarantinedLedger> QuarantinedLedgers() const = 0;
  // The number of heads since the start that clients brought, that the ledgers do not hold, and
  // that nobody can prove.
  virtual int64_t UnprovedHeadCount() const = 0;
  // The ledger of access, for all tenants.
  virtual const AccessLedger& Access() const = 0;
  // Returns at most `limit` entries of the ledger of access with sequence > after_sequence, in
  // order.
  virtual absl::StatusOr<std::vector<Entry>> ListAccessEntries(int64_t after_sequence,
                                                               int64_t limit) = 0;
};

// All ledgers of the server, durable. Thread-safe.
class DurableLedger {
 public:
  using Reply = absl::AnyInvocable<void(absl::StatusOr<Outcome>) &&>;
  using ReadFunction = absl::AnyInvocable<void(absl::StatusOr<LedgerReader*>) &&>;

  virtual ~DurableLedger() = default;

  // Queues a command on the tenant's ledgers, or, if it is an AccessCommand, on the one ledger of
  // access. `reply` is called exactly once, on a thread of the ledger: with an outcome only after
  // everything in it is durable (I7), with UNAVAILABLE if nothing was done and a repetition may
  // succeed. After a failed commit the replies in flight are UNAVAILABLE; the outcomes of their
  // commands are unknown and count as charged. Later replies are core::ReadOnly while the ledger
  // can only be read. Replies are called one at a time, in the order of the decisions, and must be
  // short.
  virtual void Submit(Tenant tenant, Command command, Reply reply) = 0;

  // Calls `read` exactly once with the durable state of the tenant, on a thread of the ledger,
  // between commits. `read` copies what it needs and returns.
  virtual void Read(Tenant tenant, ReadFunction read) = 0;

  // Returns AccessLedger::tokens() of all tenants, as durable now. It contains a change before the
  // reply to that change is called. Never returns nullptr, and never waits.
  virtual std::shared_ptr<const TokenTable> Tokens() const = 0;

  // Returns false if a token may have been revoked at another server without this server knowing.
  virtual bool TokensAreCurrent() const { return true; }

  // Returns OK while commands are accepted, otherwise the reason why not. For health checks.
  virtual absl::Status Health() const = 0;

  // Returns the incarnations of the store, the present one last; constant during the life of this
  // object. Empty if the store does not record them.
  virtual std::vector<Incarnation> Incarnations() const { return {}; }
};

// Forwards every call that a subclass does not override to another ledger.
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
