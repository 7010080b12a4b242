#ifndef EPSLEDGER_CLIENT_ALERTS_LEDGER_READINGS_H_
#define EPSLEDGER_CLIENT_ALERTS_LEDGER_READINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/connection.h"
#include "epsledger/v1/budget.pb.h"
#include "epsledger/v1/proposal_service.pb.h"
#include "epsledger/v1/server_service.pb.h"

namespace epsledger::alerts {

// What the watches do not bring. Each returns everything, or the status of the call that failed.

// The roots that the caller may see. A budget whose parent is not visible counts as one.
absl::StatusOr<std::vector<std::string>> ReadRoots(Connection& connection);
// A budget and everything below it, parents before children.
absl::StatusOr<std::vector<v1::Budget>> ReadTree(Connection& connection, const std::string& tree);
absl::StatusOr<v1::Budget> ReadBudget(Connection& connection, const std::string& name);
// The last entry of the ledger of a tree.
absl::StatusOr<int64_t> ReadHead(Connection& connection, const std::string& tree);
// The pending proposals of a tree.
absl::StatusOr<std::vector<v1::Proposal>> ReadPending(Connection& connection,
                                                      const std::string& tree);
absl::StatusOr<v1::ServerInfo> ReadServerInfo(Connection& connection);

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_LEDGER_READINGS_H_
