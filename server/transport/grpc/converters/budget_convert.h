#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_BUDGET_CONVERT_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_BUDGET_CONVERT_H_

// Converts budgets, caps and balances from and to their messages.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "epsledger/v1/budget.pb.h"
#include "epsledger/v1/budget_service.pb.h"
#include "epsledger/v1/provenance.pb.h"
#include "google/protobuf/map.h"
#include "google/protobuf/timestamp.pb.h"
#include "server/core/balance.h"
#include "server/core/cap.h"
#include "server/core/command.h"
#include "server/core/ledger.h"

namespace epsledger::transport {

// Returns the cap in `message`, for which a filter can be made. INVALID_ARGUMENT for an unset
// currency and for numbers out of their domain; FAILED_PRECONDITION if the filter would have no
// room.
absl::StatusOr<core::Cap> FromProto(const v1::Cap& message, const std::string& path);
void ToProto(const core::Cap& cap, v1::Cap* message);

// Returns true for (epsilon, delta) without a filter.
bool NamesNoFilter(const v1::Cap& cap);
// Returns INVALID_ARGUMENT, below `path`, if the cap names a reference.
absl::Status CheckNoReference(const v1::Cap& cap, const std::string& path);

// Each returns what its request asks for. INVALID_ARGUMENT names the field.
absl::StatusOr<core::CreateBudget> ReadCreateBudget(const v1::CreateBudgetRequest& request);
absl::StatusOr<core::BudgetSpec> FromProto(const v1::CreateBudgetRequest& request);
absl::StatusOr<core::UpdateBudget> FromProto(const v1::UpdateBudgetRequest& request);
absl::StatusOr<core::SupersedeBudget> FromProto(const v1::SupersedeBudgetRequest& request);

// Returns the part of a budget that may change.
absl::StatusOr<core::BudgetDescription> ReadDescription(const v1::Budget& budget);

// Returns the labels in order of key. INVALID_ARGUMENT names a key that is out of its domain.
absl::StatusOr<std::vector<core::Label>> ReadLabels(
    const google::protobuf::Map<std::string, std::string>& labels, const std::string& path);

// Returns INVALID_ARGUMENT for an unknown number and for SAMPLER_UNSPECIFIED.
absl::StatusOr<core::Sampler> ReadSampler(v1::Provenance::Sampler sampler, const std::string& path);

// Returns INVALID_ARGUMENT for an unknown number and for NORMALIZER_UNSPECIFIED.
absl::StatusOr<core::Normalizer> ReadNormalizer(v1::Provenance::Normalizer normalizer,
                                                const std::string& path);

// Writes the requested budget, without the fields that only an existing budget has. For
// validate_only.
void ToProto(const core::BudgetSpec& spec, v1::Budget* message);
// Writes the present state of a budget of `ledger`.
void ToProto(const core::Ledger& ledger, const core::BudgetState& state, v1::Budget* message);

// Writes the cap rounded down, `spent` rounded up and the remainder rounded down.
void ToProto(const core::Cell& cell, core::Cost spent, v1::CellBalance* message);

void ToProto(int64_t time_micros, google::protobuf::Timestamp* message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CONVERTERS_BUDGET_CONVERT_H_
