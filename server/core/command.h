#ifndef EPSLEDGER_SERVER_CORE_COMMAND_H_
#define EPSLEDGER_SERVER_CORE_COMMAND_H_

// The commands of the ledger. A command carries everything that its decision depends on. Time is
// one of its fields and influences no decision (I12).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "server/core/access_command.h"
#include "server/core/actor.h"
#include "server/core/annotation.h"
#include "server/core/audit_record.h"
#include "server/core/cap.h"
#include "server/core/claim.h"
#include "server/core/grant.h"

namespace epsledger::core {

// A key with its value, for people and programs.
struct Label {
  std::string key;
  std::string value;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("key", s.key);
    v("value", s.value);
  }
};

// How a client draws its batches, as it declares. Numbers as in provenance.proto.
enum class Sampler : uint8_t {
  kPoisson = 1,
  kTruncatedPoisson = 2,
  kWithoutReplacement = 3,
  kWithReplacement = 4,
  kRandomAllocation = 5,
  kFullBatch = 6,
  kShuffled = 7,
};

// What a client divides its noisy sums by, as it declares. Numbers as in provenance.proto.
enum class Normalizer : uint8_t {
  kPublicConstant = 1,
  kExpectedFromPublicCount = 2,
  kExpectedFromPrivateCount = 3,
  kSampledBatchSize = 4,
};

// A client's own description; a claim.
struct Provenance {
  std::optional<Sampler> sampler;
  double clip_norm = 0;  // 0: not declared
  std::string library;
  std::string library_version;
  // Not declared: unknown. Stored in front of the fields (codec.cc).
  std::optional<Normalizer> normalizer = std::nullopt;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("sampler", s.sampler);
    v("clip_norm", s.clip_norm);
    v("library", s.library);
    v("library_version", s.library_version);
  }
};

// The requirements for provenance in every session below a budget.
struct Policy {
  // If not empty, sampled events are charged only by attempts that declare one of these.
  std::vector<Sampler> allowed_samplers;
  bool provenance_required = false;
  // If not empty, only attempts that declare one of these are opened and charge. Ascending.
  std::vector<Normalizer> allowed_normalizers = {};
  // Library versions with a fault that the attempt does not avoid are refused (known_faults.h).
  bool known_faults_refused = false;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("allowed_samplers", s.allowed_samplers);
    v("provenance_required", s.provenance_required);
  }
  // The fields that release 0.2.0 and earlier do not know. They are stored only if one is set
  // (codec.cc).
  template <class S, class V>
  static void LaterFields(S& s, V&& v) {
    v("allowed_normalizers", s.allowed_normalizers);
    v("known_faults_refused", s.known_faults_refused);
  }
  bool HasLaterFields() const { return !allowed_normalizers.empty() || known_faults_refused; }
};

// The part of a budget that may change.
struct BudgetDescription {
  std::string display_name;
  std::vector<Label> labels;             // in order of key
  std::vector<double> alert_thresholds;  // ascending, in (0, 1]
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("display_name", s.display_name);
    v("labels", s.labels);
    v("alert_thresholds", s.alert_thresholds);
  }
};

// The specification of a budget. Everything except its description is immutable.
struct BudgetSpec {
  std::string id;
  std::string parent_id;  // empty for a root
  Cap cap;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  std::string privacy_unit;
  // Set if the children hold disjoint populations: the public function of a unit that assigns it to
  // a child.
  std::optional<std::string> partition_function;
  std::optional<Policy> policy;
  BudgetDescription description;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("id", s.id);
    v("parent_id", s.parent_id);
    v("cap", s.cap);
    v("relation", s.relation);
    v("privacy_unit", s.privacy_unit);
    v("partition", s.partition_function);
    v("policy", s.policy);
    BudgetDescription::Fields(s.description, v);
  }
};

enum class SessionMode : uint8_t { kDeclared = 1, kAdaptive = 2 };

// The specification of a session; immutable.
struct SessionSpec {
  std::string budget_id;
  std::string id;
  SessionMode mode = SessionMode::kAdaptive;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  // kAdaptive: unset only if the client chose that (no_own_cap). kDeclared: unset, or an
  // ApproximateDpCap or TradeOffCurveCap that the composed plan must meet.
  std::optional<Cap> own_cap;
  // kDeclared: distinct events with their largest counts, and the delta at which the plan is
  // stated. Empty and 0 for kAdaptive.
  std::vector<accounting::CountedEvent> plan;
  double plan_delta = 0;
  std::string display_name;
  std::string group;          // of one hyper-parameter search; may be empty
  std::vector<Label> labels;  // in order of key
  std::optional<Claim> claim;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("id", s.id);
    v("mode", s.mode);
    v("relation", s.relation);
    v("own_cap", s.own_cap);
    v("plan", s.plan);
    v("plan_delta", s.plan_delta);
    v("display_name", s.display_name);
    v("group", s.group);
    v("labels", s.labels);
    v("claim", s.claim);
  }
};

struct SessionName {
  std::string budget_id;
  std::string session_id;
};

struct CreateBudget {
  BudgetSpec spec;
  // With a cap in units: the reference event. Unset: the first session or the first charge fixes
  // it.
  std::optional<accounting::MechanismEvent> reference = std::nullopt;
  // The client named no filter for its (epsilon, delta): an existing budget keeps its own.
  bool any_filter = false;
};

// Changes the fields that are set.
struct UpdateBudget {
  std::string budget_id;
  std::optional<std::string> display_name;
  std::optional<std::vector<Label>> labels;
  std::optional<std::vector<double>> alert_thresholds;
};

// Numbers as in budget.proto.
enum class BudgetPhase : uint8_t { kActive = 1, kFrozen = 2, kClosed = 3, kSuperseded = 4 };

// Freezes, thaws or closes. REQUIRES: phase is not kSuperseded.
struct ChangeBudgetPhase {
  std::string budget_id;
  BudgetPhase phase = BudgetPhase::kFrozen;
  std::string reason;
};

// Replaces a budget by a new one that starts with the amount that the old one has spent.
struct SupersedeBudget {
  std::string budget_id;
  std::string successor_id;
  Cap cap;
  std::string reason;
  // The client named no filter: the successor takes the filter of the old budget, if it had one.
  bool any_filter = false;
};

// Changes that a budget may guard: one person alone cannot make them to the budget or below it.
// Numbers as in budget.proto.
enum class GuardedChange : uint8_t { kSupersede = 1, kClose = 2, kThaw = 3, kLiftQuarantine = 4 };

// Sets the changes that the budget guards from now on, ascending. Removing a guard is itself
// guarded.
struct SetApprovalPolicy {
  std::string budget_id;
  std::vector<GuardedChange> guarded;
};

// The change that a proposal would make to its budget. Tags are stored: never renumber.
struct ProposedChild {
  static constexpr uint8_t kTag = 1;
  BudgetSpec spec;
  std::optional<accounting::NestedEvent> reference;
  bool any_filter = false;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("spec", s.spec);
    v("reference", s.reference);
    v("any_filter", s.any_filter);
  }
};

struct ProposedSuccessor {
  static constexpr uint8_t kTag = 2;
  std::string successor_id;
  Cap cap;
  bool any_filter = false;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("successor_id", s.successor_id);
    v("cap", s.cap);
    v("any_filter", s.any_filter);
  }
};

// kActive thaws, kClosed closes.
struct ProposedPhase {
  static constexpr uint8_t kTag = 3;
  BudgetPhase phase = BudgetPhase::kClosed;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("phase", s.phase);
  }
};

struct ProposedPolicy {
  static constexpr uint8_t kTag = 4;
  std::vector<GuardedChange> guarded;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("guarded", s.guarded);
  }
};

using ProposedChange =
    std::variant<ProposedChild, ProposedSuccessor, ProposedPhase, ProposedPolicy>;

// Proposes a change of a budget. REQUIRES: the change concerns that budget; for ProposedChild, the
// budget is the parent.
struct ProposeChange {
  std::string budget_id;
  std::string proposal_id;
  ProposedChange change;
  std::string reason;
  Person proposer;
  int64_t expire_time_micros = 0;
};

struct RejectProposal {
  std::string budget_id;
  std::string proposal_id;
  Person resolver;
  std::string reason;
};

// States which proposal asks for the command, and who approves it.
struct Approval {
  std::string proposal_id;
  // Proposal::sequence of the proposal that the approver has read.
  int64_t sequence = 0;
  Person approver;
  std::string reason;
};

class PlanComposition;

struct CreateSession {
  SessionSpec spec;
  // kDeclared: spec.plan with the compositions that were computed before, so the decision need not
  // compute them.
  std::shared_ptr<PlanComposition> composition = nullptr;
  // The event that the session expects to charge most. It becomes the reference of those caps on
  // the way up that have no reference yet while nothing is charged.
  std::optional<accounting::MechanismEvent> expects = std::nullopt;
  // As in CreateBudget, for the session's own cap.
  bool any_filter = false;
};

struct CloseSession {
  SessionName session;
  std::string reason;
};

// Records the result of an audit of the session's run.
struct RecordAudit {
  SessionName session;
  AuditRecord audit;
};

// Sets what is said about a budget or, with a session id, about a session. An empty text withdraws
// an annotation. REQUIRES: topics distinct.
struct Annotate {
  SessionName resource;
  struct Topic {
    AnnotationTopic topic = AnnotationTopic::kDeploymentModel;
    std::string text;
  };
  std::vector<Topic> topics;
};

// Records that somebody answers for a statement. REQUIRES: the statement is this server's, of this
// resource.
struct RecordSignOff {
  SessionName resource;  // without a session id: a budget
  SignOff sign_off;
};

struct OpenAttempt {
  SessionName session;
  std::string client_description;
  Provenance provenance;
};

enum class BatchMode : uint8_t { kAllOrNothing = 1, kPerItem = 2 };

struct ChargeItem {
  std::string charge_id;
  accounting::MechanismEvent event;
  int64_t count = 0;
};

// One or more charges of one attempt in one commit. REQUIRES: events valid, counts >= 1, charge
// ids distinct, 1 to kMaxBatchItems items.
struct Charge {
  SessionName session;
  int64_t attempt = 0;
  BatchMode mode = BatchMode::kAllOrNothing;
  std::vector<ChargeItem> items;
  // Set if the one item is a lease: its expiry time, for people.
  std::optional<int64_t> lease_expire_time_micros;
};

// Asks what a charge would do now; changes nothing.
struct ChargePreview {
  // Without a session id: a new ADAPTIVE session without its own cap. If the session
  // `expects_event`, caps in units that have no reference yet take `event` as their reference.
  SessionName session;
  bool expects_event = false;
  accounting::MechanismEvent event;
  int64_t count = 0;
  // With a session id: what the new attempt declares that would charge; nothing: the current one.
  std::optional<Provenance> new_attempt = {};
};

struct SettleLease {
  SessionName session;
  int64_t attempt = 0;
  std::string lease_id;
  int64_t used_count = 0;
};

// An entry that a client says it knows to be durable.
struct SeenHead {
  std::string root_budget_id;
  int64_t sequence = 0;
  std::string hash;  // empty: not given
  // A server that has this server's key gave the head out, as an entry of that budget's ledger. A
  // head that is not authentic is believed only where it states known facts.
  bool is_authentic = false;
  // The ShortId of the incarnation that gave the head out; empty: not given.
  std::string incarnation;
  // `incarnation` is one of this store's, the present one or an earlier one.
  bool is_known_incarnation = true;
  // If another incarnation than the present one gave the head out: both incarnations, as text.
  std::string other_incarnation;
  // Where the request has it, for errors.
  std::string field = "lastSeenHead";
};

struct Pricing;

// Its special members are defined in one file: compiled wherever the sum is used, they took half of
// the time of the server's build.
struct CommandBody : std::variant<CreateBudget, UpdateBudget, ChangeBudgetPhase, SupersedeBudget,
                                  CreateSession, CloseSession, RecordAudit, OpenAttempt, Charge,
                                  SettleLease, AccessCommand, ChargePreview, SetApprovalPolicy,
                                  ProposeChange, RejectProposal, Annotate, RecordSignOff> {
  using variant::variant;
  CommandBody();
  CommandBody(const CommandBody&);
  CommandBody(CommandBody&&) noexcept;
  CommandBody& operator=(const CommandBody&);
  CommandBody& operator=(CommandBody&&) noexcept;
  ~CommandBody();
};

struct Command {
  // Microseconds since 1970, for people.
  int64_t time_micros = 0;
  // The ledger decides and answers, but writes nothing.
  bool validate_only = false;
  std::optional<SeenHead> last_seen;
  // Who asks. It influences no decision.
  std::optional<Actor> actor;
  // The scope of the caller; nullptr: no limits.
  std::shared_ptr<const Scope> scope = nullptr;
  // Set if the body is CommandFor(a proposal).
  std::optional<Approval> approval = std::nullopt;
  CommandBody body;
  // What was computed for the command before (pricing.h); nullptr: nothing yet.
  std::shared_ptr<const Pricing> pricing = nullptr;
  // Returns true once nobody waits for the outcome: the command then need not be decided. Unset:
  // somebody always waits. Called on any thread.
  std::function<bool()> abandoned = nullptr;
};

// Returns the budget whose ledger decides on a command: for a new root budget the budget itself;
// empty for the ledger of access.
const std::string& BudgetOf(const Command& command);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_COMMAND_H_
