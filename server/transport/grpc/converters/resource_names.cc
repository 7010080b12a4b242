#include "server/transport/grpc/converters/resource_names.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "server/core/limits.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

constexpr char kResourceIdRule[] = "[a-z0-9] followed by up to 62 of [a-z0-9._-]";
constexpr char kChargeIdRule[] = "1 to 64 of [A-Za-z0-9._:-]";

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsResourceId(std::string_view id) {
  return !id.empty() && static_cast<int64_t>(id.size()) <= core::kMaxIdBytes &&
         IsLowerOrDigit(id[0]) && std::all_of(id.begin(), id.end(), [](char c) {
           return IsLowerOrDigit(c) || c == '.' || c == '_' || c == '-';
         });
}

bool IsChargeId(std::string_view id) {
  return !id.empty() && static_cast<int64_t>(id.size()) <= core::kMaxChargeIdBytes &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == ':' ||
                  c == '-';
         });
}

// Returns the variable segments of `name`, whose other segments must be `collections`; nullopt if
// it has another shape.
std::optional<std::vector<std::string_view>> Segments(
    std::string_view name, std::initializer_list<std::string_view> collections) {
  std::vector<std::string_view> variables;
  for (const std::string_view collection : collections) {
    if (!variables.empty()) {
      if (name.empty() || name[0] != '/') return std::nullopt;
      name.remove_prefix(1);
    }
    if (name.substr(0, collection.size()) != collection) return std::nullopt;
    name.remove_prefix(collection.size());
    if (name.empty() || name[0] != '/') return std::nullopt;
    name.remove_prefix(1);
    const size_t end = std::min(name.find('/'), name.size());
    variables.push_back(name.substr(0, end));
    name.remove_prefix(end);
  }
  if (!name.empty()) return std::nullopt;
  return variables;
}

// Returns the number of an attempt in its only spelling, or 0.
int64_t AttemptNumber(std::string_view text) {
  int64_t number = 0;
  if (text.empty() || text[0] == '0' || text[0] == '-') return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

std::optional<ChargeName> ReadKey(std::string_view name, std::string_view collection) {
  const auto segments = Segments(name, {"budgets", "sessions", "attempts", collection});
  const int64_t attempt = segments ? AttemptNumber((*segments)[2]) : 0;
  if (attempt == 0 || !IsResourceId((*segments)[0]) || !IsResourceId((*segments)[1]) ||
      !IsChargeId((*segments)[3])) {
    return std::nullopt;
  }
  return ChargeName{{{std::string((*segments)[0]), std::string((*segments)[1])}, attempt},
                    std::string((*segments)[3])};
}

absl::Status WrongName(const std::string& field, std::string_view got, const char* want) {
  return accounting::OutOfDomain(field, Shown(got), want);
}

}  // namespace

absl::Status CheckResourceId(const std::string& field, std::string_view id) {
  return IsResourceId(id) ? absl::OkStatus() : WrongName(field, id, kResourceIdRule);
}

absl::Status CheckChargeId(const std::string& field, std::string_view id) {
  return IsChargeId(id) ? absl::OkStatus() : WrongName(field, id, kChargeIdRule);
}

absl::Status CheckLabelKey(const std::string& field, std::string_view key) {
  const bool good = !key.empty() && static_cast<int64_t>(key.size()) <= core::kMaxLabelKeyBytes &&
                    IsLowerOrDigit(key[0]) && std::all_of(key.begin(), key.end(), [](char c) {
                      return IsLowerOrDigit(c) || c == '.' || c == '_' || c == '/' || c == '-';
                    });
  return good ? absl::OkStatus()
              : WrongName(field, key, "keys of [a-z0-9] followed by up to 62 of [a-z0-9._/-]");
}

absl::StatusOr<std::string> ParseBudgetName(const std::string& field, std::string_view name) {
  const auto segments = Segments(name, {"budgets"});
  if (!segments || !IsResourceId((*segments)[0])) {
    return WrongName(field, name, "budgets/{budget}, ids as in epsledger/v1/budget.proto");
  }
  return std::string((*segments)[0]);
}

absl::StatusOr<core::SessionName> ParseSessionName(const std::string& field,
                                                   std::string_view name) {
  const auto segments = Segments(name, {"budgets", "sessions"});
  if (!segments || !IsResourceId((*segments)[0]) || !IsResourceId((*segments)[1])) {
    return WrongName(field, name,
                     "budgets/{budget}/sessions/{session}, ids as in epsledger/v1/budget.proto");
  }
  return core::SessionName{std::string((*segments)[0]), std::string((*segments)[1])};
}

absl::StatusOr<core::SessionName> ParseResourceName(const std::string& field,
                                                    std::string_view name) {
  if (name.find("/sessions/") != name.npos) return ParseSessionName(field, name);
  absl::StatusOr<std::string> budget = ParseBudgetName(field, name);
  if (!budget.ok()) return budget.status();
  return core::SessionName{*std::move(budget), ""};
}

absl::StatusOr<ProposalName> ParseProposalName(const std::string& field, std::string_view name) {
  const auto segments = Segments(name, {"budgets", "proposals"});
  if (!segments || !IsResourceId((*segments)[0]) || !IsResourceId((*segments)[1])) {
    return WrongName(field, name,
                     "budgets/{budget}/proposals/{proposal}, ids as in epsledger/v1/budget.proto");
  }
  return ProposalName{std::string((*segments)[0]), std::string((*segments)[1])};
}

absl::StatusOr<AttemptName> ParseAttemptName(const std::string& field, std::string_view name) {
  const auto segments = Segments(name, {"budgets", "sessions", "attempts"});
  const int64_t attempt = segments ? AttemptNumber((*segments)[2]) : 0;
  if (attempt == 0 || !IsResourceId((*segments)[0]) || !IsResourceId((*segments)[1])) {
    return WrongName(field, name,
                     "budgets/{budget}/sessions/{session}/attempts/{attempt} with attempt a "
                     "number from 1 on");
  }
  return AttemptName{{std::string((*segments)[0]), std::string((*segments)[1])}, attempt};
}

absl::StatusOr<ChargeName> ParseChargeName(const std::string& field, std::string_view name) {
  std::optional<ChargeName> charge = ReadKey(name, "charges");
  if (!charge) {
    return WrongName(field, name,
                     "budgets/{budget}/sessions/{session}/attempts/{attempt}/charges/{charge}, "
                     "ids as in epsledger/v1/charge.proto");
  }
  return *std::move(charge);
}

absl::StatusOr<ChargeName> ParseLeaseName(const std::string& field, std::string_view name) {
  std::optional<ChargeName> lease = ReadKey(name, "leases");
  if (!lease) {
    return WrongName(field, name,
                     "budgets/{budget}/sessions/{session}/attempts/{attempt}/leases/{lease}, ids "
                     "as in epsledger/v1/charge.proto");
  }
  return *std::move(lease);
}

std::string FormatBudgetName(std::string_view budget_id) {
  return absl::StrCat("budgets/", std::string(budget_id));
}

std::string FormatSessionName(const core::SessionName& name) {
  return absl::StrCat("budgets/", name.budget_id, "/sessions/", name.session_id);
}

std::string FormatResourceName(const core::SessionName& name) {
  return name.session_id.empty() ? FormatBudgetName(name.budget_id) : FormatSessionName(name);
}

std::string FormatProposalName(const ProposalName& name) {
  return absl::StrCat("budgets/", name.budget_id, "/proposals/", name.proposal_id);
}

std::string FormatAttemptName(const AttemptName& name) {
  return absl::StrCat(FormatSessionName(name.session), "/attempts/", name.attempt);
}

std::string FormatChargeName(const AttemptName& attempt, std::string_view charge_id) {
  return absl::StrCat(FormatAttemptName(attempt), "/charges/", std::string(charge_id));
}

std::string FormatLeaseName(const AttemptName& attempt, std::string_view lease_id) {
  return absl::StrCat(FormatAttemptName(attempt), "/leases/", std::string(lease_id));
}

}  // namespace epsledger::transport
