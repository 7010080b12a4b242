// What people say about budgets and sessions: decided, and applied.

#include <algorithm>
#include <array>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "accounting/event/printable.h"
#include "accounting/event/status_macros.h"
#include "server/core/ledger.h"
#include "server/core/limits.h"

namespace epsledger::core {
namespace {

absl::Status Impossible(const char* what) {
  return absl::DataLossError(absl::StrCat("ledger entry contradicts the ones before: ", what));
}

bool IsText(const std::string& text, int64_t least, int64_t most) {
  const auto size = static_cast<int64_t>(text.size());
  return size >= least && size <= most && accounting::IsPrintable(text);
}

bool IsValid(const SignOff& sign_off) {
  return IsText(sign_off.signer, 1, kMaxSignerBytes) && IsText(sign_off.role, 1, kMaxSignerBytes) &&
         IsText(sign_off.comment, 0, kMaxReasonBytes) &&
         sign_off.statement_sha256.size() == std::tuple_size_v<Hash> &&
         sign_off.statement_sequence >= 1 && sign_off.epsilon >= 0 && sign_off.delta >= 0 &&
         sign_off.delta <= 1;
}

Recorded RecordedBy(const Entry& entry) {
  return {.sequence = entry.sequence,
          .time_micros = entry.time_micros,
          .principal = entry.actor.has_value() ? entry.actor->principal : ""};
}

}  // namespace

absl::StatusOr<const Annotations*> Ledger::AnnotationsOf(const SessionName& name) const {
  const BudgetState* budget = FindBudget(name.budget_id);
  if (budget == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("budgets/", name.budget_id, ": there is no such budget"));
  }
  if (name.session_id.empty()) return &budget->annotations;
  const SessionState* session = FindSession(name);
  if (session == nullptr) {
    return absl::NotFoundError(absl::StrCat("budgets/", name.budget_id, "/sessions/",
                                            name.session_id, ": there is no such session"));
  }
  return &session->annotations;
}

int64_t Ledger::NumberOf(const SessionName& name) const {
  return name.session_id.empty() ? 0 : FindSession(name)->number;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const Annotate& command) const {
  ASSIGN_OR_RETURN(const Annotations* said, AnnotationsOf(command.resource));
  AnnotationsOutcome outcome{.resource = command.resource};
  for (const Annotate::Topic& topic : command.topics) outcome.topics.insert(topic.topic);
  Decision decision{std::move(outcome), {}};
  for (const Annotate::Topic& topic : command.topics) {
    const auto known = said->texts.find(topic.topic);
    if (topic.text == (known == said->texts.end() ? "" : known->second.text)) continue;
    decision.entries.push_back(Annotated{.budget_id = command.resource.budget_id,
                                         .session_number = NumberOf(command.resource),
                                         .topic = topic.topic,
                                         .text = topic.text});
  }
  return decision;
}

absl::StatusOr<Ledger::Decision> Ledger::DecideOn(const RecordSignOff& command) const {
  ASSIGN_OR_RETURN(const Annotations* said, AnnotationsOf(command.resource));
  if (command.sign_off.statement_sequence > head_.sequence) {
    return absl::FailedPreconditionError(
        absl::StrCat("statement: it knows ", command.sign_off.statement_sequence,
                     " entries, and the ledger has ", head_.sequence, ": entries are missing"));
  }
  Decision decision{AnnotationsOutcome{.resource = command.resource, .sign_off = command.sign_off},
                    {}};
  const bool is_repetition =
      std::any_of(said->sign_offs.begin(), said->sign_offs.end(),
                  [&](const RecordedSignOff& known) { return known.sign_off == command.sign_off; });
  if (is_repetition) return decision;
  decision.entries.push_back(SignedOff{.budget_id = command.resource.budget_id,
                                       .session_number = NumberOf(command.resource),
                                       .sign_off = command.sign_off});
  return decision;
}

Annotations* Ledger::MutableAnnotations(const std::string& budget_id, int64_t session_number) {
  if (session_number == 0) {
    const auto budget = budgets_.find(budget_id);
    return budget == budgets_.end() ? nullptr : &budget->second.annotations;
  }
  SessionState* session = MutableSession(session_number);
  return session == nullptr || session->spec.budget_id != budget_id ? nullptr
                                                                    : &session->annotations;
}

absl::Status Ledger::ApplyBody(const Annotated& body, const Entry& entry) {
  Annotations* annotations = MutableAnnotations(body.budget_id, body.session_number);
  if (annotations == nullptr) return Impossible("what is annotated does not exist");
  if (!IsText(body.text, 0, kMaxAnnotationBytes)) {
    return Impossible("an annotation is no text of at most 2,048 bytes");
  }
  if (body.text.empty()) {
    annotations->texts.erase(body.topic);
  } else {
    annotations->texts[body.topic] = {.text = body.text, .by = RecordedBy(entry)};
  }
  return absl::OkStatus();
}

absl::Status Ledger::ApplyBody(const SignedOff& body, const Entry& entry) {
  Annotations* annotations = MutableAnnotations(body.budget_id, body.session_number);
  if (annotations == nullptr) return Impossible("what is signed off does not exist");
  if (!IsValid(body.sign_off) || body.sign_off.statement_sequence >= entry.sequence) {
    return Impossible("a sign-off has fields that no server writes");
  }
  if (annotations->sign_offs.size() == kMaxShownSignOffs) annotations->sign_offs.pop_front();
  annotations->sign_offs.push_back({.sign_off = body.sign_off, .by = RecordedBy(entry)});
  ++annotations->sign_off_count;
  return absl::OkStatus();
}

}  // namespace epsledger::core
