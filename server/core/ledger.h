#ifndef EPSLEDGER_SERVER_CORE_LEDGER_H_
#define EPSLEDGER_SERVER_CORE_LEDGER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

namespace epsledger::core {

struct BudgetState {
  BudgetSpec spec;
  Balance balance;
  int64_t create_time_micros = 0;
  // Charges of all sessions below, not counting plans.
  int64_t accepted_charge_count = 0;
  int64_t refused_charge_count = 0;
};

// A distinct event of a session.
struct SessionEvent {
  accounting::MechanismEvent event;
  // As in EventPriced.
  std::vector<std::vector<Cost>> unit_costs;
  // Uses charged so far.
  int64_t accepted_count = 0;
};

struct SessionState {
  SessionSpec spec;
  int64_t number = 0;
  // kAdaptive with its own cap.
  std::optional<Balance> own_balance;
  // kDeclared.
  std::optional<PlanCharge> plan_charge;
  int64_t current_attempt = 0;
  int64_t create_time_micros = 0;
  int64_t accepted_charge_count = 0;
  int64_t refused_charge_count = 0;
  // In the order of first use; a DECLARED session starts with the events of its plan.
  std::vector<SessionEvent> events;
  // Canonical encoding of an event -> its index above.
  std::map<std::string, int64_t, std::less<>> event_index;

  // Uses of the planned event that are left. REQUIRES: kDeclared, index < spec.plan.size().
  int64_t TicketsLeft(int64_t index) const;
};

// A decided charge with everything an answer needs.
struct ChargeRecord {
  ChargeDecided row;
  accounting::MechanismEvent event;
  int64_t sequence = 0;
  int64_t time_micros = 0;
};

// What became of a command. A refusal is an outcome, not an error.
struct BudgetOutcome {
  std::string budget_id;
  bool created = false;  // false: it was there already with the same content
};
struct SessionOutcome {
  SessionName session;
  bool created = false;
  std::optional<Refusal> refusal;  // a plan that did not fit: there is no session
};
struct AttemptOutcome {
  int64_t attempt = 0;
};
struct ChargeOutcome {
  std::vector<ChargeRecord> records;  // one per item, in order
};
using Outcome = std::variant<BudgetOutcome, SessionOutcome, AttemptOutcome, ChargeOutcome>;

// One filter that gates a charge, with a copy of its balance to decide on.
struct Gate {
  std::string budget_id;   // of a budget's cap, or
  std::string session_id;  // of a session's own
  Balance balance;
};

// What a charge would do now.
struct Preview {
  std::optional<Refusal> refusal;
  int64_t steps_that_fit = 0;
};

// Identifies a charge within one ledger.
struct ChargeKey {
  int64_t session_number = 0;
  int64_t attempt = 0;
  std::string charge_id;
};

// The stored row of a key, or nothing. The ledger asks before it decides: the outcome of a key is
// for ever (I5, I6).
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
    // To be sealed, stored durably and applied, in this order, before the outcome is told.
    std::vector<EntryBody> entries;
  };

  Ledger() = default;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  Ledger(Ledger&&) = default;
  Ledger& operator=(Ledger&&) = default;

  // Decides without changing anything.
  //   NOT_FOUND            no such budget, session or attempt
  //   ALREADY_EXISTS       the name or key was used with other content; names the difference
  //   FAILED_PRECONDITION  relation, privacy unit or depth do not fit the parent; no room at all
  //   INVALID_ARGUMENT     a cap or plan out of its domain
  //   other                what `lookup` failed with
  //   FAILED_PRECONDITION  also: the session holds kMaxDistinctEvents distinct events
  // A new ChargeRecord carries the sequence number that its entry gets if it is sealed next.
  absl::StatusOr<Decision> Decide(const Command& command, ChargeLookup lookup) const;

  // Gives the next entry its sequence number, content and hash. Changes nothing.
  Entry Seal(EntryBody body, int64_t time_micros) const;

  // Advances the state by one sealed entry. DATA_LOSS if it is not the next one, its hash does not
  // follow, or it contradicts the state; the state is then unchanged.
  absl::Status Apply(const Entry& entry);

  // Decide, then Seal and Apply each entry, handing each to `store` before it is applied. On an
  // error of `store` the state may be ahead of the store: the caller must stop using this object.
  // With validate_only nothing is sealed or applied.
  absl::StatusOr<Outcome> Execute(const Command& command, ChargeLookup lookup,
                                  absl::FunctionRef<absl::Status(const Entry&)> store);

  // Decides a charge without a key and without entries. NOT_FOUND as Decide.
  absl::StatusOr<Preview> PreviewCharge(const SessionName& session,
                                        const accounting::MechanismEvent& event,
                                        int64_t count) const;

  // A stored row as an answer. DATA_LOSS if the row does not belong to this ledger.
  absl::StatusOr<ChargeRecord> ToRecord(const Entry& entry) const;

  // Nullptr if there is none.
  const BudgetState* FindBudget(std::string_view budget_id) const;
  const SessionState* FindSession(const SessionName& name) const;
  const SessionState* FindSession(int64_t session_number) const;
  // In order of id.
  const std::map<std::string, BudgetState, std::less<>>& budgets() const { return budgets_; }
  // The sessions of one budget in order of id, after `after_id`, at most `limit`.
  std::vector<const SessionState*> SessionsOf(std::string_view budget_id, std::string_view after_id,
                                              int64_t limit) const;
  const LedgerHead& head() const { return head_; }
  // Empty before the first entry.
  const std::string& root_id() const { return root_id_; }

 private:
  absl::StatusOr<Decision> Decide(const CreateBudget& command) const;
  absl::StatusOr<Decision> Decide(const CreateSession& command) const;
  absl::StatusOr<Decision> Decide(const OpenAttempt& command) const;
  absl::StatusOr<Decision> Decide(const Charge& command, int64_t time_micros,
                                  ChargeLookup lookup) const;

  // Each checks first and changes second: on an error nothing has changed.
  absl::Status ApplyBody(const BudgetCreated& body, int64_t time_micros);
  absl::Status ApplyBody(const SessionCreated& body, int64_t time_micros);
  absl::Status ApplyBody(const SessionRefused& body, int64_t time_micros);
  absl::Status ApplyBody(const AttemptOpened& body, int64_t time_micros);
  absl::Status ApplyBody(const EventPriced& body, int64_t time_micros);
  absl::Status ApplyBody(const ChargeDecided& body, int64_t time_micros);

  // From the budget itself up to the root.
  std::vector<const BudgetState*> PathToRoot(const BudgetState& budget) const;
  std::vector<BudgetState*> MutablePathToRoot(std::string_view budget_id);
  SessionState* MutableSession(int64_t session_number);
  std::vector<Balance*> MutableGatesOf(SessionState& session);
  // The filters that gate the charges of an ADAPTIVE session, with their balances: its own first
  // if it has one, then its budgets up to the root. None for a DECLARED one: its plan was charged.
  std::vector<Gate> GatesOf(const SessionState& session) const;

  std::string root_id_;
  std::map<std::string, BudgetState, std::less<>> budgets_;
  // By number - 1; stable addresses.
  std::vector<std::unique_ptr<SessionState>> sessions_;
  // (budget id, session id) -> number.
  std::map<std::pair<std::string, std::string>, int64_t> session_numbers_;
  LedgerHead head_;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_LEDGER_H_
