#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_CONTRACT_TRAINER_FIXTURE_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_CONTRACT_TRAINER_FIXTURE_H_

// A real server, a budget, records, and trainers as processes.

#include <stdlib.h>
#include "gtest/gtest.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "epsledger/client.h"
#include "tests/client/trainers/contract/trainer_process.h"
#include "tests/end_to_end/server_process.h"

namespace epsledger::trainers {

class TrainerFixture : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/trainer.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::create_directory(folder_ + "/ledger");
    server_ = std::make_unique<ServerProcess>(folder_ + "/ledger");
    ASSERT_NE(server_->address(), "") << server_->output();
    auto client = Client::Connect({.address = server_->address()});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = std::make_unique<Client>(*std::move(client));
  }

  void TearDown() override {
    client_.reset();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void CreateBudget(const Cap& cap) {
    const auto budget =
        client_->CreateBudget({.id = "adult",
                               .cap = cap,
                               .neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                               .privacy_unit = "person"});
    ASSERT_TRUE(budget.ok()) << budget.status();
  }

  // Writes records in the LIBSVM format: features are whole numbers in [0, 16], labels are in
  // [0, classes).
  std::string WriteRecords(const std::string& name, int features, int classes,
                           unsigned seed = 3) const {
    std::mt19937_64 generator(seed);
    const std::string path = folder_ + "/" + name;
    std::ofstream file(path);
    for (int record = 0; record < 200; ++record) {
      file << record % classes;
      for (int feature = 1; feature <= features; ++feature) {
        file << " " << feature << ":" << generator() % 17;
      }
      file << "\n";
    }
    return path;
  }

  // Returns the records of a JSON log. The last line of a killed process may be incomplete.
  static std::vector<nlohmann::json> ReadLog(const std::string& path) {
    std::vector<nlohmann::json> records;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
      if (record.is_object()) records.push_back(record);
    }
    return records;
  }
  static int CountSteps(const std::vector<nlohmann::json>& records) {
    int steps = 0;
    for (const nlohmann::json& record : records) steps += record["record"] == "step";
    return steps;
  }

  // Returns the number of charges that the budget accepted. A lease counts as one.
  int64_t charges() const {
    const auto budget = client_->GetBudget("adult");
    EXPECT_TRUE(budget.ok()) << budget.status();
    return budget.ok() ? budget->accepted_charge_count : -1;
  }

  std::string folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<Client> client_;
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_CONTRACT_TRAINER_FIXTURE_H_
