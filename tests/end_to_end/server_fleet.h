#ifndef EPSLEDGER_TESTS_END_TO_END_SERVER_FLEET_H_
#define EPSLEDGER_TESTS_END_TO_END_SERVER_FLEET_H_

#include "gtest/gtest.h"

#include <memory>
#include <string>
#include <vector>

#include "server/storage/postgres/postgres_store.h"
#include "tests/end_to_end/server_process.h"
#include "tests/postgres/postgres_cluster.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger {

// Several epsledgerd processes over one database in a PostgreSQL of their own.
class ServerFleet {
 public:
  explicit ServerFleet(int count) : cluster_(PostgresCluster::Start().value()) {
    conninfo_ = cluster_->ConnectionString(cluster_->CreateDatabase().value());
    for (int i = 0; i < count; ++i) {
      servers_.push_back(std::make_unique<ServerProcess>(
          ServerProcess::Flags{{"--postgres", conninfo_, "--postgres-without-standby",
                                "--statement-key", folder_.path() + "/statement.key"}}));
      EXPECT_FALSE(servers_.back()->address().empty()) << servers_.back()->output();
    }
  }

  PostgresCluster& database() { return *cluster_; }
  std::vector<std::unique_ptr<ServerProcess>>& servers() { return servers_; }
  std::vector<std::string> addresses() const {
    std::vector<std::string> addresses;
    for (const auto& server : servers_) addresses.push_back(server->address());
    return addresses;
  }
  // Opens the store, so that the test can read what is stored.
  std::unique_ptr<storage::PostgresStore> OpenStore() const {
    auto store = storage::PostgresStore::Open({.conninfo = conninfo_, .without_standby = true});
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

 private:
  const ScratchFolder folder_;
  const std::unique_ptr<PostgresCluster> cluster_;
  std::string conninfo_;
  std::vector<std::unique_ptr<ServerProcess>> servers_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_END_TO_END_SERVER_FLEET_H_
