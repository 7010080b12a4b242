#ifndef EPSLEDGER_TESTS_SERVER_STORAGE_POSTGRES_FRESH_DATABASE_H_
#define EPSLEDGER_TESTS_SERVER_STORAGE_POSTGRES_FRESH_DATABASE_H_

#include "gtest/gtest.h"

#include <string>

#include "server/storage/postgres/postgres_store.h"
#include "tests/postgres/postgres_cluster.h"

namespace epsledger::storage {

// Returns a database without tables, in the cluster of this process.
inline PostgresStore::Options FreshDatabase() {
  const absl::StatusOr<PostgresCluster*> cluster = PostgresCluster::Shared();
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  const absl::StatusOr<std::string> name = (*cluster)->CreateDatabase();
  EXPECT_TRUE(name.ok()) << name.status();
  return {.conninfo = (*cluster)->ConnectionString(*name), .without_standby = true};
}

}  // namespace epsledger::storage

#endif  // EPSLEDGER_TESTS_SERVER_STORAGE_POSTGRES_FRESH_DATABASE_H_
