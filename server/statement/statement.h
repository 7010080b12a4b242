#ifndef EPSLEDGER_SERVER_STATEMENT_STATEMENT_H_
#define EPSLEDGER_SERVER_STATEMENT_STATEMENT_H_

// The guarantees of a session or budget, in words and numbers that a privacy officer can sign.

#include <cstdint>
#include <optional>
#include <set>
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
  std::string name;  // of its budget or session
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
  // The guarantee of a superseded budget no longer holds: its population is charged elsewhere now.
  bool is_void() const { return !superseded_by.empty(); }
};

// What people say about the resource or, for a topic of which nothing is said there, about the
// nearest budget above it.
struct AnnotationLine {
  core::AnnotationTopic topic = core::AnnotationTopic::kDeploymentModel;
  std::string text;
  std::string resource;
  core::Recorded by;
};

// The maximum number of history lines in a statement, and the maximum bytes of one line and in all.
inline constexpr size_t kMaxHistoryLines = 1'000;
inline constexpr size_t kMaxHistoryLineBytes = 1'000;
inline constexpr size_t kMaxHistoryBytes = 128 << 10;

// The content of a statement, copied from a ledger between charges. Do not trust text that users
// gave.
struct Facts {
  enum class Kind { kBudget, kDeclaredSession, kAdaptiveSession };
  Kind kind = Kind::kBudget;
  // The place of the budget (of the session's budget) in the tree: it decides what else is released
  // about the same people. kPart: every budget above it is a partition under a relation that moves
  // one unit in one part.
  enum class Scope { kRoot, kPart, kBelow };
  Scope scope = Scope::kRoot;
  std::string name;
  std::string display_name;
  std::string group;
  std::string state;
  std::string state_reason;
  std::string privacy_unit;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  // The epsilon describes these events: for a budget its cap, for a DECLARED session its whole
  // plan, for an ADAPTIVE session what it was charged.
  std::vector<accounting::CountedEvent> events;
  // For a cap in (epsilon, delta) or pure epsilon: the exact guarantee of the budget's filter,
  // including the filter's tolerance. The accountants round delta first, and so find nothing at the
  // cap's own delta.
  std::optional<accounting::ApproximateDp> kept_by_filter;
  // The delta of the cap as stated; set with kept_by_filter.
  double delta_of_cap = 0;
  // For a session: what was charged so far.
  std::vector<accounting::CountedEvent> history;
  // The resource's own cap first, then those of every budget above.
  std::vector<CapAccount> caps;
  int64_t accepted_charge_count = 0;
  int64_t refused_charge_count = 0;
  int64_t attempt_count = 0;
  core::Provenance provenance;  // of the newest attempt
  // What the attempts whose charges were accepted declared to divide by, of the session or of
  // everything below the budget. nullopt: one did not say. Empty before the first charge.
  std::set<std::optional<core::Normalizer>> normalizers;
  std::optional<core::Claim> claim;
  // The findings of the session's audits, oldest first.
  std::vector<core::AuditRecord> audits;
  std::vector<AnnotationLine> annotations;  // one for each topic, in the order of the topics
  // Those of the resource itself, oldest first.
  std::vector<core::RecordedSignOff> sign_offs;
  std::string root_budget;
  core::LedgerHead head;
  core::Hash merkle_root{};
  // The tenant of the ledger. Empty: the tenant without a name.
  std::string tenant;
  // The store: the id of its first incarnation, in hexadecimal, which never changes. Empty as
  // below.
  std::string store;
  // The server's name for itself. Empty: it has none.
  std::string server_name;
  std::string incarnation;  // of the store, in hexadecimal; empty: not recorded
};

// Returns the facts of a budget or, with a session id, of a session. `delta` is the delta of the
// epsilon that will be computed. NOT_FOUND if the resource does not exist. Cheap: runs between
// charges.
absl::StatusOr<Facts> ReadFacts(const core::Ledger& ledger, const std::string& budget_id,
                                const std::string& session_id, double delta);

// The result of one accountant, or of the filter of a budget ("FILTER").
struct Reading {
  std::string by;
  std::optional<accounting::Guarantee> guarantee;
  std::string reason_unavailable;  // without a guarantee
};

// One of Facts::audits, compared with the claim and the proven epsilon.
struct AuditedLine {
  std::string text;  // without the source, which is text of a client
  std::string source;
  bool exceeds_claim = false;
  // Above the proven epsilon at the audit's own delta.
  bool exceeds_proven = false;
};

struct Statement {
  Facts facts;
  // The requested delta. At the delta of a cap it is the delta that its filter guarantees, which
  // may be larger by the tolerance.
  double delta = 0;
  // The smallest proven upper bound; +inf if none is proven.
  Reading best;
  std::vector<Reading> readings;     // of all, including the approximations
  std::vector<AuditedLine> audited;  // in the order of Facts::audits
  // Facts::history for people, one line for each event. Long events are shown by kind and size. If
  // the history is too long, a last line says how much is missing.
  std::vector<std::string> history;
  std::string time;  // RFC 3339, UTC
  std::string server_version;
};

// Asks every accountant. Takes milliseconds to seconds. CANCELLED once `abandoned` returns true.
absl::StatusOr<Statement> Compose(Facts facts, double delta, std::string time,
                                  std::string server_version, absl::FunctionRef<bool()> abandoned);

// Sentences that all forms share.

// States what the epsilon covers, and under which condition.
std::string Coverage(const Facts& facts);
// States what no ledger can know.
std::string SamplingCaveat();
// The first lines are about the numbers that noisy sums were divided by, unless they are public.
std::vector<std::string> NotCovered(const Facts& facts);
// Returns what the divisors are in one line: "PUBLIC_CONSTANT, not said".
std::string NormalizerNames(const Facts& facts);
// Reasons why the epsilon is not a guarantee for what was released, one sentence each; usually
// none.
std::vector<std::string> Warnings(const Statement& statement);

// "2026-11-29".
std::string DateOf(const core::Recorded& by);
// "Deployment model", ...
std::string Heading(core::AnnotationTopic topic);
// "as recorded for budgets/adult by tokens/a, entry 12, 2026-11-29".
std::string SourceOf(const AnnotationLine& line);
// "\"Ada Byron\", \"privacy officer\", answers for ...: \"for 2026\"; recorded by tokens/a, entry
// 12, 2026-11-29".
std::string SignOffLine(const core::RecordedSignOff& recorded);

// Returns false if the epsilon is infinite or unknown; the forms then show "none is proven".
bool HasFiniteEpsilon(const Statement& statement);

// Returns what is spent of a cap, one line for each cell. If the filter needs room in one cell
// only: the UNITS cell while it has room, otherwise the cell with the smallest spent share, and how
// many cells have room. RESERVE is left out.
std::vector<std::string> SpentLines(const CapAccount& cap);

// Returns "3.00001": at most six digits, or eleven if six would hide that `value` is a little above
// a round number; never below `value`; "infinity".
std::string ShownRoundedUp(double value);
std::string ShownRoundedDown(double value);

// The three forms. JSON: canonical (keys in a fixed order, doubles with the fewest digits that read
// back, no insignificant space). It is the form that is signed, and it contains SHA-256 of the
// other two. Text: for mail. HTML: one file for paper, no script, nothing fetched, all text of
// users escaped.
std::string ToJson(const Statement& statement);
std::string ToText(const Statement& statement);
std::string ToHtml(const Statement& statement);

}  // namespace epsledger::statement

#endif  // EPSLEDGER_SERVER_STATEMENT_STATEMENT_H_
