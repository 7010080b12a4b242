// The files of a served ledger after a kill -9, one of them changed: database, log, anchor, or a
// file of published heads. The input says how: its first byte which file, and then what is written,
// cut off or zeroed where. No crash; whoever opens has every entry that was acknowledged, or reads
// only, or says why not.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "server/heads/signed_heads.h"
#include "server/statement/signing_key.h"
#include "server/storage/group_commit_ledger.h"
#include "server/storage/replica.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "spdlog/spdlog.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {
namespace {

constexpr const char* kEndings[] = {"", "-wal", "-anchor"};
constexpr int kCharges = 30;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// As they are while a server has them open.
struct Scene {
  Scene() {
    spdlog::set_level(spdlog::level::off);
    const std::string path = folder.path() + "/ledger.sqlite";
    auto ledger = GroupCommitLedger::Open(
        *SqliteStore::Open(path, {.checkpoint_pages = 40, .anchored = true}), {});
    WaitingClient client(**ledger);
    client.CreateBudget("people", 100).IgnoreError();
    const core::SessionName run = client.CreateSession("people", "run");
    client.OpenAttempt(run);
    for (int i = 0; i < kCharges; ++i) {
      const auto charged =
          client.Charge(run, 1, "charge-" + std::to_string(i), accounting::PureDp{kStep});
      if (!charged.ok()) std::abort();
    }
    head = client.Head("people");
    for (const char* ending : kEndings) files[ending] = ReadFile(path + ending);
    key.emplace(*statement::SigningKey::Generate());
    line = *heads::Sign(
        {.time = absl::UnixEpoch(), .entries = {{"people", head.sequence, std::string(32, 'h')}}},
        *key);
  }

  ScratchFolder folder;
  std::map<std::string, std::string> files;
  core::LedgerHead head;
  std::optional<statement::SigningKey> key;
  std::string line;  // of published heads
};

// The input as numbers.
class Script {
 public:
  Script(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool AtEnd() const { return at_ >= size_; }
  uint8_t Byte() { return AtEnd() ? 0 : data_[at_++]; }
  size_t Below(size_t bound) {
    size_t value = Byte();
    value = value << 8 | Byte();
    value = value << 8 | Byte();
    return bound == 0 ? 0 : value % bound;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

void Change(Script* script, std::string* file) {
  while (!script->AtEnd() && !file->empty()) {
    const uint8_t what = script->Byte() % 5;
    const size_t at = script->Below(file->size());
    const size_t length = std::min<size_t>(file->size() - at, 1 + script->Below(5000));
    if (what == 0) (*file)[at] = static_cast<char>((*file)[at] ^ (1 << script->Byte() % 8));
    if (what == 1) (*file)[at] = static_cast<char>(script->Byte());
    if (what == 2) file->replace(at, length, length, '\0');
    if (what == 3) file->resize(at);
    if (what == 4) file->replace(at, length, file->substr(script->Below(file->size()), length));
  }
}

void OpenChanged(const Scene& scene, const std::string& ending, const std::string& content) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/ledger.sqlite";
  for (const auto& [end, whole] : scene.files) {
    std::ofstream(path + end, std::ios::binary) << (end == ending ? content : whole);
  }
  auto store = SqliteStore::Open(path, {.create = false, .anchored = true});
  if (!store.ok()) return;
  const bool reads_only = !(*store)->Damage().ok() || !(*store)->Writable().ok();
  Replica replica;
  const absl::Status read =
      (*store)->ReadAll([&](const std::string& root, const core::Entry& entry) {
        return replica.Apply(root, entry);
      });
  if (!read.ok() || reads_only || !(*store)->Damage().ok()) return;
  const auto ledger = replica.ledgers().find("people");
  if (ledger == replica.ledgers().end() || ledger->second->head() != scene.head) std::abort();
}

}  // namespace
}  // namespace epsledger::storage

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace epsledger;  // NOLINT: one function
  static const auto* const scene = new storage::Scene();
  storage::Script script(data, size);
  const uint8_t which = script.Byte() % 4;
  if (which == 3) {
    std::string line = scene->line;
    storage::Change(&script, &line);
    const bool is_whole = line == scene->line;
    if (heads::Verify(line, scene->key->public_key()).ok() != is_whole) std::abort();
    return 0;
  }
  const std::string ending = storage::kEndings[which];
  std::string content = scene->files.at(ending);
  storage::Change(&script, &content);
  storage::OpenChanged(*scene, ending, content);
  return 0;
}
