#ifndef EPSLEDGER_SERVER_CORE_COMMAND_H_
#define EPSLEDGER_SERVER_CORE_COMMAND_H_

// What can be asked of the ledger. Commands carry everything that a decision depends on; time is
// one of their fields and decides nothing (I12).

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "server/core/cap.h"

namespace epsledger::core {

// What a budget is; immutable.
struct BudgetSpec {
  std::string id;
  std::string parent_id;  // empty for a root
  Cap cap;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  std::string privacy_unit;
  std::string display_name;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("id", s.id);
    v("parent_id", s.parent_id);
    v("cap", s.cap);
    v("relation", s.relation);
    v("privacy_unit", s.privacy_unit);
    v("display_name", s.display_name);
  }
};

enum class SessionMode : uint8_t { kDeclared = 1, kAdaptive = 2 };

// What a session is; immutable.
struct SessionSpec {
  std::string budget_id;
  std::string id;
  SessionMode mode = SessionMode::kAdaptive;
  accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne;
  // kAdaptive: unset only where the client said so (no_own_cap). kDeclared: unset, or an
  // ApproximateDpCap that the composed plan must meet.
  std::optional<Cap> own_cap;
  // kDeclared: distinct events with their largest counts, and the delta at which the plan is
  // stated. Empty and 0 for kAdaptive.
  std::vector<accounting::CountedEvent> plan;
  double plan_delta = 0;
  std::string display_name;
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
  }
};

struct SessionName {
  std::string budget_id;
  std::string session_id;
};

struct CreateBudget {
  BudgetSpec spec;
};

struct CreateSession {
  SessionSpec spec;
};

struct OpenAttempt {
  SessionName session;
  std::string client_description;
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
};

struct Command {
  // Microseconds since 1970, for people.
  int64_t time_micros = 0;
  // Decide and answer, write nothing.
  bool validate_only = false;
  std::variant<CreateBudget, CreateSession, OpenAttempt, Charge> body;
};

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_COMMAND_H_
