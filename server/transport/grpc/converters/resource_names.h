#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_RESOURCE_NAMES_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_RESOURCE_NAMES_H_

// "budgets/{budget}/sessions/{session}/attempts/{attempt}/charges/{charge}" and its prefixes.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/command.h"

namespace epsledger::transport {

struct AttemptName {
  core::SessionName session;
  int64_t attempt = 0;  // 1, 2, 3, ...
};

struct ChargeName {
  AttemptName attempt;
  std::string charge_id;
};

struct ProposalName {
  std::string budget_id;
  std::string proposal_id;
};

// Returns OK if `id` is [a-z0-9] followed by up to 62 of [a-z0-9._-]. Otherwise INVALID_ARGUMENT
// "budgetId: got \"Adult\", want [a-z0-9] followed by up to 62 of [a-z0-9._-]".
absl::Status CheckResourceId(const std::string& field, std::string_view id);
// Returns OK if `key` is [a-z0-9] followed by up to 62 of [a-z0-9._/-].
absl::Status CheckLabelKey(const std::string& field, std::string_view key);
// Returns OK if `id` is 1 to 64 of [A-Za-z0-9._:-].
absl::Status CheckChargeId(const std::string& field, std::string_view id);

// Each function accepts exactly one spelling: its result formats to `name` again. INVALID_ARGUMENT
// names `field`, the received text (shortened and escaped) and the wanted form.
absl::StatusOr<std::string> ParseBudgetName(const std::string& field, std::string_view name);
absl::StatusOr<core::SessionName> ParseSessionName(const std::string& field, std::string_view name);
// A budget or a session; a budget has no session id.
absl::StatusOr<core::SessionName> ParseResourceName(const std::string& field,
                                                    std::string_view name);
// "budgets/{budget}/proposals/{proposal}".
absl::StatusOr<ProposalName> ParseProposalName(const std::string& field, std::string_view name);
absl::StatusOr<AttemptName> ParseAttemptName(const std::string& field, std::string_view name);
absl::StatusOr<ChargeName> ParseChargeName(const std::string& field, std::string_view name);
// "budgets/{budget}/sessions/{session}/attempts/{attempt}/leases/{lease}"; the id of a lease is the
// id of its charge.
absl::StatusOr<ChargeName> ParseLeaseName(const std::string& field, std::string_view name);

std::string FormatBudgetName(std::string_view budget_id);
std::string FormatSessionName(const core::SessionName& name);
std::string FormatResourceName(const core::SessionName& name);
std::string FormatProposalName(const ProposalName& name);
std::string FormatAttemptName(const AttemptName& name);
std::string FormatChargeName(const AttemptName& attempt, std::string_view charge_id);
std::string FormatLeaseName(const AttemptName& attempt, std::string_view lease_id);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_RESOURCE_NAMES_H_
