#ifndef EPSLEDGER_SERVER_CORE_ENTRY_H_
#define EPSLEDGER_SERVER_CORE_ENTRY_H_

// The rows of a ledger: one per state change, refusals included (I16). The state of a ledger is the
// replay of its entries (I18). Tags and the order of Fields are stored: never renumber, only append
// new kinds.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "server/core/access_command.h"
#include "server/core/actor.h"
#include "server/core/annotation.h"
#include "server/core/balance.h"
#include "server/core/command.h"
#include "server/core/cost.h"
#include "server/core/grant.h"

namespace epsledger::core {

// Why a charge was refused. Numbers as in charge.proto.
enum class RefusalReason : uint8_t {
  kBudgetExhausted = 1,
  kBudgetFrozen = 2,
  kClosed = 3,
  kNotInPlan = 4,
  kAttemptFenced = 5,
  kEventNotChargeable = 6,
  kBatchRefused = 7,
  kPolicyViolation = 8,
  kBudgetSuperseded = 9,
};

// "BUDGET_EXHAUSTED", ...
const char* Name(RefusalReason reason);

struct Refusal {
  RefusalReason reason = RefusalReason::kBudgetExhausted;
  // The budget whose cap refused the charge. With limiting_session_id, the session's own cap
  // refused it.
  std::string limiting_budget_id;
  std::string limiting_session_id;
  // The cell that limits the charge there (Balance::LimitingCell), its spent amount and the amount
  // that the charge requested.
  Cell cell;
  Cost spent;
  Cost requested;
  // The number of single uses of the event that would still have fitted everywhere.
  int64_t steps_that_fit = 0;
  std::string remedy;  // with kPolicyViolation: what the policy requires
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("reason", s.reason);
    v("limiting_budget_id", s.limiting_budget_id);
    v("limiting_session_id", s.limiting_session_id);
    v("cell", s.cell);
    v("spent", s.spent);
    v("requested", s.requested);
    v("steps_that_fit", s.steps_that_fit);
    v("remedy", s.remedy);
  }
};

struct BudgetCreated {
  static constexpr uint8_t kTag = 1;
  BudgetSpec spec;
  CellFilter filter;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("spec", s.spec);
    v("filter", s.filter);
  }
};

// The composition of a plan, and the costs that it charged to each ancestor.
struct PlanCharge {
  double epsilon = 0;  // at spec.plan_delta, an upper bound
  std::string theorem;
  // One vector per budget from the session's own up to the root, one cost per cell.
  std::vector<std::vector<Cost>> costs;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("epsilon", s.epsilon);
    v("theorem", s.theorem);
    v("costs", s.costs);
  }
};

struct SessionCreated {
  static constexpr uint8_t kTag = 2;
  SessionSpec spec;
  // 1, 2, 3, ... in the ledger. Later entries name the session by this number.
  int64_t session_number = 0;
  std::optional<CellFilter> own_filter;
  std::optional<PlanCharge> plan_charge;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("spec", s.spec);
    v("session_number", s.session_number);
    v("own_filter", s.own_filter);
    v("plan_charge", s.plan_charge);
  }
};

// A DECLARED session whose plan did not fit. No session was created and nothing was charged.
struct SessionRefused {
  static constexpr uint8_t kTag = 3;
  SessionSpec spec;
  Refusal refusal;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("spec", s.spec);
    v("refusal", s.refusal);
  }
};

struct AttemptOpened {
  static constexpr uint8_t kTag = 4;
  int64_t session_number = 0;
  int64_t attempt = 0;
  std::string client_description;
  Provenance provenance;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("session_number", s.session_number);
    v("attempt", s.attempt);
    v("client_description", s.client_description);
    v("provenance", s.provenance);
  }
};

// The first use of an event in a session fixes the cost of one use permanently.
struct EventPriced {
  static constexpr uint8_t kTag = 5;
  int64_t session_number = 0;
  int64_t event_index = 0;  // 0, 1, 2, ... in the session
  accounting::NestedEvent event;
  // One vector per filter that gates the session: its own first if it has one, then each budget
  // from the session's up to the root. Empty for a DECLARED session, whose plan was charged.
  std::vector<std::vector<Cost>> unit_costs;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("session_number", s.session_number);
    v("event_index", s.event_index);
    v("event", s.event);
    v("unit_costs", s.unit_costs);
  }
};

enum class ChargeDecision : uint8_t { kAccepted = 1, kRefused = 2 };

struct ChargeDecided {
  static constexpr uint8_t kTag = 6;
  int64_t session_number = 0;
  int64_t attempt = 0;
  std::string charge_id;
  int64_t event_index = 0;  // of the session's events
  int64_t count = 0;
  ChargeDecision decision = ChargeDecision::kRefused;
  std::optional<Refusal> refusal;  // with kRefused
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("session_number", s.session_number);
    v("attempt", s.attempt);
    v("charge_id", s.charge_id);
    v("event_index", s.event_index);
    v("count", s.count);
    v("decision", s.decision);
    v("refusal", s.refusal);
  }
};

// The kept part of an event that the session does not hold, because no charge of it was accepted. A
// refused event is neither priced nor kept in full, so it costs its sender more than the ledger.
struct EventOutline {
  std::string digest;  // SHA-256 of the canonical encoding
  std::string words;   // for people, at most kMaxEventWordsBytes
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("digest", s.digest);
    v("words", s.words);
  }
};

struct BudgetUpdated {
  static constexpr uint8_t kTag = 7;
  std::string budget_id;
  BudgetDescription description;  // the complete new one
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("description", s.description);
  }
};

struct BudgetPhaseChanged {
  static constexpr uint8_t kTag = 8;
  std::string budget_id;
  BudgetPhase phase = BudgetPhase::kActive;
  std::string reason;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("phase", s.phase);
    v("reason", s.reason);
  }
};

struct BudgetSuperseded {
  static constexpr uint8_t kTag = 9;
  std::string budget_id;
  std::string reason;
  BudgetSpec successor;
  CellFilter filter;
  // The amount that the old budget has spent, in the cells of the successor.
  std::vector<Cost> carried;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("reason", s.reason);
    v("successor", s.successor);
    v("filter", s.filter);
    v("carried", s.carried);
  }
};

// The changes that the budget guards from now on, for itself and for everything below it.
struct ApprovalPolicySet {
  static constexpr uint8_t kTag = 24;
  std::string budget_id;
  std::vector<GuardedChange> guarded;  // ascending
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("guarded", s.guarded);
  }
};

struct ChangeProposed {
  static constexpr uint8_t kTag = 25;
  std::string budget_id;
  std::string proposal_id;
  ProposedChange change;
  std::string reason;
  Person proposer;
  int64_t expire_time_micros = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("proposal_id", s.proposal_id);
    v("change", s.change);
    v("reason", s.reason);
    v("proposer", s.proposer);
    v("expire_time_micros", s.expire_time_micros);
  }
};

// If the proposal was approved, this entry precedes the entries of the change.
struct ProposalResolved {
  static constexpr uint8_t kTag = 26;
  std::string budget_id;
  std::string proposal_id;
  bool approved = false;
  Person resolver;
  std::string reason;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("proposal_id", s.proposal_id);
    v("approved", s.approved);
    v("resolver", s.resolver);
    v("reason", s.reason);
  }
};

struct SessionClosed {
  static constexpr uint8_t kTag = 10;
  int64_t session_number = 0;
  std::string reason;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("session_number", s.session_number);
    v("reason", s.reason);
  }
};

// Makes the accepted charge in the entry before it a lease.
struct LeaseGranted {
  static constexpr uint8_t kTag = 11;
  int64_t session_number = 0;
  int64_t attempt = 0;
  std::string lease_id;
  int64_t expire_time_micros = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("session_number", s.session_number);
    v("attempt", s.attempt);
    v("lease_id", s.lease_id);
    v("expire_time_micros", s.expire_time_micros);
  }
};

struct LeaseSettled {
  static constexpr uint8_t kTag = 12;
  int64_t session_number = 0;
  int64_t attempt = 0;
  std::string lease_id;
  int64_t used_count = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("session_number", s.session_number);
    v("attempt", s.attempt);
    v("lease_id", s.lease_id);
    v("used_count", s.used_count);
  }
};

// The next five kinds, QuarantineBegun, QuarantineLifted and QuarantineLiftProposed are entries
// only of the ledger of access (access_ledger.h).
struct TokenCreated {
  static constexpr uint8_t kTag = 13;
  TokenSpec spec;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("spec", s.spec);
  }
};

// A token with at least one grant.
struct LimitedTokenCreated {
  static constexpr uint8_t kTag = 22;
  TokenSpec spec;
  std::vector<Grant> grants;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("spec", s.spec);
    v("grants", s.grants);
  }
};

struct LoginCreated {
  static constexpr uint8_t kTag = 23;
  TokenSpec spec;
  std::vector<Grant> grants;
  std::string login_of;  // a token's id
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("spec", s.spec);
    v("grants", s.grants);
    v("login_of", s.login_of);
  }
};

struct TokenRevoked {
  static constexpr uint8_t kTag = 14;
  std::string token_id;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("token_id", s.token_id);
  }
};

struct CallsDenied {
  static constexpr uint8_t kTag = 15;
  DenialCount denial;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("denial", s.denial);
  }
};

struct AuditRecorded {
  static constexpr uint8_t kTag = 16;
  int64_t session_number = 0;
  AuditRecord audit;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("session_number", s.session_number);
    v("audit", s.audit);
  }
};

// What is said about a budget or, with a session number, about one of its sessions.
struct Annotated {
  static constexpr uint8_t kTag = 28;
  std::string budget_id;
  int64_t session_number = 0;  // 0: the budget
  AnnotationTopic topic = AnnotationTopic::kDeploymentModel;
  std::string text;  // empty: withdrawn
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("session_number", s.session_number);
    v("topic", s.topic);
    v("text", s.text);
  }
};

struct SignedOff {
  static constexpr uint8_t kTag = 29;
  std::string budget_id;
  int64_t session_number = 0;  // 0: the budget
  SignOff sign_off;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("session_number", s.session_number);
    v("sign_off", s.sign_off);
  }
};

// The reference of a cell of units, fixed before the first charge. Either `budget_id` or
// `session_number` names the owner of the cap; the other is empty or 0. The pair of laws is stored
// number for number (accounting/filter/loss_pair.h).
struct ReferenceFixed {
  static constexpr uint8_t kTag = 17;
  std::string budget_id;
  int64_t session_number = 0;
  accounting::NestedEvent event;
  double interval = 0;
  int64_t first = 0;
  std::vector<double> masses;
  int64_t units = 0;
  double slack = 0;
  double reserve = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("session_number", s.session_number);
    v("event", s.event);
    v("interval", s.interval);
    v("first", s.first);
    v("masses", s.masses);
    v("units", s.units);
    v("slack", s.slack);
    v("reserve", s.reserve);
  }
};

// A proved price of a block of an event in units, at the filter with index `gate` among those that
// gate the session (as in EventPriced). Later charges look it up (units.h).
struct UnitsPriced {
  static constexpr uint8_t kTag = 18;
  int64_t session_number = 0;
  int64_t event_index = 0;
  int64_t gate = 0;
  int64_t count = 0;
  int64_t level = 0;
  int64_t units = 0;
  double reserve = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("session_number", s.session_number);
    v("event_index", s.event_index);
    v("gate", s.gate);
    v("count", s.count);
    v("level", s.level);
    v("units", s.units);
    v("reserve", s.reserve);
  }
};

// A ledger takes no commands any more, because it lacks an acknowledged entry; or somebody reported
// another such entry.
struct QuarantineBegun {
  static constexpr uint8_t kTag = 19;
  NamedEntry lost;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("lost", s.lost);
  }
};

// The ledger takes commands again. The entries that were reported until then are known to be lost.
struct QuarantineLifted {
  static constexpr uint8_t kTag = 20;
  std::string root_id;
  std::string principal;
  std::string reason;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("root_id", s.root_id);
    v("principal", s.principal);
    v("reason", s.reason);
  }
};

// The first of two people wants to lift a quarantine.
struct QuarantineLiftProposed {
  static constexpr uint8_t kTag = 27;
  std::string root_id;
  Person proposer;
  std::string reason;
  int64_t expire_time_micros = 0;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("root_id", s.root_id);
    v("proposer", s.proposer);
    v("reason", s.reason);
    v("expire_time_micros", s.expire_time_micros);
  }
};

// A refused charge of an event that the session did not hold.
struct ChargeRefused {
  static constexpr uint8_t kTag = 21;
  int64_t session_number = 0;
  int64_t attempt = 0;
  std::string charge_id;
  EventOutline event;
  int64_t count = 0;
  Refusal refusal;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("session_number", s.session_number);
    v("attempt", s.attempt);
    v("charge_id", s.charge_id);
    v("event", s.event);
    v("count", s.count);
    v("refusal", s.refusal);
  }
};

// Its special members are defined in one file: compiled wherever the sum is used, they took half of
// the time of the server's build.
struct EntryBody
    : std::variant<BudgetCreated, SessionCreated, SessionRefused, AttemptOpened, EventPriced,
                   ChargeDecided, BudgetUpdated, BudgetPhaseChanged, BudgetSuperseded,
                   SessionClosed, LeaseGranted, LeaseSettled, TokenCreated, TokenRevoked,
                   CallsDenied, AuditRecorded, ReferenceFixed, UnitsPriced, QuarantineBegun,
                   QuarantineLifted, ChargeRefused, LimitedTokenCreated, LoginCreated,
                   ApprovalPolicySet, ChangeProposed, ProposalResolved, QuarantineLiftProposed,
                   Annotated, SignedOff> {
  using variant::variant;
  EntryBody();
  EntryBody(const EntryBody&);
  EntryBody(EntryBody&&) noexcept;
  EntryBody& operator=(const EntryBody&);
  EntryBody& operator=(EntryBody&&) noexcept;
  ~EntryBody();
};

// Identifies a charge within one ledger, or, with SettlementId, the settlement of a lease.
struct ChargeKey {
  int64_t session_number = 0;
  int64_t attempt = 0;
  std::string charge_id;
  bool operator==(const ChargeKey&) const = default;
};

// Returns the id that a lease's LeaseSettled entry has in place of a charge id. No charge id
// contains a slash.
std::string SettlementId(const std::string& lease_id);

// Returns the key that an entry takes permanently, if it takes one.
std::optional<ChargeKey> KeyOf(const EntryBody& body);
// Returns the key of the charge that an entry decides, if it decides one.
std::optional<ChargeKey> ChargeKeyOf(const EntryBody& body);
// Returns the budget that an entry creates, or nullptr.
const BudgetSpec* NewBudgetOf(const EntryBody& body);

using Hash = std::array<uint8_t, 32>;

// A row with its position in the hash chain. `content` is the canonical encoding of (sequence,
// time, actor, body) (codec.h), `hash` = SHA-256(hash of the previous entry || content). The first
// entry follows 32 zero bytes.
struct Entry {
  int64_t sequence = 0;  // 1, 2, 3, ... in the root budget's ledger (I8)
  int64_t time_micros = 0;
  // Unset: not recorded, as in every entry of release 0.1.
  std::optional<Actor> actor;
  EntryBody body;
  std::string content;
  Hash hash{};
};

struct LedgerHead {
  int64_t sequence = 0;
  Hash hash{};
};
inline bool operator==(const LedgerHead& a, const LedgerHead& b) {
  return a.sequence == b.sequence && a.hash == b.hash;
}

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_ENTRY_H_
