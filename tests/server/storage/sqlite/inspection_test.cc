// Every byte that somebody changes in the file of a stopped server is found, and the entry named.

#include "server/storage/sqlite/inspection.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/storage/sample_ledger.h"

namespace epsledger::storage {
namespace {

using ::testing::HasSubstr;

class SqliteInspection : public ::testing::Test {
 protected:
  SqliteInspection() : path_(folder_.path() + "/ledger.sqlite"), head_(MakeSampleLedger(path_)) {}

  // The sequence number of the first fault, or -1 if all verifies.
  int64_t FirstBad() {
    const absl::StatusOr<std::vector<LedgerReport>> reports = VerifySqlite(path_);
    if (!reports.ok()) {
      ADD_FAILURE() << reports.status();
      return -2;
    }
    for (const LedgerReport& report : *reports) {
      if (report.fault.has_value()) {
        problem_ = report.fault->problem;
        return report.fault->sequence;
      }
    }
    return -1;
  }

  const ScratchFolder folder_;
  const std::string path_;
  const core::LedgerHead head_;
  std::string problem_;
};

TEST_F(SqliteInspection, FindsNothingWrongWithWhatAServerWrote) {
  const absl::StatusOr<std::vector<LedgerReport>> reports = VerifySqlite(path_);
  ASSERT_TRUE(reports.ok()) << reports.status();
  ASSERT_EQ(reports->size(), 1u);
  EXPECT_EQ(reports->front().root_id, "b");
  EXPECT_TRUE(reports->front().head == head_);
  EXPECT_FALSE(reports->front().fault.has_value());
  // And has changed nothing: the server starts again.
  EXPECT_EQ(WaitingClient(*OpenServerLedger(path_)).Head("b").sequence, head_.sequence);
}

TEST_F(SqliteInspection, RefusesWhatAServerHolds) {
  const auto server = OpenServerLedger(path_);
  const auto reports = VerifySqlite(path_);
  EXPECT_EQ(reports.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(reports.status().message()), HasSubstr("holds"));
}

TEST_F(SqliteInspection, RefusesWhatIsNoLedger) {
  EXPECT_EQ(VerifySqlite(folder_.path() + "/none").status().code(), absl::StatusCode::kNotFound);
  std::ofstream(folder_.path() + "/text") << std::string(5000, 'x');
  EXPECT_EQ(VerifySqlite(folder_.path() + "/text").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(SqliteInspection, FindsEveryChangedByteOfContentAndHash) {
  RawDatabase database(path_);
  int64_t flips = 0;
  for (const char* column : {"content", "hash"}) {
    for (const auto& row :
         database.Rows(absl::StrCat("SELECT sequence, hex(", column, ") FROM entries"))) {
      const std::string original = absl::HexStringToBytes(row[1]);
      const auto store = [&](const std::string& bytes) {
        database.Run(absl::StrCat("UPDATE entries SET ", column, " = x'",
                                  absl::BytesToHexString(bytes), "' WHERE sequence = ", row[0]));
      };
      for (size_t i = 0; i < original.size(); ++i) {
        std::string changed = original;
        changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
        store(changed);
        EXPECT_EQ(absl::StrCat(FirstBad()), row[0]) << column << " byte " << i << ": " << problem_;
        ++flips;
      }
      store(original);
      ASSERT_EQ(FirstBad(), -1);
    }
  }
  EXPECT_GT(flips, 1000);
}

// The file itself, whatever a byte means to SQLite: all that are not zero, all zeros of entries,
// and of the others, which are mostly free space, one in sixteen. No change makes another ledger
// verify; where none is found, the byte was no part of what is stored.
TEST_F(SqliteInspection, NoChangedByteOfTheFileMakesAnotherLedgerVerify) {
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  const std::string original{std::istreambuf_iterator<char>(file), {}};
  // Which bytes are a content or a hash: those are found for sure.
  std::vector<bool> stored(original.size());
  const std::string copy = folder_.path() + "/copy.sqlite";
  std::filesystem::copy_file(path_, copy);
  for (const auto& row : RawDatabase(copy).Rows("SELECT hex(content), hex(hash) FROM entries")) {
    for (const std::string& column : row) {
      const std::string bytes = absl::HexStringToBytes(column);
      const size_t at = original.find(bytes);
      ASSERT_NE(at, std::string::npos);
      std::fill_n(stored.begin() + static_cast<ptrdiff_t>(at), bytes.size(), true);
    }
  }
  const auto write = [&](size_t at, char byte) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte).flush();
  };
  for (size_t at = 0; at < original.size(); ++at) {
    if (original[at] == 0 && !stored[at] && at % 16 != 0) continue;
    write(at, static_cast<char>(original[at] ^ (1 << (at % 8))));
    const absl::StatusOr<std::vector<LedgerReport>> reports = VerifySqlite(path_);
    if (reports.ok() && reports->size() == 1 && !reports->front().fault.has_value()) {
      ASSERT_FALSE(stored[at]) << "byte " << at;
      ASSERT_EQ(reports->front().root_id, "b") << "byte " << at;
      ASSERT_TRUE(reports->front().head == head_) << "byte " << at;
    }
    write(at, original[at]);
  }
  EXPECT_EQ(FirstBad(), -1);
  EXPECT_GT(std::count(stored.begin(), stored.end(), true), 1000);
}

TEST_F(SqliteInspection, FindsEveryChangedKeyOfACharge) {
  RawDatabase database(path_);
  const auto rows =
      database.Rows("SELECT sequence, session_number, attempt, charge_id FROM charges");
  ASSERT_EQ(rows.size(), 6u);
  for (const auto& row : rows) {
    const std::string where = absl::StrCat(" WHERE sequence = ", row[0]);
    for (const char* column : {"session_number", "attempt"}) {
      database.Run(absl::StrCat("UPDATE charges SET ", column, " = ", column, " + 1", where));
      EXPECT_EQ(absl::StrCat(FirstBad()), row[0]) << column;
      database.Run(absl::StrCat("UPDATE charges SET ", column, " = ", column, " - 1", where));
    }
    for (size_t i = 0; i < row[3].size(); ++i) {
      std::string changed = row[3];
      changed[i] = static_cast<char>(changed[i] ^ 1);
      database.Run(absl::StrCat("UPDATE charges SET charge_id = '", changed, "'", where));
      EXPECT_EQ(absl::StrCat(FirstBad()), row[0]) << changed;
      database.Run(absl::StrCat("UPDATE charges SET charge_id = '", row[3], "'", where));
    }
    database.Run("UPDATE charges SET sequence = 1" + where);
    EXPECT_EQ(FirstBad(), 1);
    database.Run(absl::StrCat("UPDATE charges SET sequence = ", row[0], " WHERE sequence = 1"));
    database.Run("DELETE FROM charges" + where);
    EXPECT_EQ(absl::StrCat(FirstBad()), row[0]);
    database.Run(absl::StrCat("INSERT INTO charges VALUES (1, ", row[1], ", ", row[2], ", '",
                              row[3], "', ", row[0], ")"));
    ASSERT_EQ(FirstBad(), -1);
  }
  database.Run("INSERT INTO charges VALUES (1, 1, 1, 'forged', 2)");
  EXPECT_EQ(FirstBad(), 2);
}

TEST_F(SqliteInspection, FindsMissingSwappedAndDoubledEntries) {
  RawDatabase database(path_);
  database.Run("CREATE TEMP TABLE kept AS SELECT * FROM entries");
  const auto restore = [&] {
    database.Run("DELETE FROM entries");
    database.Run(
        "INSERT INTO entries (entry_id, hash, content)"
        " SELECT entry_id, hash, content FROM kept");
    ASSERT_EQ(FirstBad(), -1);
  };
  for (int64_t i = 1; i < head_.sequence; ++i) {
    database.Run(absl::StrCat("DELETE FROM entries WHERE sequence = ", i));
    EXPECT_EQ(FirstBad(), i) << "missing";
    restore();
    const auto copy = [&](int64_t from, int64_t to) {
      database.Run(absl::StrCat(
          "UPDATE entries SET (content, hash) = (SELECT content, hash FROM kept WHERE sequence = ",
          from, ") WHERE sequence = ", to));
    };
    copy(i + 1, i);
    copy(i, i + 1);
    EXPECT_EQ(FirstBad(), i) << "swapped";
    restore();
    copy(i, i + 1);
    EXPECT_EQ(FirstBad(), i + 1) << "doubled";
    restore();
  }
  // The newest entries cut off, cleanly: what the keys say of them is left.
  database.Run(absl::StrCat("DELETE FROM entries WHERE sequence > 4"));
  EXPECT_EQ(FirstBad(), 5);
}

TEST_F(SqliteInspection, FindsChangedNamesOfBudgets) {
  RawDatabase database(path_);
  database.Run("UPDATE ledgers SET root_budget = 'x'");
  EXPECT_EQ(FirstBad(), 1);
  database.Run("UPDATE ledgers SET root_budget = 'b'");
  database.Run("UPDATE budgets SET budget_id = 'x' WHERE budget_id = 'c'");
  EXPECT_EQ(FirstBad(), 0);
  EXPECT_THAT(problem_, HasSubstr("table of budgets"));
  database.Run("DELETE FROM budgets WHERE budget_id = 'x'");
  EXPECT_EQ(FirstBad(), 0);
  database.Run("INSERT INTO budgets VALUES ('c', 1)");
  ASSERT_EQ(FirstBad(), -1);
  database.Run("INSERT INTO budgets VALUES ('d', 7)");
  EXPECT_EQ(FirstBad(), 0);
}

TEST_F(SqliteInspection, FindsBlocksThatDoNotFitTheKeys) {
  RawDatabase database(path_);
  database.Run("INSERT INTO charge_blocks VALUES (1, 1, 7)");
  EXPECT_EQ(FirstBad(), 0);
  EXPECT_THAT(problem_, HasSubstr("table of blocks"));
  database.Run("DELETE FROM charge_blocks WHERE block = 7");
  ASSERT_EQ(FirstBad(), -1);
  database.Run("DELETE FROM charge_blocks");
  EXPECT_EQ(FirstBad(), 0);
}

TEST_F(SqliteInspection, FindsRowsOfNoLedger) {
  RawDatabase database(path_);
  database.Run(
      "INSERT INTO entries (entry_id, hash, content) "
      " VALUES (7 << 40 | 1, zeroblob(32), x'00')");
  EXPECT_EQ(FirstBad(), 0);
  EXPECT_THAT(problem_, HasSubstr("entries"));
  EXPECT_EQ(GroupCommitLedger::Open(*SqliteStore::Open(path_), {}).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(SqliteInspection, ExportsNothingThatDoesNotVerify) {
  std::ostringstream good;
  const absl::StatusOr<LedgerReport> report = ExportSqlite(path_, "b", good);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->fault.has_value());
  EXPECT_EQ(ExportSqlite(path_, "c", good).status().code(), absl::StatusCode::kNotFound);
  RawDatabase(path_).Run("UPDATE entries SET hash = zeroblob(32) WHERE sequence = 3");
  std::ostringstream bad;
  const absl::StatusOr<LedgerReport> found = ExportSqlite(path_, "b", bad);
  ASSERT_TRUE(found.ok() && found->fault.has_value());
  EXPECT_EQ(found->fault->sequence, 3);
}

}  // namespace
}  // namespace epsledger::storage
