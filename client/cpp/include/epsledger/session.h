#ifndef EPSLEDGER_SESSION_H_
#define EPSLEDGER_SESSION_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "epsledger/audit.h"
#include "epsledger/budget.h"
#include "epsledger/guarantee.h"
#include "epsledger/lease.h"
#include "epsledger/mechanism.h"
#include "epsledger/permit.h"
#include "epsledger/refusal.h"

namespace epsledger {

// The schedule that a DECLARED session commits to, and the delta at which it is stated.
struct Plan {
  std::vector<CountedMechanism> events;
  double delta = 0;  // in (0, 1)
};

// How batches are drawn, as in epsledger.v1.Provenance.Sampler.
enum class Sampler {
  kUnspecified = 0,  // not said
  kPoisson = 1,
  kTruncatedPoisson = 2,
  kWithoutReplacement = 3,
  kWithReplacement = 4,
  kRandomAllocation = 5,
  kFullBatch = 6,
  kShuffled = 7,
};

// What a noisy sum is divided by, as in epsledger.v1.Provenance.Normalizer.
enum class Normalizer {
  kUnspecified = 0,  // not said: unknown, never taken for a public number
  kPublicConstant = 1,
  kExpectedFromPublicCount = 2,
  kExpectedFromPrivateCount = 3,
  kSampledBatchSize = 4,
};

// What a training program declares about itself, for the auditor and for a budget's policy.
struct Provenance {
  Sampler sampler = Sampler::kUnspecified;
  double clip_norm = 0;         // in (0, inf); 0: not said
  std::string library;          // up to 64 bytes
  std::string library_version;  // up to 64 bytes
  Normalizer normalizer = Normalizer::kUnspecified;
};

// What is known about a published algorithm, as in epsledger.v1.Claim. A session whose claim is not
// kProven is ADAPTIVE, its first charge is a Mechanism::NonPrivate, and its budgets have a
// NoGuaranteeCap: see client/cpp/README.md, "Runs as published".
struct Claim {
  enum class Status { kProven = 1, kNotProven = 2, kCounterexampleKnown = 3 };
  Status status = Status::kProven;
  double epsilon = 0;  // as published; in [0, inf)
  double delta = 0;    // in [0, 1)
  std::string source;  // up to 256 bytes
};

// The settings of a new session.
struct NewSession {
  // Must be the budget's own relation. It is repeated here so that a trainer that clips for another
  // relation is refused.
  NeighboringRelation neighboring_relation = NeighboringRelation::kUnspecified;
  // Set: a DECLARED session, composed and charged to all ancestors at creation. Unset: ADAPTIVE.
  std::optional<Plan> plan;
  // The session's own cap. An ADAPTIVE session needs one, or no_own_cap.
  Cap own_cap;
  bool no_own_cap = false;
  std::string display_name;
  // Sessions of one hyper-parameter search share a group. Empty, or [a-z0-9] followed by up to 62
  // of [a-z0-9._-].
  std::string group;
  std::map<std::string, std::string> labels;
  std::optional<Claim> claim;
  // The event that the session will charge most. Caps above it that do not count units of any event
  // yet count units of this event from then on.
  std::optional<Mechanism> expects = std::nullopt;
};

struct SessionOptions {
  // "adult" or "budgets/adult".
  std::string budget;
  // The last segment of the session's name: [a-z0-9] followed by up to 62 of [a-z0-9._-].
  std::string session;
  // Set: the session is created first; if one with the same content exists, nothing changes. Unset:
  // the session must exist.
  std::optional<NewSession> create;
  // Who runs the attempt: host, process, library version. Up to 256 bytes.
  std::string client_description;
  // What this attempt declares about itself.
  Provenance provenance;
};

// How the items of a batch depend on each other.
enum class BatchMode {
  kAllOrNothing = 1,  // all new items are accepted, or all are refused
  kPerItem = 2,       // each is decided after the ones before it
};

// What a charge would do now. It is not a promise: others may charge in between.
struct ChargePreview {
  bool accepted = false;
  // Set when not accepted; charge_name is empty.
  std::optional<RefusalDetails> refusal;
  // How many single uses of the event fit now, up to 2^53.
  int64_t steps_that_fit = 0;
};

// One attempt of one training run: asks the ledger before each noisy step.
//
// 1. Every charge has its own key in the attempt ("step-1", "step-2", ...). All tries of one charge
//    use that key, so the ledger counts it at most once.
// 2. A permit is made only from an ACCEPTED answer to exactly that key. There is no fail-open
//    option.
// 3. A charge whose outcome stays unknown counts as spent. Its key is never used for another
//    charge; RetryCharge asks for the same one again.
// 4. Every charge sends the server the newest ledger entry that this client has seen. A server that
//    is behind it, for example one restored from an old backup, answers DATA_LOSS.
//
// Client::OpenSession opens it and fences all earlier attempts of the session. Thread-safe. In a
// forked child every charge fails with FAILED_PRECONDITION: parent and child would use the same
// keys, and one charge would be spent on two noises. The child opens its own session.
class Session {
 public:
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Charges `count` uses of `mechanism` to the session and all its budgets, waits until that is
  // durable, and returns the permit. `count` in [1, 2^53].
  //
  // UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED and UNKNOWN are retried with the same key, with
  // exponential backoff and jitter, until the answer is definite or RetryOptions is used up.
  //   FAILED_PRECONDITION  refused: RefusalOf(status) says why. Nothing was charged.
  //   ABORTED              refused: a newer attempt of this session was opened.
  //   INVALID_ARGUMENT     the event or count is outside its domain. Nothing was charged.
  //   INTERNAL             the answer is not about this charge.
  // UnknownCharge(status) is set exactly when the charge may have been committed.
  absl::StatusOr<Permit> Charge(const Mechanism& mechanism, int64_t count = 1);

  // Charges 1 to 1,000 items in one commit, each with its own key. Returns one result per item in
  // order, each as Charge returns it. The outer status is an error of all items; if
  // UnknownCharge(status) is set, all of them are in unknown_charges().
  absl::StatusOr<std::vector<absl::StatusOr<Permit>>> ChargeBatch(
      const std::vector<CountedMechanism>& items, BatchMode mode);

  // Charges `count` uses of `mechanism`, in [1, 2^53], in one charge, for Lease::Take to hand out
  // without asking the server. `time_to_live`, in (0, 366 days], is the time after which people
  // should ask about the lease: no lease ends by itself. Errors are those of Charge. A lease whose
  // outcome stays unknown is spent in full, and another one may be acquired.
  absl::StatusOr<Lease> AcquireLease(const Mechanism& mechanism, int64_t count,
                                     std::chrono::seconds time_to_live);

  // Asks again for a charge whose outcome is unknown, with its key, event and count, and returns
  // what Charge returns. NOT_FOUND if this session has no such charge, or if its outcome is known
  // by now: one charge never gives two permits.
  absl::StatusOr<Permit> RetryCharge(const std::string& charge_id);

  // Returns the ids of the charges whose outcome is unknown, oldest first.
  std::vector<std::string> unknown_charges() const;

  // Returns what Charge(mechanism, count) would do, and how many steps would fit. Charges nothing.
  absl::StatusOr<ChargePreview> Preview(const Mechanism& mechanism, int64_t count = 1) const;

  // Returns epsilon at `delta`, in (0, 1), of all charges so far, under every accountant; BEST
  // last.
  absl::StatusOr<SessionGuarantees> Guarantees(double delta) const;

  // Records the result of an audit of this run. Charges nothing. Recording the newest result again
  // changes nothing, so a call whose outcome is unknown may be repeated.
  // INVALID_ARGUMENT names the field that is out of its domain.
  absl::Status RecordAudit(const AuditResult& audit);

  // Returns the balances of the session's own cap; empty without one.
  absl::StatusOr<std::vector<CellBalance>> OwnCells() const;

  // "budgets/{budget}/sessions/{session}".
  const std::string& name() const;
  // "budgets/{budget}/sessions/{session}/attempts/{attempt}".
  const std::string& attempt_name() const;

 private:
  friend class Client;
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);

  absl::StatusOr<Permit> ChargeWithId(const std::string& charge_id, const Mechanism& mechanism,
                                      int64_t count, bool is_new);

  std::unique_ptr<Impl> impl_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_SESSION_H_
