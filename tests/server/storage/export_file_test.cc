// Every byte of an export file is accounted for; what was imported goes on as if nothing happened.

#include "server/storage/export_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/core/codec.h"
#include "server/storage/ledger_import.h"
#include "server/storage/sqlite/inspection.h"
#include "tests/server/storage/sample_ledger.h"

namespace epsledger::storage {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class ExportFile : public ::testing::Test {
 protected:
  ExportFile() : path_(folder_.path() + "/ledger.sqlite"), head_(MakeSampleLedger(path_)) {
    std::ostringstream out;
    EXPECT_TRUE(ExportSqlite(path_, "b", out).ok());
    text_ = out.str();
    lines_ = absl::StrSplit(text_, '\n');
    lines_.pop_back();  // after the last newline
  }

  static LedgerReport Read(const std::string& text) {
    std::istringstream in(text);
    auto report =
        ReadExport(in, [](const std::string&, const core::Entry&) { return absl::OkStatus(); });
    EXPECT_TRUE(report.ok()) << report.status();
    return *std::move(report);
  }
  // -1 if all verifies.
  static int64_t FirstBad(const std::string& text) {
    const LedgerReport report = Read(text);
    return report.fault.has_value() ? report.fault->sequence : -1;
  }
  static int64_t FirstBad(const std::vector<std::string>& lines) {
    return FirstBad(absl::StrJoin(lines, "\n") + "\n");
  }

  const ScratchFolder folder_;
  const std::string path_;
  const core::LedgerHead head_;
  std::string text_;
  std::vector<std::string> lines_;  // the first, one for each entry, the last
};

TEST_F(ExportFile, HoldsTheWholeLedger) {
  ASSERT_EQ(static_cast<int64_t>(lines_.size()), head_.sequence + 2);
  EXPECT_EQ(lines_[0], R"({"epsledgerExport":1,"rootBudget":"budgets/b"})");
  const LedgerReport report = Read(text_);
  EXPECT_EQ(report.root_id, "b");
  EXPECT_TRUE(report.head == head_);
  EXPECT_FALSE(report.fault.has_value());
}

TEST_F(ExportFile, NamesTheEntryOfEveryChangedByte) {
  size_t at = 0;
  for (size_t line = 0; line < lines_.size(); ++line) {
    for (size_t i = 0; i <= lines_[line].size(); ++i, ++at) {  // the newline too
      std::string changed = text_;
      changed[at] = static_cast<char>(changed[at] ^ 1);
      const int64_t bad = FirstBad(changed);
      if (line == 0) {
        EXPECT_EQ(bad, 1) << i;
      } else if (line + 1 < lines_.size()) {
        EXPECT_EQ(bad, static_cast<int64_t>(line)) << i;
      } else {
        EXPECT_THAT(bad, AnyOf(head_.sequence, head_.sequence + 1)) << i;
      }
    }
  }
  EXPECT_EQ(at, text_.size());
}

TEST_F(ExportFile, IsNotItselfWhenCutOffAnywhere) {
  for (size_t size = 0; size < text_.size(); ++size) {
    EXPECT_GT(FirstBad(text_.substr(0, size)), 0) << size;
  }
  EXPECT_EQ(FirstBad(text_ + "\n"), head_.sequence + 1);
  EXPECT_EQ(FirstBad(text_ + text_), head_.sequence + 1);
}

TEST_F(ExportFile, NamesMissingSwappedAndDoubledEntries) {
  for (size_t i = 1; i + 1 < lines_.size(); ++i) {
    const auto entry = static_cast<int64_t>(i);
    std::vector<std::string> lines = lines_;
    lines.erase(lines.begin() + entry);
    const bool is_last = entry == head_.sequence;
    EXPECT_EQ(FirstBad(lines), is_last ? entry - 1 : entry) << "missing " << i;
    lines = lines_;
    lines.insert(lines.begin() + entry, lines_[i]);
    EXPECT_EQ(FirstBad(lines), entry + 1) << "doubled " << i;
    if (is_last) continue;
    lines = lines_;
    std::swap(lines[i], lines[i + 1]);
    EXPECT_EQ(FirstBad(lines), entry) << "swapped " << i;
  }
}

TEST_F(ExportFile, ImportedLedgerIsTheSameAndGoesOn) {
  const std::string copy = folder_.path() + "/copy.sqlite";
  std::istringstream in(text_);
  const absl::StatusOr<LedgerReport> report = ImportToSqlite(in, copy);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->head == head_);
  const auto verified = VerifySqlite(copy);
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_FALSE(verified->front().fault.has_value());
  EXPECT_TRUE(verified->front().head == head_);

  // The same charges in both give the same head, old keys included.
  std::vector<core::LedgerHead> heads;
  for (const std::string& path : {path_, copy}) {
    const auto ledger = OpenServerLedger(path);
    WaitingClient client(*ledger, 1'700'000'000'000'007);
    const core::SessionName under_successor = client.CreateSession("c", "next");
    const int64_t attempt = client.OpenAttempt(under_successor);
    const auto charge = client.Charge(under_successor, attempt, "one", accounting::PureDp{0.5});
    ASSERT_TRUE(charge.ok()) << charge.status();
    EXPECT_EQ(charge->row.decision, core::ChargeDecision::kAccepted);
    const auto replay = client.Charge({"b", "s"}, 1, "two", accounting::PureDp{0.25});
    ASSERT_TRUE(replay.ok()) << replay.status();
    EXPECT_LE(replay->sequence, head_.sequence);
    heads.push_back(client.Head("c"));
  }
  EXPECT_TRUE(heads[0] == heads[1]);
  EXPECT_GT(heads[0].sequence, head_.sequence);
}

TEST_F(ExportFile, ImportNeverReplacesALedger) {
  std::istringstream in(text_);
  EXPECT_EQ(ImportToSqlite(in, path_).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Read(text_).head.sequence, WaitingClient(*OpenServerLedger(path_)).Head("b").sequence);
}

TEST_F(ExportFile, DamagedImportLeavesNothing) {
  std::string changed = text_;
  changed[text_.size() / 2] = static_cast<char>(changed[text_.size() / 2] ^ 1);
  const std::string copy = folder_.path() + "/copy.sqlite";
  std::istringstream in(changed);
  const absl::StatusOr<LedgerReport> report = ImportToSqlite(in, copy);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->fault.has_value());
  for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_THAT(file.path().filename().string(), ::testing::Not(HasSubstr("copy"))) << file.path();
  }
}

TEST_F(ExportFile, RewrittenHistoryBreaksACap) {
  // Somebody turns the refusal into an acceptance and computes every hash anew.
  std::ostringstream out;
  ExportWriter writer(out, "b");
  std::istringstream in(text_);
  core::Hash previous{};
  ASSERT_TRUE(ReadExport(in, [&](const std::string&, core::Entry entry) {
                if (auto* row = std::get_if<core::ChargeDecided>(&entry.body)) {
                  row->decision = core::ChargeDecision::kAccepted;
                  row->refusal.reset();
                }
                entry.content = core::EncodeContent(entry.sequence, entry.time_micros, entry.body);
                entry.hash = core::ChainHash(previous, entry.content);
                previous = entry.hash;
                writer.Add(entry);
                return absl::OkStatus();
              }).ok());
  ASSERT_TRUE(writer.Finish({head_.sequence, previous}, {}).ok());
  const LedgerReport report = Read(out.str());
  ASSERT_TRUE(report.fault.has_value());
  EXPECT_THAT(report.fault->problem, HasSubstr("beyond a cap"));
}

}  // namespace
}  // namespace epsledger::storage
