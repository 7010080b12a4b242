// The ledger against a plain model: random command sequences, every decision predicted, and the
// invariants of the design checked after every command.

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/core/codec.h"
#include "server/core/ledger.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using accounting::MechanismEvent;
using accounting::PureDp;

// Amounts are whole multiples of 1/1024, so the model can count in plain integers.
constexpr double kUnit = 1.0 / 1024;

struct ModelCharge {
  int64_t units = 0;
  int64_t count = 0;
  bool accepted = false;
};

struct ModelSession {
  std::string budget;
  std::optional<int64_t> own_cap;
  int64_t own_spent = 0;
  bool declared = false;
  std::map<int64_t, int64_t> tickets;  // units of the planned event -> left
  int64_t attempt = 0;
  std::map<int64_t, int64_t> history;  // units of the event -> accepted count
  std::map<std::pair<int64_t, std::string>, ModelCharge> charges;
};

struct ModelBudget {
  std::string parent;
  int64_t cap = 0;
  int64_t spent = 0;
};

class Model {
 public:
  std::map<std::string, ModelBudget> budgets;
  std::map<std::string, ModelSession> sessions;  // "budget/session"

  std::vector<ModelBudget*> Path(const std::string& id) {
    std::vector<ModelBudget*> path;
    for (std::string at = id; !at.empty(); at = budgets[at].parent) path.push_back(&budgets[at]);
    return path;
  }
  bool PathHasRoom(const std::string& id, int64_t amount) {
    for (ModelBudget* budget : Path(id)) {
      if (budget->spent + amount > budget->cap) return false;
    }
    return true;
  }
  // Decides a charge of a new key in the newest attempt.
  bool Decide(ModelSession& session, int64_t units, int64_t count) {
    if (session.declared) {
      const auto it = session.tickets.find(units);
      if (it == session.tickets.end() || it->second < count) return false;
      it->second -= count;
    } else {
      const int64_t amount = units * count;
      if (session.own_cap && session.own_spent + amount > *session.own_cap) return false;
      if (!PathHasRoom(session.budget, amount)) return false;
      session.own_spent += amount;
      for (ModelBudget* budget : Path(session.budget)) budget->spent += amount;
    }
    session.history[units] += count;
    return true;
  }
};

Cost Units(int64_t units) { return Cost::RoundUp(units * kUnit); }

class Run {
 public:
  void Step() {
    const LedgerHead before = harness_.ledger.head();
    const size_t entries_before = harness_.entries.size();
    switch (*rc::gen::weightedElement<int>({{1, 0}, {2, 1}, {2, 2}, {10, 3}, {3, 4}})) {
      case 0:
        MakeBudget();
        break;
      case 1:
        MakeSession();
        break;
      case 2:
        OpenNewAttempt();
        break;
      case 3:
        ChargeItems(1, BatchMode::kAllOrNothing);
        break;
      case 4:
        ChargeItems(*rc::gen::inRange(1, 5),
                    *rc::gen::element(BatchMode::kAllOrNothing, BatchMode::kPerItem));
        break;
    }
    // I8, I16: what was stored is dense, and nothing changed without an entry.
    for (size_t i = entries_before; i < harness_.entries.size(); ++i) {
      RC_ASSERT(harness_.entries[i].sequence == static_cast<int64_t>(i) + 1);
    }
    if (harness_.entries.size() == entries_before) RC_ASSERT(harness_.ledger.head() == before);
    CheckState();
  }

  // I18: replaying the rows from empty gives the same head and the same balances.
  void CheckReplay() {
    Ledger replay;
    for (const Entry& entry : harness_.entries) {
      const absl::StatusOr<Entry> stored = DecodeEntry(entry.content, entry.hash);
      RC_ASSERT(stored.ok());
      RC_ASSERT(replay.Apply(*stored).ok());
    }
    RC_ASSERT(replay.head() == harness_.ledger.head());
    for (const auto& [id, budget] : harness_.ledger.budgets()) {
      RC_ASSERT(replay.FindBudget(id)->balance.spent() == budget.balance.spent());
    }
  }

 private:
  void MakeBudget() {
    if (model_.budgets.size() >= 6) return;
    const std::string id = "b" + std::to_string(model_.budgets.size());
    const std::string parent =
        model_.budgets.empty()
            ? ""
            : "b" + std::to_string(*rc::gen::inRange<size_t>(0, model_.budgets.size()));
    const int64_t cap = *rc::gen::inRange(1, 200);
    RC_ASSERT(harness_.Run(CreateBudget{PureBudget(id, cap * kUnit, parent)}).ok());
    model_.budgets[id] = {.parent = parent, .cap = cap};
  }

  void MakeSession() {
    if (model_.budgets.empty() || model_.sessions.size() >= 8) return;
    const std::string budget =
        "b" + std::to_string(*rc::gen::inRange<size_t>(0, model_.budgets.size()));
    const std::string id = "s" + std::to_string(model_.sessions.size());
    ModelSession session{.budget = budget,
                         .declared = *rc::gen::weightedElement<bool>({{3, false}, {1, true}})};
    if (!session.declared) {
      SessionSpec spec = AdaptiveSession(budget, id);
      if (*rc::gen::arbitrary<bool>()) {
        session.own_cap = *rc::gen::inRange(1, 100);
        spec.own_cap = PureEpsilonCap{*session.own_cap * kUnit};
      }
      RC_ASSERT(harness_.Run(CreateSession{spec}).ok());
      model_.sessions[budget + "/" + id] = session;
      return;
    }
    std::vector<accounting::CountedEvent> plan;
    int64_t amount = 0;
    for (int64_t units : *rc::gen::unique<std::vector<int64_t>>(*rc::gen::inRange<size_t>(1, 4),
                                                                rc::gen::inRange<int64_t>(1, 9))) {
      const int64_t count = *rc::gen::inRange(1, 12);
      plan.push_back({MechanismEvent(PureDp{units * kUnit}), count});
      session.tickets[units] = count;
      amount += units * count;
    }
    const absl::StatusOr<Outcome> outcome =
        harness_.Run(CreateSession{DeclaredSession(budget, id, plan)});
    RC_ASSERT(outcome.ok());
    const bool fits = model_.PathHasRoom(budget, amount);
    RC_ASSERT(std::get<SessionOutcome>(*outcome).refusal.has_value() == !fits);
    if (!fits) return;
    for (ModelBudget* b : model_.Path(budget)) b->spent += amount;
    model_.sessions[budget + "/" + id] = session;
  }

  std::pair<SessionName, ModelSession*> AnySession() {
    auto it = model_.sessions.begin();
    std::advance(it, *rc::gen::inRange<size_t>(0, model_.sessions.size()));
    return {
        {.budget_id = it->second.budget, .session_id = it->first.substr(it->first.find('/') + 1)},
        &it->second};
  }

  void OpenNewAttempt() {
    if (model_.sessions.empty()) return;
    const auto [name, session] = AnySession();
    const absl::StatusOr<Outcome> outcome = harness_.Run(OpenAttempt{name, ""});
    RC_ASSERT(outcome.ok());
    RC_ASSERT(std::get<AttemptOutcome>(*outcome).attempt == ++session->attempt);
  }

  void ChargeItems(int item_count, BatchMode mode) {
    if (model_.sessions.empty()) return;
    const auto [name, session] = AnySession();
    // Now and then an attempt that is fenced or was never opened, and keys that were used before.
    const int64_t attempt =
        *rc::gen::weightedOneOf<int64_t>({{6, rc::gen::just(session->attempt)},
                                          {1, rc::gen::inRange<int64_t>(0, session->attempt + 2)}});
    Charge charge{.session = name, .attempt = attempt, .mode = mode};
    std::vector<ModelCharge> wanted;
    for (int id : *rc::gen::unique<std::vector<int>>(item_count, rc::gen::inRange(0, 40))) {
      const auto stored = session->charges.find({attempt, std::to_string(id)});
      ModelCharge item{.units = *rc::gen::inRange(1, 9), .count = *rc::gen::inRange(1, 5)};
      if (stored != session->charges.end() &&
          *rc::gen::weightedElement<bool>({{4, true}, {1, false}})) {
        item = stored->second;  // a faithful repetition
      }
      wanted.push_back(item);
      charge.items.push_back({std::to_string(id), PureDp{item.units * kUnit}, item.count});
    }
    const absl::StatusOr<Outcome> outcome = harness_.Run(charge);

    if (attempt < 1 || attempt > session->attempt) {
      RC_ASSERT(outcome.status().code() == absl::StatusCode::kNotFound);
      return;
    }
    bool conflict = false;
    bool refused = false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto stored = session->charges.find({attempt, charge.items[i].charge_id});
      if (stored == session->charges.end()) continue;
      conflict |=
          stored->second.units != wanted[i].units || stored->second.count != wanted[i].count;
      refused |= !stored->second.accepted;
    }
    if (conflict) {
      RC_ASSERT(outcome.status().code() == absl::StatusCode::kAlreadyExists);
      return;
    }
    RC_ASSERT(outcome.ok());
    const Model before = model_;
    const bool fenced = attempt < session->attempt;  // I9
    std::vector<bool> accepted(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (session->charges.count({attempt, charge.items[i].charge_id}) > 0) continue;
      const bool skip = fenced || (mode == BatchMode::kAllOrNothing && refused);
      accepted[i] = !skip && model_.Decide(*session, wanted[i].units, wanted[i].count);
      refused |= !accepted[i];
    }
    if (mode == BatchMode::kAllOrNothing && refused) {
      const std::string key = name.budget_id + "/" + name.session_id;
      model_.budgets = before.budgets;
      const ModelSession& old = before.sessions.at(key);
      session->own_spent = old.own_spent;
      session->tickets = old.tickets;
      session->history = old.history;
      accepted.assign(wanted.size(), false);
    }
    const std::vector<ChargeRecord>& records = std::get<ChargeOutcome>(*outcome).records;
    RC_ASSERT(records.size() == wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto [stored, is_new] =
          session->charges.try_emplace({attempt, charge.items[i].charge_id},
                                       ModelCharge{wanted[i].units, wanted[i].count, accepted[i]});
      // I5, I6: a used key gives its old outcome, whatever has changed since.
      RC_ASSERT((records[i].row.decision == ChargeDecision::kAccepted) == stored->second.accepted);
    }
  }

  // I1, I2, I3, I4: every balance is what the model says, recomputed from accepted charges alone.
  void CheckState() {
    for (const auto& [id, budget] : model_.budgets) {
      const Balance& balance = harness_.ledger.FindBudget(id)->balance;
      RC_ASSERT(balance.spent()[0] == Units(budget.spent));
      RC_ASSERT(balance.spent()[0] <= balance.filter().cells[0].cap);
    }
    for (const auto& [key, model] : model_.sessions) {
      const SessionState* session =
          harness_.ledger.FindSession(SessionName{model.budget, key.substr(key.find('/') + 1)});
      RC_ASSERT(session != nullptr);
      if (model.own_cap) RC_ASSERT(session->own_balance->spent()[0] == Units(model.own_spent));
      int64_t accepted = 0;
      for (const auto& [charge_key, charge] : model.charges) accepted += charge.accepted;
      RC_ASSERT(session->accepted_charge_count == accepted);
      for (const SessionEvent& event : session->events) {
        const auto* pure = event.event->As<PureDp>();
        RC_ASSERT(pure != nullptr);
        const auto it = model.history.find(static_cast<int64_t>(pure->epsilon / kUnit));
        RC_ASSERT(event.accepted_count == (it == model.history.end() ? 0 : it->second));
      }
    }
  }

  LedgerHarness harness_;
  Model model_;
};

RC_GTEST_PROP(LedgerProperty, DecidesAsThePlainModelDoes, ()) {
  Run run;
  const int steps = *rc::gen::inRange(0, 120);
  for (int i = 0; i < steps; ++i) run.Step();
  run.CheckReplay();
}

}  // namespace
}  // namespace epsledger::core
