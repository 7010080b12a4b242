#ifndef EPSLEDGER_TESTS_CRASH_SIMULATED_DISK_H_
#define EPSLEDGER_TESTS_CRASH_SIMULATED_DISK_H_

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace epsledger {

// A file system in memory as SQLite sees it, with everything that may go wrong below it.
//
// Writes go to a cache, which processes read, and become durable by a sync. A life ends in one of
// two ways. A killed process leaves the cache as it is, unsynced writes included. A power loss
// leaves the durable bytes and any subset of the sectors of the unsynced writes, in any order of
// arrival, the last sector torn at any byte. Names of files that were created or deleted become
// durable with the directory, which is synced where SQLite's own Unix layer syncs it.
//
// A failed sync does what Linux does: any subset of the file's unsynced writes is durable and the
// others are lost. The cache still shows all of them (or, on some file systems, only the durable
// ones), and the next sync reports success.
//
// Deterministic in its seed, if one thread at a time uses it. Thread-safe.
class SimulatedDisk {
 public:
  enum class Fault {
    kNone,
    kPowerLoss,   // the operation and all later ones have no more effect than a cut allows
    kKill,        // no later operation has any effect
    kWriteError,  // one write fails, part of it was written
    kDiskFull,    // from then on no file can grow
    kSyncError,   // the next sync fails
    kReadError,   // one read fails
  };

  explicit SimulatedDisk(uint64_t seed);
  ~SimulatedDisk();
  SimulatedDisk(const SimulatedDisk&) = delete;
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;

  // Registered with SQLite while the object lives.
  const char* vfs_name() const { return name_.c_str(); }

  // Makes `fault` happen at the `operation`th operation from now; 1 is the next one. Counts reads
  // for kReadError, and writes, truncations, syncs and deletions for the other faults.
  void Schedule(Fault fault, int64_t operation);

  // True after kPowerLoss or kKill, until the next life.
  bool dead() const { return Locked(dead_); }
  // The number of syncs that have failed in this life.
  int64_t failed_syncs() const { return Locked(failed_syncs_); }
  // The number of faults in this life, without the fault that ended it.
  int64_t faults() const { return Locked(faults_); }
  // The number of operations that change the disk, in all lives.
  int64_t operations() const { return Locked(operations_); }

  // After kDiskFull: lets files grow again.
  void MakeRoom();

  // Ends the life now, if it has not ended yet, and begins the next one.
  // REQUIRES: no file is open.
  void KillAndRestart();
  void CutPowerAndRestart();

 private:
  struct Write {
    int64_t offset = 0;
    std::string bytes;
    std::optional<int64_t> truncate;  // instead of a write: the new size
  };
  struct Inode {
    std::string durable;
    std::string cached;
    std::vector<Write> unsynced;
  };
  using Directory = std::map<std::string, std::shared_ptr<Inode>>;
  struct File;  // an sqlite3_file
  struct Methods;

  template <class Value>
  Value Locked(const Value& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }
  bool Chance(double probability);
  int64_t Below(int64_t bound);
  static void Apply(const Write& write, std::string* bytes);
  // Returns what a medium may hold of `inode` if a cut interrupts its unsynced writes.
  std::string Surviving(const Inode& inode);
  void SyncDirectory() { durable_names_ = names_; }
  void BeginLife();

  // Counts an operation, and returns the fault that happens there, if any.
  Fault NextChange();
  int WriteTo(Inode& inode, const void* data, int size, int64_t offset);
  int Truncate(Inode& inode, int64_t size);
  int Sync(Inode& inode, bool with_directory);
  int Read(Inode& inode, void* data, int size, int64_t offset);
  int Delete(const std::string& name, bool sync_directory);

  const std::string name_;
  mutable std::recursive_mutex mutex_;  // of all below
  std::mt19937_64 random_;
  sqlite3_vfs vfs_{};
  Directory names_;
  Directory durable_names_;

  Fault fault_ = Fault::kNone;
  int64_t countdown_ = 0;
  bool dead_ = false;
  bool power_lost_ = false;
  bool full_ = false;
  bool sync_will_fail_ = false;
  int64_t failed_syncs_ = 0;
  int64_t faults_ = 0;
  int64_t operations_ = 0;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_CRASH_SIMULATED_DISK_H_
