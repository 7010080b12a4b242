#ifndef EPSLEDGER_SERVER_CORE_LEDGER_H_
#define EPSLEDGER_SERVER_CORE_LEDGER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "server/core/balance.h"
#include "server/core/command.h"
#include "server/core/entry.h"
#include "server/core/gate.h"
#include "server/core/merkle.h"
#include "server/core/pricing.h"
#include "server/core/proposal.h"

namespace epsledger::core {

struct Conditions;

// The number of recent hashes that a ledger remembers, to compare with heads that clients saw.
inline constexpr int64_t kRecentHashes = 256;

// True if one change of a record may affect two parts of a partition.
inline bool TwoPartsChange(accounting::NeighboringRelation relation) {
  return relation == accounting::NeighboringRelation::kReplaceOne;
}

// The place in the ledger and the time of a refusal.
struct RefusalMark {
  int64_t sequence = 0;
  int64_t time_micros = 0;
};

// What was spent of a cap at the end of a day.
struct SpendDay {
  int64_t day = 0;            // days of UTC since 1970-01-01
  double spent_fraction = 0;  // as Balance::SpentFraction
};

// Returns the day of UTC of a time, in days since 1970-01-01.
int64_t DayOf(int64_t time_micros);

struct BudgetState {
  BudgetSpec spec;  // as created
  Balance balance;
  int64_t create_time_micros = 0;
  BudgetDescription description;  // current
  BudgetPhase phase = BudgetPhase::kActive;
  std::string phase_reason;
  std::string superseded_by;
  std::string supersedes;
  // The amount that the superseded budget had spent, in the cells of this budget. `balance` counts
  // it.
  std::vector<Cost> carried;
  std::vector<std::string> child_ids;
  // Numbers of the ADAPTIVE sessions below this budget that have an unsettled lease.
  std::set<int64_t> leasing_sessions;
  // Below a partition: the amounts that this budget has added to its parent, to its grandparent,
  // ...: one vector each, with one amount per cell there. Empty elsewhere.
  std::vector<std::vector<Cost>> contributions;
  // For a partition: what its children have spent in its own cells, in the cells of its parent, ...
  std::vector<std::vector<PartitionTotal>> totals;
  // Changes that one person alone cannot make to this budget or below it; ascending.
  std::vector<GuardedChange> guarded;
  // By id: all pending proposals, and the last kMaxResolvedProposals of the others.
  std::map<std::string, Proposal, std::less<>> proposals;
  std::deque<std::string> resolved_proposals;  // ids, oldest first
  // Charges of all sessions below this budget, without plans.
  int64_t accepted_charge_count = 0;
  int64_t refused_charge_count = 0;
  // The time of the newest accepted charge below this budget; 0 before the first.
  int64_t last_accepted_time_micros = 0;
  // What the attempts below this budget, and below those that it superseded, declared to divide by
  // when a charge of theirs was accepted. nullopt: an attempt that did not say.
  std::set<std::optional<Normalizer>> normalizers;
  // The newest kMaxRecentRefusals refusals of charges and plans below this budget, oldest first.
  std::deque<RefusalMark> recent_refusals;
  // The newest day on which something was spent below this budget, plans included; 0 before the
  // first. A successor starts with the day of its creation.
  int64_t newest_spend_day = 0;
  // The kMaxSpendDays days before newest_spend_day on which something was spent, oldest first.
  std::deque<SpendDay> spend_days;
  Annotations annotations;
};

// A distinct event of a session.
struct SessionEvent {
  accounting::NestedEvent event;
  // As in EventPriced.
  std::vector<std::vector<Cost>> unit_costs;
  // One per filter of unit_costs; empty for filters that count no units.
  std::vector<UnitPrices> unit_prices = {};
  // Uses charged so far.
  int64_t accepted_count = 0;
  // As SamplersOf(event).
  std::vector<Sampler> samplers;
};

// An accepted charge that is an unsettled lease.
struct OpenLease {
  int64_t attempt = 0;
  std::string id;
  int64_t event_index = 0;
  int64_t count = 0;
  int64_t expire_time_micros = 0;
  int64_t sequence = 0;  // of its charge
  Hash hash{};
  // The cost of the charge at each filter that gates the session.
  std::vector<std::vector<Cost>> costs = {};
};

// An audit with its place in the ledger.
struct RecordedAudit {
  AuditRecord audit;
  int64_t sequence = 0;
  int64_t time_micros = 0;
};

struct SessionState {
  SessionSpec spec;
  int64_t number = 0;
  // kAdaptive with its own cap.
  std::optional<Balance> own_balance;
  // kDeclared.
  std::optional<PlanCharge> plan_charge;
  int64_t current_attempt = 0;
  Provenance provenance;  // of the current attempt
  // The last charge id of the current attempt, ordered by length, then bytes. Empty before the
  // first.
  std::string last_charge_id;
  bool closed = false;
  std::string close_reason;
  // The newest accepted charge; the next entry may make it a lease. Sequence 0 before the first.
  OpenLease last_charge;
  std::vector<OpenLease> open_leases;  // oldest first
  int64_t create_time_micros = 0;
  int64_t accepted_charge_count = 0;
  int64_t refused_charge_count = 0;
  // What its attempts with accepted charges declared to divide by. nullopt: one did not say.
  std::set<std::optional<Normalizer>> normalizers;
  // For a session that is not proven: a nonPrivate event was charged, so every epsilon is infinite.
  bool non_private_charged = false;
  // The newest kMaxShownAudits of audit_count audits, oldest first.
  std::vector<RecordedAudit> audits;
  int64_t audit_count = 0;
  Annotations annotations;
  // In the order of first use; a DECLARED session starts with the events of its plan.
  std::vector<SessionEvent> events;
  int64_t event_bytes = 0;  // of the canonical encodings of `events`
  // Canonical encoding of an event -> its index in `events`.
  std::map<std::string, int64_t, std::less<>> event_index;

  // True if `charge_id` comes after every charge id of the newest attempt, so it is unused there.
  bool IsBeyondLastChargeId(std::string_view charge_id) const;
  // Returns the remaining uses of the planned event. REQUIRES: kDeclared, index < spec.plan.size().
  int64_t TicketsLeft(int64_t index) const;
};

// Returns what was charged so far, run-length encoded, in the order of first use.
std::vector<accounting::CountedEvent> HistoryOf(const SessionState& state);

// Stands in place of an index if the session does not hold the event.
inline constexpr int64_t kNotHeld = -1;

// A decided charge with everything an answer needs.
struct ChargeRecord {
  ChargeDecided row;  // event_index may be kNotHeld, with a refusal
  // Null if the charge was refused and the ledger keeps only the outline.
  accounting::NestedEvent event;
  std::optional<EventOutline> outline = std::nullopt;  // with kNotHeld
  int64_t sequence = 0;                                // 0: the charge was only validated
  int64_t time_micros = 0;
  Hash hash{};
};

// The outcomes of commands. A refusal is an outcome, not an error.
struct BudgetOutcome {
  std::string budget_id;
  bool created = false;                 // false: it existed already with the same content
  std::optional<BudgetSpec> spec = {};  // of a new budget, as stored
};
struct SessionOutcome {
  SessionName session;
  bool created = false;
  std::optional<Refusal> refusal;  // the plan did not fit; no session exists
};
struct AttemptOutcome {
  int64_t attempt = 0;
  LedgerHead head;  // the entry that opened the attempt
};
struct ChargeOutcome {
  std::vector<ChargeRecord> records;  // one per item, in order
};
struct ProposalOutcome {
  std::string budget_id;
  std::string proposal_id;
};
struct AnnotationsOutcome {
  SessionName resource;  // without a session id: a budget
  // What the command was about.
  std::set<AnnotationTopic> topics = {};
  std::optional<SignOff> sign_off = std::nullopt;
};
struct SettleOutcome {
  ChargeRecord charge;
  int64_t used_count = 0;
};
// The result that a charge would have now.
struct Preview {
  std::optional<Refusal> refusal;
  int64_t steps_that_fit = 0;
};
// Its special members are defined in one file: compiled wherever the sum is used, they took half of
// the time of the server's build.
struct Outcome
    : std::variant<BudgetOutcome, SessionOutcome, AttemptOutcome, ChargeOutcome, SettleOutcome,
                   AccessOutcome, Preview, PricesWanted, ProposalOutcome, AnnotationsOutcome> {
  using variant::variant;
  Outcome();
  Outcome(const Outcome&);
  Outcome(Outcome&&) noexcept;
  Outcome& operator=(const Outcome&);
  Outcome& operator=(Outcome&&) noexcept;
  ~Outcome();
};

// Returns the stored row of a key, or nothing. The ledger calls it before it decides, because the
// outcome of a key never changes (I5, I6).
using ChargeLookup = absl::FunctionRef<absl::StatusOr<std::optional<Entry>>(const ChargeKey& key)>;

// The ledger of one root budget, its descendants and their sessions, as a pure state machine:
//
//   (state, command) -> Decide -> (outcome, entries);   (state, entry) -> Apply -> state.
//
// No I/O, no clock, no threads: one caller at a time. Invariants I1 to I6, I8, I9, I11, I12, I14
// to I16 and I18 of the design hold after every Apply; tests/server/core states each as a property.
class Ledger {
 public:
  struct Decision {
    Outcome outcome;
    // The caller seals, stores durably and applies them, in this order, before it reports the
    // outcome.
    std::vector<EntryBody> entries;
  };

  Ledger() = default;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  Ledger(Ledger&&) = default;
  Ledger& operator=(Ledger&&) = default;

  // Decides without changing anything.
  //   NOT_FOUND            no such budget, session or attempt; or, with its own message, something
  //                        that `command.scope` does not cover
  //   ALREADY_EXISTS       the name or key was used with other content; names the difference
  //   FAILED_PRECONDITION  relation, privacy unit or depth do not fit the parent; there is no room;
  //                        the session holds kMaxDistinctEvents distinct events, or kMaxEventBytes
  //                        of them; a second person must approve the change (ApprovalRequired); the
  //                        approver is the proposer (SecondPersonRequired), or the proposal was
  //                        resolved or has expired
  //   INVALID_ARGUMENT     a cap or plan is out of its domain
  //   other                the error of `lookup`
  // Returns PricesWanted if the command needs costs, references or prices that `command.pricing`
  // does not hold. A new ChargeRecord has the sequence number that its entry gets if it is sealed
  // next.
  absl::StatusOr<Decision> Decide(const Command& command, ChargeLookup lookup) const;

  // Returns true if the ledger holds the entry, false if the ledger is behind the entry or holds
  // another entry in its place. Returns nothing for an entry before the newest kRecentHashes: only
  // the store has its hash.
  std::optional<bool> Holds(const SeenHead& seen) const;

  // Returns the next entry with its sequence number, content and hash. Changes nothing.
  Entry Seal(EntryBody body, int64_t time_micros,
             const std::optional<Actor>& actor = std::nullopt) const;

  // Advances the state by one sealed entry. DATA_LOSS if the entry is not the next one, its hash
  // does not follow, or it contradicts the state; the state is then unchanged.
  absl::Status Apply(const Entry& entry);

  // Decides, then seals each entry, passes it to `store` and applies it. After an error of `store`
  // the state may be ahead of the store: the caller must stop using this object. With validate_only
  // nothing is sealed or applied.
  absl::StatusOr<Outcome> Execute(const Command& command, ChargeLookup lookup,
                                  absl::FunctionRef<absl::Status(const Entry&)> store);

  // Decides a charge of an event that the session holds, without a key and without entries.
  // NOT_FOUND as in Decide. A charge in units whose price is not in the ledger is reported as one
  // that does not fit. Use the command ChargePreview to have prices, and costs of other events,
  // computed.
  absl::StatusOr<Preview> PreviewCharge(const SessionName& session,
                                        const accounting::MechanismEvent& event,
                                        int64_t count) const;

  // Returns the deltas at which the decision to create such a session asks for the composition of
  // its plan. None if the session exists already.
  std::vector<double> PlanDeltas(const SessionSpec& spec) const;

  // Converts a stored row to an answer. DATA_LOSS if the row does not belong to this ledger.
  absl::StatusOr<ChargeRecord> ToRecord(const Entry& entry) const;

  // Return nullptr if none exists.
  const BudgetState* FindBudget(std::string_view budget_id) const;
  const SessionState* FindSession(const SessionName& name) const;
  const SessionState* FindSession(int64_t session_number) const;
  // Returns what is said about a session or, without a session id, about a budget. NOT_FOUND.
  absl::StatusOr<const Annotations*> AnnotationsOf(const SessionName& name) const;
  // Returns the share of the budget's cap, in the cell of Balance::SpentFraction, that unsettled
  // leases below the budget hold. Rounded up; at most the spent share. Savings by partitions are
  // not subtracted; tickets of a plan belong to the plan and are not counted. Cost: O(unsettled
  // leases).
  double LeasedFraction(const BudgetState& budget) const;
  // In order of id.
  const std::map<std::string, BudgetState, std::less<>>& budgets() const { return budgets_; }
  // Returns at most `limit` sessions of one budget with ids after `after_id`, in order of id.
  std::vector<const SessionState*> SessionsOf(std::string_view budget_id, std::string_view after_id,
                                              int64_t limit) const;
  const LedgerHead& head() const { return head_; }
  // Returns the filters that gate the charges of an ADAPTIVE session: its own first if it has one,
  // then those of its budgets up to the root. None for a DECLARED session: its plan was charged.
  std::vector<Gate> GatesOf(const SessionState& session) const;
  // Returns the filters that gate new sessions and budgets below `budget`: its own first, then
  // those up to the root.
  std::vector<Gate> GatesOf(const BudgetState& budget) const { return GatesOf(PathToRoot(budget)); }
  // True if anything that releases something was charged to the budget, to anything below it, or to
  // its predecessors.
  bool WasCharged(const BudgetState& budget) const;
  // True if everything that was paid in units of the budget, also below it and by its predecessors,
  // was paid at prices that hold at every level.
  bool PricesHoldAtEveryLevel(const BudgetState& budget) const;
  // The Merkle tree over the contents of all entries; merkle().size() is the head's sequence
  // number.
  const MerkleFrontier& merkle() const { return merkle_; }
  int64_t session_count() const { return static_cast<int64_t>(sessions_.size()); }
  // Empty before the first entry.
  const std::string& root_id() const { return root_id_; }

  // Returns the budget that guards such a change of `budget`: itself or one above it. Nullptr if
  // none guards it.
  const BudgetState* GuardOf(const BudgetState& budget, GuardedChange change) const;

 private:
  // Decides as if one person alone may make every change.
  absl::StatusOr<Decision> DecideUnguarded(const Command& command, ChargeLookup lookup) const;
  // ApprovalRequired if the command needs a second person.
  absl::Status CheckUnguarded(const Command& command) const;
  // Decides a command that a proposal asks for, with its approval.
  absl::StatusOr<Decision> DecideApproved(const Command& command, const Approval& approval,
                                          ChargeLookup lookup) const;
  absl::StatusOr<Decision> DecideOn(const ProposeChange& proposal, const Command& command,
                                    ChargeLookup lookup) const;
  absl::StatusOr<Decision> DecideOn(const RejectProposal& command, int64_t time_micros) const;
  absl::StatusOr<Decision> DecideOn(const SetApprovalPolicy& command) const;
  absl::StatusOr<Decision> DecideOn(const CreateBudget& command, const Pricing* pricing) const;
  absl::StatusOr<Decision> DecideOn(const UpdateBudget& command) const;
  absl::StatusOr<Decision> DecideOn(const ChangeBudgetPhase& command) const;
  absl::StatusOr<Decision> DecideOn(const SupersedeBudget& command, const Pricing* pricing) const;
  absl::StatusOr<Decision> DecideOn(const CreateSession& command, const Pricing* pricing) const;
  absl::StatusOr<Decision> DecideOn(const ChargePreview& command, const Pricing* pricing) const;
  absl::StatusOr<Decision> DecideOn(const CloseSession& command) const;
  absl::StatusOr<Decision> DecideOn(const RecordAudit& command) const;
  absl::StatusOr<Decision> DecideOn(const Annotate& command) const;
  absl::StatusOr<Decision> DecideOn(const RecordSignOff& command) const;
  absl::StatusOr<Decision> DecideOn(const OpenAttempt& command) const;
  absl::StatusOr<Decision> DecideOn(const Charge& command, int64_t time_micros,
                                    const Pricing* pricing, ChargeLookup lookup) const;
  absl::StatusOr<Decision> DecideOn(const SettleLease& command, ChargeLookup lookup) const;

  // OK if `spec` may be a child of its parent.
  absl::Status CheckParent(const BudgetSpec& spec) const;
  // Returns the refusal if a budget on the way up is frozen or has ended; nothing otherwise.
  std::optional<Refusal> BlockedBy(const BudgetState& budget) const;
  std::optional<Refusal> BlockedBy(const SessionState& session) const;
  // Returns the conditions for a charge of the session on its way up.
  Conditions ConditionsOf(const SessionState& session) const;
  absl::StatusOr<std::optional<ChargeRecord>> FindCharge(const ChargeKey& key,
                                                         ChargeLookup lookup) const;
  // True if an accepted charge is a lease, settled or not.
  absl::StatusOr<bool> IsLease(const SessionState& session, const ChargeKey& key,
                               ChargeLookup lookup) const;
  // ALREADY_EXISTS if one of the two charges is a lease and the other is not.
  absl::Status CheckSameKind(const Charge& command, const ChargeItem& item,
                             const ChargeRecord& stored, ChargeLookup lookup) const;
  // As PricesHoldAtEveryLevel, for everything at and below a budget that was paid to the budget
  // `gate_id`, which is the same one or above it.
  bool ArePaidAtEveryLevel(const BudgetState& below, const std::string& gate_id) const;
  // Returns what the sessions and descendants of a budget have spent, priced again in other cells.
  // `is_crossed`: below a partition of replaced records. Adds to `wanted` what `pricing` lacks; the
  // result is then meaningless.
  std::vector<Cost> SpentIn(const BudgetState& budget, const Cap& cap, const CellFilter& filter,
                            bool is_crossed, const Pricing* pricing, PricesWanted* wanted) const;

  // Sets what `budget` has spent in units in `carried`, and the caps of the cells of units in
  // `cells`, for a successor. Prices hold where they were charged: units carry over one to one
  // along the same chain, and nothing else does (accounting/filter/README.md, "Successors").
  // Returns the reference of the successor; nullptr if it has none, or after adding it to `wanted`.
  // REQUIRES: `cells` has a cell of units.
  absl::StatusOr<std::shared_ptr<const UnitReference>> CarryUnits(
      const BudgetState& budget, const Pricing* pricing, BudgetSpec* successor, CellFilter* cells,
      std::vector<Cost>* carried, PricesWanted* wanted) const;

  // Apply without a check of the hash, which Seal has just computed.
  absl::Status ApplySealed(const Entry& entry);
  // Each overload checks first and then changes the state: after an error nothing has changed.
  absl::Status ApplyBody(const BudgetCreated& body, const Entry& entry);
  absl::Status ApplyBody(const SessionCreated& body, const Entry& entry);
  absl::Status ApplyBody(const SessionRefused& body, const Entry& entry);
  absl::Status ApplyBody(const AttemptOpened& body, const Entry& entry);
  absl::Status ApplyBody(const EventPriced& body, const Entry& entry);
  absl::Status ApplyBody(const ChargeDecided& body, const Entry& entry);
  absl::Status ApplyBody(const ChargeRefused& body, const Entry& entry);
  absl::Status ApplyBody(const BudgetUpdated& body, const Entry& entry);
  absl::Status ApplyBody(const BudgetPhaseChanged& body, const Entry& entry);
  absl::Status ApplyBody(const BudgetSuperseded& body, const Entry& entry);
  absl::Status ApplyBody(const ApprovalPolicySet& body, const Entry& entry);
  absl::Status ApplyBody(const ChangeProposed& body, const Entry& entry);
  absl::Status ApplyBody(const ProposalResolved& body, const Entry& entry);
  absl::Status ApplyBody(const SessionClosed& body, const Entry& entry);
  absl::Status ApplyBody(const AuditRecorded& body, const Entry& entry);
  absl::Status ApplyBody(const Annotated& body, const Entry& entry);
  absl::Status ApplyBody(const SignedOff& body, const Entry& entry);
  absl::Status ApplyBody(const LeaseGranted& body, const Entry& entry);
  absl::Status ApplyBody(const LeaseSettled& body, const Entry& entry);
  absl::Status ApplyBody(const ReferenceFixed& body, const Entry& entry);
  absl::Status ApplyBody(const UnitsPriced& body, const Entry& entry);
  // Return DATA_LOSS: these entries belong to the ledger of access.
  absl::Status ApplyBody(const TokenCreated& body, const Entry& entry);
  absl::Status ApplyBody(const LimitedTokenCreated& body, const Entry& entry);
  absl::Status ApplyBody(const LoginCreated& body, const Entry& entry);
  absl::Status ApplyBody(const TokenRevoked& body, const Entry& entry);
  absl::Status ApplyBody(const CallsDenied& body, const Entry& entry);
  absl::Status ApplyBody(const QuarantineBegun& body, const Entry& entry);
  absl::Status ApplyBody(const QuarantineLifted& body, const Entry& entry);
  absl::Status ApplyBody(const QuarantineLiftProposed& body, const Entry& entry);

  // Returns the budgets from `budget` itself up to the root.
  std::vector<const BudgetState*> PathToRoot(const BudgetState& budget) const;
  std::vector<BudgetState*> MutablePathToRoot(std::string_view budget_id);
  SessionState* MutableSession(int64_t session_number);
  // 0 without a session id. REQUIRES: the session exists.
  int64_t NumberOf(const SessionName& name) const;
  // Returns what is said about a budget or, with a number that is not 0, about a session of it;
  // nullptr if there is no such resource.
  Annotations* MutableAnnotations(const std::string& budget_id, int64_t session_number);
  BudgetState& AddBudget(const BudgetSpec& spec, const CellFilter& filter, int64_t time_micros);
  // Counts `costs`, in the cells of path[level], for a charge that entered the tree at path[0].
  static void Post(const std::vector<BudgetState*>& path, size_t level,
                   const std::vector<Cost>& costs);
  // Returns the filters of the budgets from `path[0]` up to the root.
  static std::vector<Gate> GatesOf(const std::vector<const BudgetState*>& path);
  // Returns the costs of `count` uses of the session's event at each gate, as in GatesOf(session).
  std::vector<std::vector<Cost>> CostsOf(const SessionState& session,
                                         const std::vector<BudgetState*>& path,
                                         const SessionEvent& event, int64_t count) const;
  // Counts a decided charge with this key.
  void Count(const ChargeKey& key, bool accepted, const Entry& entry);
  // True if `costs`, one vector per gate as in GatesOf(session), fit everywhere. `path` goes from
  // the session's budget up to the root.
  bool Fits(const SessionState& session, const std::vector<BudgetState*>& path,
            const std::vector<std::vector<Cost>>& costs) const;

  std::string root_id_;
  std::map<std::string, BudgetState, std::less<>> budgets_;
  // By number - 1; stable addresses.
  std::vector<std::unique_ptr<SessionState>> sessions_;
  // (budget id, session id) -> number.
  std::map<std::pair<std::string, std::string>, int64_t> session_numbers_;
  LedgerHead head_;
  MerkleFrontier merkle_;
  // The hashes of the newest entries, indexed by sequence modulo kRecentHashes.
  std::vector<Hash> recent_hashes_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_LEDGER_H_
