#ifndef EPSLEDGER_SERVER_STATEMENT_STATEMENT_H_
#define EPSLEDGER_SERVER_STATEMENT_STATEMENT_H_

// What a session or budget guarantees, in words and numbers that a privacy officer can sign.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/guarantee.h"
#include "server/core/ledger.h"

namespace epsledger::statement {

// A cap that limits the resource, with its filter.
struct CapAccount {
  std::string name;  // of the budget or session that it is of
  std::string cap;
  std::string theorem;
  bool all_cells_must_fit = true;
  struct Cell {
    std::string quantity;
    double order = 0;  // of a Renyi divergence, or 0
    double cap = 0;    // rounded down
    double spent = 0;  // rounded up
  };
  std::vector<Cell> cells;
  std::string phase;  // of a budget: "ACTIVE", ...
  std::string superseded_by;
  // The guarantee of a superseded budget no longer holds: its population's charges go on elsewhere.
  bool is_void() const { return !superseded_by.empty(); }
};

// The history in a statement: so many lines, of so many bytes each and in all.
inline constexpr size_t kMaxHistoryLines = 1'000;
inline constexpr size_t kMaxHistoryLineBytes = 1'000;
inline constexpr size_t kMaxHistoryBytes = 128 << 10;

// What a statement says, as it is copied from a ledger between charges. No user-given text in it is
// to be trusted.
struct Facts {
  enum class Kind { kBudget, kDeclaredSession, kAdaptiveSession };
  Kind kind = Kind::kBudget;
  // Where the budget stands, or that of the session: what else is released about the same people.
  // kPart: every budget above it is a partition under a relation that moves one unit in one part.
  enum class Scope { kRoot, kPart, kBelow };
  Scope scope = Scope::kRoot;
  std::string name;
  std::string display_name;
  std::string group;
  std::string state;
  std::string state_reason;
  std::string privacy_unit;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  // What the epsilon is of: of a budget its cap, of a DECLARED session its whole plan, of an
  // ADAPTIVE one what it was charged.
  std::vector<accounting::CountedEvent> events;
  // For a cap in (epsilon, delta) or pure epsilon: what the budget's filter keeps, as it is.
  // The accountants round delta before they look at it, and see nothing at the cap's own.
  // With the filter's tolerance in it.
  std::optional<accounting::ApproximateDp> kept_by_filter;
  // The delta of the cap as it was written, with kept_by_filter.
  double delta_of_cap = 0;
  // What was charged so far; of a session.
  std::vector<accounting::CountedEvent> history;
  // The resource's own cap first, then of every budget above.
  std::vector<CapAccount> caps;
  int64_t accepted_charge_count = 0;
  int64_t refused_charge_count = 0;
  int64_t attempt_count = 0;
  core::Provenance provenance;  // of the newest attempt
  std::optional<core::Claim> claim;
  // What audits of the session found, oldest first.
  std::vector<core::AuditRecord> audits;
  std::string root_budget;
  core::LedgerHead head;
  core::Hash merkle_root{};
  // Whose ledger. Empty: the tenant without a name.
  std::string tenant;
  // Which stored ledgers, all their lives: the id of the first, in hexadecimal; empty as below.
  std::string store;
  // What the server calls itself. Empty: nothing.
  std::string server_name;
  std::string incarnation;  // of the stored ledgers, in hexadecimal; empty: there is no account
};

// The facts of a budget or, with a session id, of a session. `delta` is where the
// epsilon will be asked for. NOT_FOUND if there is none. Cheap: runs between charges.
absl::StatusOr<Facts> ReadFacts(const core::Ledger& ledger, const std::string& budget_id,
                                const std::string& session_id, double delta);

// What one accountant says, or the filter of a budget ("FILTER").
struct Reading {
  std::string by;
  std::optional<accounting::Guarantee> guarantee;
  std::string reason_unavailable;  // without a guarantee
};

// One of Facts::audits beside what is claimed and certified.
struct AuditedLine {
  std::string text;  // without the source, which is a client's text
  std::string source;
  bool exceeds_claim = false;
  // Above the proven epsilon at the audit's own delta.
  bool exceeds_proven = false;
};

struct Statement {
  Facts facts;
  // The one that was asked for; at a cap's own, the one that its filter keeps, which may be larger
  // by the tolerance.
  double delta = 0;
  // The smallest proven upper bound; +inf if there is none.
  Reading best;
  std::vector<Reading> readings;     // of everybody, the approximations included
  std::vector<AuditedLine> audited;  // in the order of Facts::audits
  // Facts::history for people, one line each. Long events are named by their kind and size, and a
  // last line says how much else there is where that is too long.
  std::vector<std::string> history;
  std::string time;  // RFC 3339, UTC
  std::string server_version;
};

// Asks every accountant. Takes milliseconds to seconds; CANCELLED once `abandoned` says so.
absl::StatusOr<Statement> Compose(Facts facts, double delta, std::string time,
                                  std::string server_version, absl::FunctionRef<bool()> abandoned);

// Sentences that all forms share.

// What the epsilon covers, and under which condition.
std::string Coverage(const Facts& facts);
// What no ledger can know.
std::string SamplingCaveat();
std::vector<std::string> NotCovered();
// Why the epsilon is not a guarantee of what was released, one sentence each; most often none.
std::vector<std::string> Warnings(const Statement& statement);

// "none is proven" for an epsilon that is infinite or not known, without a guarantee's number.
bool HasFiniteEpsilon(const Statement& statement);

// What is spent of a cap, one line each: of a filter that needs room in one cell only, the cell
// with the most room, and how many have any.
std::vector<std::string> SpentLines(const CapAccount& cap);

// "3.00001": at most six digits, eleven where six would hide that `value` is a little above a round
// number; never below `value`; "infinity".
std::string ShownRoundedUp(double value);
std::string ShownRoundedDown(double value);

// The three forms. JSON: one spelling (keys in a fixed order, doubles with the fewest digits that
// read back, no insignificant space), which is what is signed; it holds SHA-256 of the other two.
// Text: for mail. HTML: one file for paper, no script, nothing fetched, all text of users escaped.
std::string ToJson(const Statement& statement);
std::string ToText(const Statement& statement);
std::string ToHtml(const Statement& statement);

}  // namespace epsledger::statement

#endif  // EPSLEDGER_SERVER_STATEMENT_STATEMENT_H_
