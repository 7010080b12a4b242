#include "client/cli/flags/resource_name.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace epsledger::cli {
namespace {

// `short_form` is used in the error message.
absl::StatusOr<std::string> FullName(const std::string& text,
                                     const std::vector<std::string>& collections,
                                     const std::string& short_form) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  std::vector<std::string> ids;
  if (parts.size() == collections.size()) {
    ids = parts;
  } else if (parts.size() == 2 * collections.size()) {
    for (size_t i = 0; i < collections.size(); ++i) {
      if (parts[2 * i] == collections[i]) ids.push_back(parts[2 * i + 1]);
    }
  }
  std::vector<std::string> full;
  std::vector<std::string> pattern;
  const std::vector<std::string> names = absl::StrSplit(short_form, '/');
  for (size_t i = 0; i < collections.size(); ++i) {
    pattern.push_back(absl::StrCat(collections[i], "/", names[i]));
    if (i < ids.size()) full.push_back(absl::StrCat(collections[i], "/", ids[i]));
  }
  if (ids.size() != collections.size() || std::count(ids.begin(), ids.end(), "") > 0) {
    return absl::InvalidArgumentError(absl::StrCat("name: got \"", text, "\", want ", short_form,
                                                   " or ", absl::StrJoin(pattern, "/")));
  }
  return absl::StrJoin(full, "/");
}

}  // namespace

absl::StatusOr<std::string> BudgetName(const std::string& text) {
  return FullName(text, {"budgets"}, "BUDGET");
}

absl::StatusOr<std::string> SessionName(const std::string& text) {
  return FullName(text, {"budgets", "sessions"}, "BUDGET/SESSION");
}

absl::StatusOr<std::string> BudgetOrSessionName(const std::string& text) {
  const bool full = text.starts_with("budgets/");
  const bool session = text.find(full ? "/sessions/" : "/") != text.npos;
  return session ? SessionName(text) : BudgetName(text);
}

absl::StatusOr<std::string> ChargeName(const std::string& text) {
  return FullName(text, {"budgets", "sessions", "attempts", "charges"},
                  "BUDGET/SESSION/ATTEMPT/CHARGE");
}

absl::StatusOr<std::string> LeaseName(const std::string& text) {
  return FullName(text, {"budgets", "sessions", "attempts", "leases"},
                  "BUDGET/SESSION/ATTEMPT/LEASE");
}

std::string ShortName(const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() % 2 != 0 || parts[0] != "budgets") return name;
  std::vector<std::string> ids;
  for (size_t i = 1; i < parts.size(); i += 2) ids.push_back(parts[i]);
  return absl::StrJoin(ids, "/");
}

std::string LastSegment(const std::string& name) { return name.substr(name.rfind('/') + 1); }

std::string ParentOf(const std::string& name) {
  std::vector<std::string> parts = absl::StrSplit(name, '/');
  parts.resize(parts.size() > 2 ? parts.size() - 2 : 0);
  return absl::StrJoin(parts, "/");
}

}  // namespace epsledger::cli
