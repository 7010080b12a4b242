#include "server/core/charge_decider.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "accounting/event/history.h"
#include "accounting/event/status_macros.h"
#include "accounting/event/validation.h"
#include "accounting/filter/filter.h"
#include "server/core/codec.h"
#include "server/core/describe.h"
#include "server/core/limits.h"
#include "server/core/sha256.h"

namespace epsledger::core {
namespace {

EventOutline OutlineOf(const accounting::MechanismEvent& event, const std::string& encoding) {
  return {.digest = std::string(BytesOf(Sha256({encoding}))),
          .words = Describe(event, encoding.size(), kMaxEventWordsBytes)};
}

// True if the event fits under no cap, however large.
bool NeverFits(const CellFilter& filter, const std::vector<Cost>& unit_costs) {
  const auto infinite = [](Cost cost) { return cost.is_infinite(); };
  return filter.rule == accounting::FilterRule::kAnyCell
             ? std::all_of(unit_costs.begin(), unit_costs.end(), infinite)
             : std::any_of(unit_costs.begin(), unit_costs.end(), infinite);
}

}  // namespace

Refusal RefusalBy(const Gate& gate, const std::vector<Cost>& charged) {
  const std::vector<Cost> costs = gate.Increment(charged);
  const size_t limiting = gate.balance.LimitingCell(costs);
  return Refusal{.reason = NeverFits(gate.balance.filter(), costs)
                               ? RefusalReason::kEventNotChargeable
                               : RefusalReason::kBudgetExhausted,
                 .limiting_budget_id = gate.budget_id,
                 .limiting_session_id = gate.session_id,
                 .cell = gate.balance.filter().cells[limiting],
                 .spent = gate.balance.spent()[limiting],
                 .requested = costs[limiting],
                 .steps_that_fit = 0};
}

ChargeDecider::ChargeDecider(const SessionState& session, Conditions conditions,
                             const Pricing* pricing, int64_t head_sequence, int64_t time_micros)
    : session_(session),
      conditions_(std::move(conditions)),
      gates_(std::move(conditions_.gates)),
      next_sequence_(head_sequence + 1),
      time_micros_(time_micros),
      non_private_taken_(session.non_private_charged),
      pricing_(pricing),
      counts_units_(std::any_of(gates_.begin(), gates_.end(), [](const Gate& gate) {
        return UnitsCellOf(gate.balance.filter()).has_value();
      })) {}

absl::Status ChargeDecider::AddReplay(const ChargeItem& item, ChargeRecord stored) {
  const auto conflict = [&](const std::string& got, const std::string& stored_value,
                            const char* field) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "charge id \"%s\" of attempt %d was used with another %s: got %s, stored %s; a new step "
        "needs a new charge id",
        item.charge_id, stored.row.attempt, field, got, stored_value));
  };
  if (item.count != stored.row.count) {
    return conflict(absl::StrFormat("%d", item.count), absl::StrFormat("%d", stored.row.count),
                    "count");
  }
  const std::string encoding = EncodeEvent(item.event);
  if (stored.event.has_value()) {
    if (encoding != EncodeEvent(*stored.event)) {
      return conflict(accounting::Describe(item.event), accounting::Describe(*stored.event),
                      "event");
    }
  } else {
    if (BytesOf(Sha256({encoding})) != stored.outline->digest) {
      return conflict(OutlineOf(item.event, encoding).words, stored.outline->words, "event");
    }
    stored.event = item.event;
  }
  replays_.emplace(item.charge_id, std::move(stored));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ChargeRecord>> ChargeDecider::DecideRest(const Charge& command) {
  struct Verdict {
    int64_t index = kNotHeld;  // of the event, once it is priced
    std::optional<Refusal> refusal;
  };
  looks_ahead_ = command.items.size() > 1 || command.items[0].count > 1;
  const bool fenced = command.attempt < session_.current_attempt;
  const bool all_or_nothing = command.mode == BatchMode::kAllOrNothing;
  bool any_refused = std::any_of(replays_.begin(), replays_.end(), [](const auto& replay) {
    return replay.second.row.decision != ChargeDecision::kAccepted;
  });
  bool any_accepted = false;
  std::vector<Verdict> verdicts;
  verdicts.reserve(command.items.size());
  entries_.reserve(command.items.size() + 1);  // few items have new events
  for (const ChargeItem& item : command.items) {
    if (replays_.count(item.charge_id) > 0) continue;
    Verdict verdict;
    std::optional<Refusal>& refusal = verdict.refusal;
    // These refusals do not depend on the cost of the event, so it is not priced.
    if (fenced) {
      refusal = Refusal{.reason = RefusalReason::kAttemptFenced};
    } else if (conditions_.blocked) {
      refusal = conditions_.blocked;
    } else if (all_or_nothing && any_refused) {
      refusal = Refusal{.reason = RefusalReason::kBatchRefused};
    } else {
      ASSIGN_OR_RETURN(PricedEvent event, Price(item.event));
      verdict.index = event.index;
      refusal = WhyNot(event, item.event, item.count);
      if (!wanted_.empty()) continue;  // the other items may need more prices
      if (!refusal) {
        RETURN_IF_ERROR(CheckUses(event, item.count));
        Take(event, item.count);
      }
    }
    any_refused = any_refused || refusal.has_value();
    any_accepted = any_accepted || !refusal.has_value();
    verdicts.push_back(std::move(verdict));
  }
  if (!wanted_.empty()) return std::vector<ChargeRecord>();
  if (all_or_nothing && any_refused) {
    any_accepted = false;
    for (Verdict& verdict : verdicts) {
      if (!verdict.refusal) verdict.refusal = Refusal{.reason = RefusalReason::kBatchRefused};
    }
  }
  if (any_accepted) EnterPrices();
  next_sequence_ += static_cast<int64_t>(entries_.size());
  std::vector<ChargeRecord> records;
  records.reserve(command.items.size());
  auto verdict = verdicts.begin();
  for (const ChargeItem& item : command.items) {
    if (const auto replay = replays_.find(item.charge_id); replay != replays_.end()) {
      records.push_back(replay->second);
      continue;
    }
    records.push_back(MakeRecord(command, item, verdict->index, std::move(verdict->refusal)));
    ++verdict;
  }
  return records;
}

absl::StatusOr<Preview> ChargeDecider::PreviewOne(const accounting::MechanismEvent& event,
                                                  int64_t count) {
  ASSIGN_OR_RETURN(PricedEvent priced, Price(event));
  if (!wanted_.empty()) return Preview();
  if (conditions_.blocked) return Preview{.refusal = conditions_.blocked, .steps_that_fit = 0};
  Preview preview{.refusal = WhyNot(priced, event, count), .steps_that_fit = 0};
  if (counts_units_ && wanted_.empty()) FindPricesBelow(priced, event, count);
  preview.steps_that_fit = HowManyFit(priced);
  if (preview.refusal && preview.refusal->reason == RefusalReason::kBudgetExhausted) {
    preview.refusal->steps_that_fit = preview.steps_that_fit;
  }
  if (!preview.refusal) {
    RETURN_IF_ERROR(CheckUses(priced, count));
  }
  if (preview.refusal && preview.refusal->reason == RefusalReason::kPolicyViolation) {
    preview.steps_that_fit = 0;
  }
  return preview;
}

absl::StatusOr<ChargeDecider::PricedEvent> ChargeDecider::Price(
    const accounting::MechanismEvent& event) {
  const std::string encoding = EncodeEvent(event);
  if (const auto it = session_.event_index.find(encoding); it != session_.event_index.end()) {
    const SessionEvent& known = session_.events[it->second];
    PricedEvent priced{.index = it->second,
                       .unit_costs = &known.unit_costs,
                       .unit_prices = nullptr,
                       .tickets_left = 0,
                       .is_non_private = IsNonPrivate(event),
                       .samplers = known.samplers};
    if (priced.index < static_cast<int64_t>(session_.spec.plan.size())) {
      const auto taken = uses_taken_.find(priced.index);
      priced.tickets_left =
          session_.TicketsLeft(priced.index) - (taken == uses_taken_.end() ? 0 : taken->second);
    }
    if (counts_units_) {
      priced.unit_prices = &unit_prices_.try_emplace(priced.index, known.unit_prices).first->second;
    }
    return priced;
  }
  auto it = new_events_.find(encoding);
  if (it == new_events_.end()) {
    RETURN_IF_ERROR(CheckRoomFor(encoding.size()));
    new_event_bytes_ += static_cast<int64_t>(encoding.size());
    NewEvent added{.index = static_cast<int64_t>(session_.events.size() + new_events_.size()),
                   .event = event,
                   .unit_costs = {}};
    for (const Gate& gate : gates_) {
      const std::vector<Cost>* costs =
          FindCosts(event, encoding, session_.spec.relation, gate.balance.filter(),
                    gate.IsCrossed(), pricing_, &wanted_);
      added.unit_costs.push_back(costs == nullptr ? std::vector<Cost>() : *costs);
    }
    it = new_events_.emplace(encoding, std::move(added)).first;
  }
  PricedEvent priced{.index = it->second.index,
                     .unit_costs = &it->second.unit_costs,
                     .unit_prices = nullptr,
                     .tickets_left = 0,
                     .is_non_private = IsNonPrivate(event),
                     .samplers = SamplersOf(event)};
  if (counts_units_) {
    priced.unit_prices =
        &unit_prices_.try_emplace(priced.index, std::vector<UnitPrices>(gates_.size()))
             .first->second;
  }
  return priced;
}

absl::Status ChargeDecider::CheckRoomFor(size_t bytes) const {
  const auto count = static_cast<int64_t>(session_.events.size() + new_events_.size());
  if (count >= kMaxDistinctEvents) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "budgets/%s/sessions/%s holds %d distinct events, the most a session may: open another "
        "session, or repeat an event",
        session_.spec.budget_id, session_.spec.id, kMaxDistinctEvents));
  }
  if (session_.event_bytes + new_event_bytes_ + static_cast<int64_t>(bytes) > kMaxEventBytes) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "budgets/%s/sessions/%s holds distinct events of %d bytes, and one more of %d bytes would "
        "make it more than %d: open another session, or repeat an event",
        session_.spec.budget_id, session_.spec.id, session_.event_bytes + new_event_bytes_, bytes,
        kMaxEventBytes));
  }
  return absl::OkStatus();
}

bool ChargeDecider::IsNonPrivate(const accounting::MechanismEvent& event) const {
  return IsUnproven(session_.spec.claim) && accounting::ContainsNonPrivate(event);
}

std::vector<Cost> ChargeDecider::CostAt(size_t gate, const PricedEvent& event,
                                        int64_t count) const {
  const std::vector<Cost>& unit_costs = (*event.unit_costs)[gate];
  if (event.unit_prices == nullptr) return Times(unit_costs, count);
  return gates_[gate].CostOf(unit_costs, (*event.unit_prices)[gate], count);
}

void ChargeDecider::FixReferences(const accounting::MechanismEvent& event) {
  for (Gate& gate : gates_) {
    if (!gate.balance.CanFixReference()) continue;
    const std::shared_ptr<const UnitReference> reference =
        FindReference(gate, session_.spec.relation, event,
                      /*suggested=*/!conditions_.expects_event, nullptr, pricing_, &wanted_);
    if (reference == nullptr) continue;
    gate.balance.FixReference(reference);
    const bool own = !gate.session_id.empty();
    reference_entries_.push_back(
        EntryOf(*reference, own ? "" : gate.budget_id, own ? session_.number : 0));
  }
}

void ChargeDecider::FindUnitPrices(const PricedEvent& event, const accounting::MechanismEvent& what,
                                   int64_t count) {
  if (accounting::ReleasesNothing(what)) return;  // costs 0, in every cell
  FixReferences(what);
  for (size_t i = 0; i < gates_.size(); ++i) {
    const Gate& gate = gates_[i];
    if (!UnitsCellOf(gate.balance.filter()).has_value()) continue;
    const int64_t left = gate.UnitsLeft();
    if (left < 1) continue;
    UnitPrices& prices = (*event.unit_prices)[i];
    // One use of the reference costs one unit, and a block of uses is not cheaper.
    const bool is_reference = what == gate.balance.reference()->event;
    if (count > 1 && !is_reference && prices.all().size() < kMaxUnitPrices) {
      FindUnitPrice(event, what, i, count, left);
    }
    if (prices.Of(count, left).has_value()) continue;
    FindUnitPrice(event, what, i, 1, prices.PaySingles(count, left).left);
  }
}

void ChargeDecider::FindUnitPrice(const PricedEvent& event, const accounting::MechanismEvent& what,
                                  size_t gate, int64_t count, int64_t left) {
  UnitPrices& prices = (*event.unit_prices)[gate];
  const std::shared_ptr<const UnitReference>& reference = gates_[gate].balance.reference();
  const int64_t units = reference->reference.units;
  if (prices.Knows(count, units, left)) return;
  const auto enter = [&](const ProvedUnitPrice& price) {
    prices.Add(price);
    unit_entries_.push_back(UnitsPriced{.session_number = session_.number,
                                        .event_index = event.index,
                                        .gate = static_cast<int64_t>(gate),
                                        .count = price.count,
                                        .level = price.level,
                                        .units = price.units,
                                        .reserve = price.reserve});
  };
  if (count == 1 && accounting::CostsOneUnit(what, reference->event, reference->relation)) {
    return enter(ProvedUnitPrice{.count = 1, .level = 1, .units = 1, .reserve = 0});
  }
  const int64_t level = accounting::LevelAtMost(units, left);
  if (pricing_ != nullptr) {
    const auto found = pricing_->prices.find({reference.get(), EncodeEvent(what), count, level});
    if (found != pricing_->prices.end()) {
      if (found->second.ok()) {
        enter(*found->second);
      } else if (found->second.status().code() != absl::StatusCode::kFailedPrecondition) {
        without_price_.insert({event.index, gate});
      }
      return;
    }
  }
  const auto want = [&](int64_t at) {
    wanted_.prices.push_back({.reference = reference, .event = what, .count = count, .level = at});
  };
  want(level);
  if (!looks_ahead_ || count > 1) return;
  // The next uses may reach lower levels. A few unneeded prices cost less than a round trip for
  // each.
  constexpr int kLevelsAhead = 7;
  int64_t below = level;
  for (int i = 0; i < kLevelsAhead && below > 1; ++i) {
    below = accounting::LevelAtMost(units, below - 1);
    want(below);
  }
}

bool ChargeDecider::HasPriceInUnits(size_t gate, const PricedEvent& event,
                                    const accounting::MechanismEvent& what) const {
  const Gate& at = gates_[gate];
  return UnitsCellOf(at.balance.filter()).has_value() && at.balance.reference() != nullptr &&
         !at.IsCrossed() && without_price_.count({event.index, gate}) == 0 &&
         !accounting::ContainsNonPrivate(what);
}

void ChargeDecider::FindPricesBelow(const PricedEvent& event,
                                    const accounting::MechanismEvent& what, int64_t count) {
  constexpr size_t kMostPrices = 9;
  for (size_t i = 0; i < gates_.size(); ++i) {
    if (!UnitsCellOf(gates_[i].balance.filter()).has_value()) continue;
    const int64_t units = gates_[i].UnitsLeft();
    if (units < 1) continue;
    const UnitPrices& prices = (*event.unit_prices)[i];
    // Each round asks for one price per gate.
    for (size_t known = kMostPrices + 1; prices.all().size() != known;) {
      known = prices.all().size();
      const UnitPrices::Singles singles = prices.PaySingles(count, units);
      if (singles.count == count || singles.left < 1 || known >= kMostPrices) break;
      // The price at the present level first, then one for each further quarter of the units.
      FindUnitPrice(event, what, i, 1,
                    singles.count == 0 ? singles.left
                                       : std::max<int64_t>(1, singles.left - singles.left / 4));
    }
  }
}

void ChargeDecider::TellUnits(const PricedEvent& event, const accounting::MechanismEvent& what,
                              size_t place, int64_t count, Refusal* refusal) const {
  const Gate& gate = gates_[place];
  const std::optional<size_t> units = UnitsCellOf(gate.balance.filter());
  if (!units.has_value() || gate.balance.reference() == nullptr ||
      gate.balance.spent()[*units].is_infinite()) {
    return;
  }
  // People plan in units. If units could pay until now, then either the units have run out, or the
  // delta that is reserved for events with a delta.
  const UnitPrices& prices = (*event.unit_prices)[place];
  int64_t asked = prices.Asked(count);
  const std::optional<UnitPrices::Charge> charge = prices.Of(count, gate.UnitsLeft());
  if (asked == 0) {
    if (!HasPriceInUnits(place, event, what)) return;
    asked = gate.UnitsLeft() + 1;  // no price fits the units left
  }
  const size_t cell = *units + (charge.has_value() && charge->reserve > 0 ? 1 : 0);
  refusal->reason = RefusalReason::kBudgetExhausted;
  refusal->cell = gate.balance.filter().cells[cell];
  refusal->spent = gate.balance.spent()[cell];
  refusal->requested = cell == *units ? CostOfUnits(asked) : Cost::RoundUp(charge->reserve);
}

void ChargeDecider::EnterPrices() {
  entries_ = std::move(reference_entries_);
  std::vector<std::pair<const std::string, NewEvent>*> used(new_events_.size());
  for (auto& added : new_events_) used[added.second.index - session_.events.size()] = &added;
  for (const auto* added : used) {
    if (uses_taken_.count(added->second.index) == 0) continue;
    const auto place = static_cast<int64_t>(session_.events.size() + entered_.size());
    entered_[added->second.index] = place;
    entries_.push_back(EventPriced{.session_number = session_.number,
                                   .event_index = place,
                                   .event = added->second.event,
                                   .unit_costs = added->second.unit_costs});
  }
  for (UnitsPriced& price : unit_entries_) {
    if (price.event_index >= static_cast<int64_t>(session_.events.size())) {
      const auto place = entered_.find(price.event_index);
      if (place == entered_.end()) continue;
      price.event_index = place->second;
    }
    entries_.push_back(std::move(price));
  }
}

int64_t ChargeDecider::PlaceOf(const accounting::MechanismEvent& event, int64_t index) const {
  if (index == kNotHeld) {
    const auto held = session_.event_index.find(EncodeEvent(event));
    return held == session_.event_index.end() ? kNotHeld : held->second;
  }
  if (index < static_cast<int64_t>(session_.events.size())) return index;
  const auto entered = entered_.find(index);
  return entered == entered_.end() ? kNotHeld : entered->second;
}

std::optional<Refusal> ChargeDecider::WhyNot(const PricedEvent& event,
                                             const accounting::MechanismEvent& what,
                                             int64_t count) {
  const Provenance& provenance =
      conditions_.provenance == nullptr ? session_.provenance : *conditions_.provenance;
  if (auto violation = SamplerViolation(event.samplers, provenance, conditions_.policies)) {
    Refusal refusal{.reason = RefusalReason::kPolicyViolation};
    refusal.remedy = *std::move(violation);
    return refusal;
  }
  for (const Policy* policy : conditions_.policies) {
    auto violation = DeclarationViolation(*policy, provenance);
    if (!violation.has_value()) continue;
    Refusal refusal{.reason = RefusalReason::kPolicyViolation};
    refusal.remedy = *std::move(violation);
    return refusal;
  }
  if (IsUnproven(session_.spec.claim) && !event.is_non_private && !non_private_taken_) {
    Refusal refusal{.reason = RefusalReason::kPolicyViolation};
    refusal.remedy = absl::StrFormat(
        "the session is %s: its first charge is a nonPrivate event, which makes every epsilon of "
        "it infinite and which a budget with the cap noGuarantee takes",
        LabelAndFlag(session_.spec.claim->status));
    return refusal;
  }
  if (session_.spec.mode == SessionMode::kDeclared) {
    if (count <= event.tickets_left) return std::nullopt;
    return Refusal{.reason = RefusalReason::kNotInPlan, .steps_that_fit = event.tickets_left};
  }
  if (counts_units_) FindUnitPrices(event, what, count);
  if (!wanted_.empty()) return std::nullopt;
  for (size_t i = 0; i < gates_.size(); ++i) {
    const std::vector<Cost> costs = CostAt(i, event, count);
    if (gates_[i].Fits(costs)) continue;
    Refusal refusal = RefusalBy(gates_[i], costs);
    // Even if `count` uses overflow, one use may fit; or the event has a price in units, and fewer
    // units are left.
    if (!NeverFits(gates_[i].balance.filter(), CostAt(i, event, 1)) ||
        HasPriceInUnits(i, event, what)) {
      refusal.reason = RefusalReason::kBudgetExhausted;
    }
    refusal.steps_that_fit = HowManyFit(event);
    TellUnits(event, what, i, count, &refusal);
    return refusal;
  }
  return std::nullopt;
}

void ChargeDecider::Take(const PricedEvent& event, int64_t count) {
  uses_taken_[event.index] += count;
  non_private_taken_ = non_private_taken_ || event.is_non_private;
  for (size_t i = 0; i < gates_.size(); ++i) {
    gates_[i].Take(CostAt(i, event, count));
  }
}

int64_t ChargeDecider::HowManyFit(const PricedEvent& event) const {
  if (session_.spec.mode == SessionMode::kDeclared) return event.tickets_left;
  int64_t result = kMaxStepsReported - UsesOf(event);
  for (size_t i = 0; i < gates_.size(); ++i) {
    const std::vector<Cost>& unit_costs = (*event.unit_costs)[i];
    result =
        std::min(result, event.unit_prices == nullptr
                             ? gates_[i].HowManyFit(unit_costs, result)
                             : gates_[i].HowManyFit(unit_costs, (*event.unit_prices)[i], result));
  }
  return result;
}

int64_t ChargeDecider::UsesOf(const PricedEvent& event) const {
  const auto taken = uses_taken_.find(event.index);
  const bool known = event.index < static_cast<int64_t>(session_.events.size());
  return (known ? session_.events[event.index].accepted_count : 0) +
         (taken == uses_taken_.end() ? 0 : taken->second);
}

absl::Status ChargeDecider::CheckUses(const PricedEvent& event, int64_t more) const {
  const int64_t uses = UsesOf(event);
  if (uses <= accounting::kMaxEventCount - more) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "budgets/%s/sessions/%s has used this event %d times, and a session counts up to %d uses of "
      "one: open another session",
      session_.spec.budget_id, session_.spec.id, uses, accounting::kMaxEventCount));
}

ChargeRecord ChargeDecider::MakeRecord(const Charge& command, const ChargeItem& item, int64_t index,
                                       std::optional<Refusal> refusal) {
  ChargeRecord record{.row = {.session_number = session_.number,
                              .attempt = command.attempt,
                              .charge_id = item.charge_id,
                              .event_index = PlaceOf(item.event, index),
                              .count = item.count,
                              .decision = refusal.has_value() ? ChargeDecision::kRefused
                                                              : ChargeDecision::kAccepted,
                              .refusal = std::move(refusal)},
                      .event = item.event,
                      .sequence = next_sequence_++,
                      .time_micros = time_micros_,
                      .hash = {}};
  if (record.row.event_index != kNotHeld) {
    entries_.emplace_back(record.row);
    return record;
  }
  record.outline = OutlineOf(item.event, EncodeEvent(item.event));
  entries_.push_back(ChargeRefused{.session_number = session_.number,
                                   .attempt = command.attempt,
                                   .charge_id = item.charge_id,
                                   .event = *record.outline,
                                   .count = item.count,
                                   .refusal = *record.row.refusal});
  return record;
}

}  // namespace epsledger::core
