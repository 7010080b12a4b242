// The files of a served ledger, mutilated after its process was killed: the log, the database, the
// table of charge keys in it, and the anchor. A server that is started on them has everything that
// was acknowledged, or takes no charges and says why. Nothing is lost in silence.
//
// EPSLEDGER_MUTILATIONS sets how many random cases there are of each kind (default 60; the long
// form is 2000).

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/group_commit_ledger.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {
namespace {

using accounting::PureDp;

const char* const kBudgets[] = {"first", "second"};
constexpr int kCharges = 50;  // of each budget; forty fit
constexpr int kMore = 12;     // charged on files that seem to be whole
constexpr const char* kEndings[] = {"", "-wal", "-anchor"};

// The files by the ends of their names. A file that is missing is not there.
using Files = std::map<std::string, std::string>;

Files ReadFiles(const std::string& path) {
  Files files;
  for (const char* ending : kEndings) {
    std::ifstream file(path + ending, std::ios::binary);
    if (file) files[ending].assign(std::istreambuf_iterator<char>(file), {});
  }
  return files;
}

void WriteFiles(const Files& files, const std::string& path) {
  for (const char* ending : kEndings) {
    std::filesystem::remove(path + ending);
    const auto it = files.find(ending);
    if (it != files.end()) std::ofstream(path + ending, std::ios::binary) << it->second;
  }
}

// What a process that was killed left behind, and what it had acknowledged.
struct Scene {
  Files early;  // the same ledger at half of its charges
  Files files;
  std::map<std::pair<std::string, std::string>, core::ChargeRecord> decided;
  std::map<std::string, core::LedgerHead> heads;
};

Scene MakeScene(int checkpoint_pages) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/ledger.sqlite";
  Scene scene;
  const auto ledger = *GroupCommitLedger::Open(
      *SqliteStore::Open(path, {.checkpoint_pages = checkpoint_pages, .anchored = true}), {});
  WaitingClient client(*ledger);
  for (const char* budget : kBudgets) {
    EXPECT_TRUE(client.CreateBudget(budget, 40 * kStep).ok());
    EXPECT_EQ(client.OpenAttempt(client.CreateSession(budget, "run")), 1);
  }
  for (int i = 0; i < kCharges; ++i) {
    if (i == kCharges / 2) scene.early = ReadFiles(path);
    for (const char* budget : kBudgets) {
      const std::string id = "step-" + std::to_string(i);
      scene.decided.emplace(std::pair(std::string(budget), id),
                            *client.Charge({budget, "run"}, 1, id, PureDp{kStep}));
    }
  }
  for (const char* budget : kBudgets) scene.heads[budget] = client.Head(budget);
  scene.files = ReadFiles(path);  // of a process that is still there, as kill -9 leaves them
  EXPECT_EQ(scene.files.size(), 3u);
  return scene;
}

struct Counts {
  int whole = 0;
  int refused = 0;      // the server does not start, and says why
  int quarantined = 0;  // a ledger takes no charges
  int silent = 0;
};

// All scenes: a database that has nearly everything, and a log that has.
std::vector<Scene>& Scenes() {
  static std::vector<Scene>& scenes =
      *new std::vector<Scene>{MakeScene(/*checkpoint_pages=*/40), MakeScene(10'000)};
  return scenes;
}

int64_t Cases() {
  const char* value = std::getenv("EPSLEDGER_MUTILATIONS");
  return value == nullptr ? 60 : std::atoll(value);
}

class Mutilation : public ::testing::Test {
 protected:
  // A server is started on the files.
  void Judge(const Scene& scene, const Files& files, const std::string& what) {
    SCOPED_TRACE(what);
    const std::string path = folder_.path() + "/ledger.sqlite";
    WriteFiles(files, path);
    auto store = SqliteStore::Open(path, {.anchored = true});
    absl::StatusOr<std::unique_ptr<GroupCommitLedger>> ledger =
        store.ok() ? GroupCommitLedger::Open(*std::move(store), {}) : store.status();
    if (!ledger.ok()) {
      ++counts_.refused;
      EXPECT_FALSE(ledger.status().message().empty());
      return;
    }
    bool quarantined = false;
    bool lost = !Holds(scene, **ledger, /*more=*/0, &quarantined);
    if (!quarantined && !lost) {
      // What is written next destroys nothing of it.
      WaitingClient client(**ledger);
      for (int i = 0; i < kMore; ++i) {
        for (const char* budget : kBudgets) {
          lost |=
              !client.Charge({budget, "run"}, 1, "more-" + std::to_string(i), PureDp{kStep}).ok();
        }
      }
      ledger->reset();
      store = SqliteStore::Open(path, {.anchored = true});
      ledger = store.ok() ? GroupCommitLedger::Open(*std::move(store), {}) : store.status();
      lost |= !ledger.ok() || !Holds(scene, **ledger, kMore, &quarantined) || quarantined;
    }
    EXPECT_FALSE(lost) << "what was acknowledged is gone, and nobody says so";
    ++(lost ? counts_.silent : quarantined ? counts_.quarantined : counts_.whole);
  }

  // Whether every charge has its outcome, or its ledger says that it takes none, and the heads are
  // `more` entries after those of the scene.
  static bool Holds(const Scene& scene, GroupCommitLedger& ledger, int64_t more,
                    bool* quarantined) {
    WaitingClient client(ledger);
    for (const char* budget : kBudgets) {
      for (int i = 0; i < kCharges; ++i) {
        const std::string id = "step-" + std::to_string(i);
        const auto again = client.Charge({budget, "run"}, 1, id, PureDp{kStep});
        if (again.status().code() == kDataLoss) {
          *quarantined = true;
          continue;
        }
        const core::ChargeRecord& was = scene.decided.at({budget, id});
        if (!again.ok() || again->sequence != was.sequence || again->hash != was.hash ||
            again->row.decision != was.row.decision) {
          return false;
        }
      }
      if (*quarantined) continue;
      const auto head = client.Read([&](core::LedgerReader& reader) {
        const core::Ledger* found = reader.LedgerOf(budget);
        return found == nullptr ? core::LedgerHead() : found->head();
      });
      const core::LedgerHead& was = scene.heads.at(budget);
      if (!head.ok() || head->sequence != was.sequence + more) return false;
      if (more == 0 && *head != was) return false;
      const auto listed = client.Read([&](core::LedgerReader& reader) {
        return reader.ListCharges({budget, "run"}, 0, 1000);
      });
      if (!listed.ok() || !listed->ok() ||
          (*listed)->records.size() != static_cast<size_t>(kCharges + more)) {
        return false;
      }
    }
    return true;
  }

  size_t Below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random_);
  }

  // Single bits, torn and zeroed pages of one file, within `pages` if there are any.
  void Damage(const Scene& scene, const std::string& ending, size_t page_size,
              const std::vector<size_t>& pages = {}) {
    const std::string& whole = scene.files.at(ending);
    const auto place = [&]() {
      return pages.empty() ? Below(whole.size())
                           : pages[Below(pages.size())] * page_size + Below(page_size);
    };
    for (int64_t i = 0; i < Cases(); ++i) {
      Files files = scene.files;
      std::string& bytes = files[ending];
      const size_t at = place();
      const size_t bit = Below(8);
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      Judge(scene, files,
            "bit " + std::to_string(bit) + " of byte " + std::to_string(at) + " of " + ending);
    }
    for (int64_t i = 0; i < Cases() / 4; ++i) {
      Files files = scene.files;
      std::string& bytes = files[ending];
      const size_t start = place() / page_size * page_size;
      const size_t end = std::min(bytes.size(), start + page_size);
      const size_t from = i % 2 == 0 ? start : start + Below(end - start);
      std::fill(bytes.begin() + static_cast<int64_t>(from),
                bytes.begin() + static_cast<int64_t>(end), '\0');
      Judge(scene, files, "zeros from byte " + std::to_string(from) + " of " + ending);
    }
  }

  void Report(const char* what) {
    std::printf("%s: %d whole, %d refused, %d in quarantine, %d lost in silence\n", what,
                counts_.whole, counts_.refused, counts_.quarantined, counts_.silent);
    EXPECT_EQ(counts_.silent, 0);
  }

  const ScratchFolder folder_;
  std::mt19937 random_{7};
  Counts counts_;
};

constexpr size_t kPage = 4096;
constexpr size_t kFrame = kPage + 24;

TEST_F(Mutilation, AsTheyWereTheFilesAreWhole) {
  for (const Scene& scene : Scenes()) Judge(scene, scene.files, "nothing");
  EXPECT_EQ(counts_.whole, 2);
}

TEST_F(Mutilation, OfTheLog) {
  for (const Scene& scene : Scenes()) {
    Damage(scene, "-wal", kFrame);
    const std::string& log = scene.files.at("-wal");
    for (size_t size = 0; size < log.size(); size += size == 0 ? 32 : kFrame) {
      Files files = scene.files;
      files["-wal"].resize(size);
      Judge(scene, files, "a log of " + std::to_string(size) + " bytes");
      files["-wal"].resize(size + Below(std::min(kFrame, log.size() - size)));
      Judge(scene, files, "a log of " + std::to_string(files["-wal"].size()) + " bytes");
    }
    Files files = scene.files;
    files.erase("-wal");
    Judge(scene, files, "no log");
    files["-wal"] = scene.early.at("-wal");
    Judge(scene, files, "an early log");
    files["-wal"] = std::string(log.size(), '\0');
    Judge(scene, files, "a log of zeros");
    files["-wal"] = Scenes()[&scene == &Scenes()[0] ? 1 : 0].files.at("-wal");
    Judge(scene, files, "the log of another database");
  }
  Report("log");
}

TEST_F(Mutilation, OfTheDatabase) {
  for (const Scene& scene : Scenes()) {
    Damage(scene, "", kPage);
    for (int64_t i = 0; i <= 20; ++i) {
      Files files = scene.files;
      files[""].resize(files[""].size() * static_cast<size_t>(i) / 21);
      Judge(scene, files, "a database of " + std::to_string(files[""].size()) + " bytes");
    }
    Files files = scene.files;
    files[""] = scene.early.at("");
    Judge(scene, files, "an early database");
    files["-wal"] = scene.early.at("-wal");
    Judge(scene, files, "an early database and log");
    files = scene.files;
    files[""] = Scenes()[&scene == &Scenes()[0] ? 1 : 0].files.at("");
    Judge(scene, files, "another database");
    files.erase("");
    Judge(scene, files, "no database");
  }
  Report("database");
}

// The pages of the tree that the table of charge keys is.
std::vector<size_t> KeyPages(const std::string& database) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/database";
  std::ofstream(path, std::ios::binary) << database;
  sqlite3* opened = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &opened), SQLITE_OK);
  size_t root = 0;
  sqlite3_exec(
      opened, "SELECT rootpage FROM sqlite_schema WHERE name = 'charges'",
      [](void* out, int, char** columns, char**) {
        *static_cast<size_t*>(out) = static_cast<size_t>(std::atoll(columns[0]));
        return 0;
      },
      &root, nullptr);
  sqlite3_close(opened);
  std::vector<size_t> pages;
  const auto number_at = [&](size_t at, size_t size) {
    size_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      value = value << 8 | static_cast<unsigned char>(database[at + i]);
    }
    return value;
  };
  std::vector<size_t> open = {root - 1};
  while (!open.empty()) {
    const size_t page = open.back();
    open.pop_back();
    pages.push_back(page);
    const size_t start = page * kPage;
    if (database[start] != 2) continue;  // a leaf
    open.push_back(number_at(start + 8, 4) - 1);
    for (size_t cell = 0; cell < number_at(start + 3, 2); ++cell) {
      open.push_back(number_at(start + number_at(start + 12 + 2 * cell, 2), 4) - 1);
    }
  }
  return pages;
}

TEST_F(Mutilation, OfTheTableOfKeys) {
  // All of it in the database, as after an orderly end.
  Scene scene = Scenes()[0];
  const std::string path = folder_.path() + "/ledger.sqlite";
  WriteFiles(scene.files, path);
  SqliteStore::Open(path, {.anchored = true})->reset();
  scene.files = ReadFiles(path);
  const std::vector<size_t> pages = KeyPages(scene.files.at(""));
  EXPECT_GE(pages.size(), 1u);
  Damage(scene, "", kPage, pages);
  Report("table of keys");
  EXPECT_GT(counts_.quarantined, 0);
}

TEST_F(Mutilation, OfTheAnchor) {
  for (const Scene& scene : Scenes()) {
    Damage(scene, "-anchor", 256);
    for (const size_t size : {0, 1, 111, 112, 4096, 8192, 8303, 8304, 12288, 12400, 20592}) {
      Files files = scene.files;
      files["-anchor"].resize(size);
      Judge(scene, files, "an anchor of " + std::to_string(size) + " bytes");
    }
    Files files = scene.files;
    files.erase("-anchor");
    Judge(scene, files, "no anchor");
    files["-anchor"] = scene.early.at("-anchor");
    Judge(scene, files, "an early anchor");
    files["-anchor"] = Scenes()[&scene == &Scenes()[0] ? 1 : 0].files.at("-anchor");
    Judge(scene, files, "the anchor of another database");
  }
  Report("anchor");
  EXPECT_GT(counts_.whole, 0);
  EXPECT_GT(counts_.refused, 0);
}

}  // namespace
}  // namespace epsledger::storage
