#include "tests/crash/simulated_disk.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace epsledger {
namespace {

constexpr int64_t kSector = 512;

std::string NextName() {
  static std::atomic<int> count{0};
  return "simulated-disk-" + std::to_string(++count);
}

}  // namespace

struct SimulatedDisk::File {
  sqlite3_file base;  // first: SQLite sees this
  SimulatedDisk* disk;
  std::shared_ptr<Inode>* inode;
  bool sync_directory;  // with the next sync: a journal that may have been created
};

// What SQLite calls.
struct SimulatedDisk::Methods {
  static File* Of(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
  static Inode& InodeOf(sqlite3_file* file) { return **Of(file)->inode; }
  static SimulatedDisk& DiskOf(sqlite3_file* file) { return *Of(file)->disk; }
  static SimulatedDisk& DiskOf(sqlite3_vfs* vfs) {
    return *static_cast<SimulatedDisk*>(vfs->pAppData);
  }

  static int Close(sqlite3_file* file) {
    delete Of(file)->inode;
    return SQLITE_OK;
  }
  static int Read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
    const std::lock_guard lock(DiskOf(file).mutex_);
    return DiskOf(file).Read(InodeOf(file), data, size, offset);
  }
  static int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
    const std::lock_guard lock(DiskOf(file).mutex_);
    return DiskOf(file).WriteTo(InodeOf(file), data, size, offset);
  }
  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    const std::lock_guard lock(DiskOf(file).mutex_);
    return DiskOf(file).Truncate(InodeOf(file), size);
  }
  static int Sync(sqlite3_file* file, int) {
    const std::lock_guard lock(DiskOf(file).mutex_);
    const int result = DiskOf(file).Sync(InodeOf(file), Of(file)->sync_directory);
    if (result == SQLITE_OK) Of(file)->sync_directory = false;
    return result;
  }
  static int FileSize(sqlite3_file* file, sqlite3_int64* size) {
    const std::lock_guard lock(DiskOf(file).mutex_);
    *size = static_cast<sqlite3_int64>(InodeOf(file).cached.size());
    return SQLITE_OK;
  }
  static int Lock(sqlite3_file*, int) { return SQLITE_OK; }
  static int CheckReservedLock(sqlite3_file*, int* reserved) {
    *reserved = 0;
    return SQLITE_OK;
  }
  static int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int SectorSize(sqlite3_file*) { return kSector; }
  // As SQLite's own Unix layer says of every disk.
  static int DeviceCharacteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  static int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                  int* out_flags) {
    static const sqlite3_io_methods methods = {.iVersion = 1,
                                               .xClose = Close,
                                               .xRead = Read,
                                               .xWrite = Write,
                                               .xTruncate = Truncate,
                                               .xSync = Sync,
                                               .xFileSize = FileSize,
                                               .xLock = Lock,
                                               .xUnlock = Lock,
                                               .xCheckReservedLock = CheckReservedLock,
                                               .xFileControl = FileControl,
                                               .xSectorSize = SectorSize,
                                               .xDeviceCharacteristics = DeviceCharacteristics};
    SimulatedDisk& disk = DiskOf(vfs);
    const std::lock_guard lock(disk.mutex_);
    file->pMethods = nullptr;
    std::shared_ptr<Inode> inode;
    if (name == nullptr) {
      inode = std::make_shared<Inode>();
    } else if (const auto it = disk.names_.find(name); it != disk.names_.end()) {
      inode = it->second;
    } else {
      if ((flags & SQLITE_OPEN_CREATE) == 0 || disk.dead_) return SQLITE_CANTOPEN;
      inode = disk.names_[name] = std::make_shared<Inode>();
    }
    constexpr int kJournals =
        SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
    File* self = Of(file);
    self->base.pMethods = &methods;
    self->disk = &disk;
    self->inode = new std::shared_ptr<Inode>(std::move(inode));
    self->sync_directory = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & kJournals) != 0;
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }
  static int Delete(sqlite3_vfs* vfs, const char* name, int sync_directory) {
    const std::lock_guard lock(DiskOf(vfs).mutex_);
    return DiskOf(vfs).Delete(name, sync_directory != 0);
  }
  static int Access(sqlite3_vfs* vfs, const char* name, int, int* result) {
    const std::lock_guard lock(DiskOf(vfs).mutex_);
    *result = DiskOf(vfs).names_.count(name) > 0;
    return SQLITE_OK;
  }
  static int FullPathname(sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
  }
  static int Randomness(sqlite3_vfs* vfs, int size, char* out) {
    const std::lock_guard lock(DiskOf(vfs).mutex_);
    for (int i = 0; i < size; ++i) out[i] = static_cast<char>(DiskOf(vfs).random_());
    return size;
  }
  static int Sleep(sqlite3_vfs*, int microseconds) { return microseconds; }
  static int CurrentTime(sqlite3_vfs*, double* julian_day) {
    *julian_day = 2460000.5;
    return SQLITE_OK;
  }
  static int GetLastError(sqlite3_vfs*, int, char*) { return 0; }
};

SimulatedDisk::SimulatedDisk(uint64_t seed) : name_(NextName()), random_(seed) {
  vfs_.iVersion = 1;
  vfs_.szOsFile = sizeof(File);
  vfs_.mxPathname = 512;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = Methods::Open;
  vfs_.xDelete = Methods::Delete;
  vfs_.xAccess = Methods::Access;
  vfs_.xFullPathname = Methods::FullPathname;
  vfs_.xRandomness = Methods::Randomness;
  vfs_.xSleep = Methods::Sleep;
  vfs_.xCurrentTime = Methods::CurrentTime;
  vfs_.xGetLastError = Methods::GetLastError;
  sqlite3_vfs_register(&vfs_, /*makeDflt=*/0);
}

SimulatedDisk::~SimulatedDisk() { sqlite3_vfs_unregister(&vfs_); }

bool SimulatedDisk::Chance(double probability) {
  return std::uniform_real_distribution<>()(random_) < probability;
}

int64_t SimulatedDisk::Below(int64_t bound) {
  return std::uniform_int_distribution<int64_t>(0, bound - 1)(random_);
}

void SimulatedDisk::Schedule(Fault fault, int64_t operation) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  countdown_ = operation;
}

void SimulatedDisk::MakeRoom() {
  const std::lock_guard lock(mutex_);
  full_ = false;
}

SimulatedDisk::Fault SimulatedDisk::NextChange() {
  ++operations_;
  if (fault_ == Fault::kNone || fault_ == Fault::kReadError || --countdown_ > 0) {
    return Fault::kNone;
  }
  const Fault fault = std::exchange(fault_, Fault::kNone);
  switch (fault) {
    case Fault::kPowerLoss:
      dead_ = power_lost_ = true;
      break;
    case Fault::kKill:
      dead_ = true;
      break;
    case Fault::kDiskFull:
      full_ = true;
      ++faults_;
      break;
    case Fault::kSyncError:
      sync_will_fail_ = true;
      break;
    default:
      ++faults_;
  }
  return fault;
}

void SimulatedDisk::Apply(const Write& write, std::string* bytes) {
  if (write.truncate.has_value()) {
    bytes->resize(static_cast<size_t>(*write.truncate));
    return;
  }
  const size_t end = static_cast<size_t>(write.offset) + write.bytes.size();
  if (bytes->size() < end) bytes->resize(end);
  std::copy(write.bytes.begin(), write.bytes.end(), bytes->begin() + write.offset);
}

std::string SimulatedDisk::Surviving(const Inode& inode) {
  std::string bytes = inode.durable;
  // All of the first `whole`, then any sectors of the others: none and all are likely enough.
  const auto count = static_cast<int64_t>(inode.unsynced.size());
  const int64_t whole = Below(count + 1);
  const double kept = Chance(0.3)   ? 0
                      : Chance(0.3) ? 1
                                    : std::uniform_real_distribution<>()(random_);
  for (int64_t i = 0; i < count; ++i) {
    const Write& write = inode.unsynced[static_cast<size_t>(i)];
    if (i < whole) {
      Apply(write, &bytes);
      continue;
    }
    if (write.truncate.has_value()) {
      if (Chance(kept)) Apply(write, &bytes);
      continue;
    }
    const auto size = static_cast<int64_t>(write.bytes.size());
    const auto keep = [&](int64_t from, int64_t until) {
      const size_t length = static_cast<size_t>(until - from);
      Apply({.offset = write.offset + from,
             .bytes = write.bytes.substr(static_cast<size_t>(from), length),
             .truncate = {}},
            &bytes);
    };
    if (i == whole && Chance(0.5)) {  // torn at any byte
      keep(0, Below(size + 1));
      continue;
    }
    for (int64_t from = 0; from < size;) {
      const int64_t until =
          std::min(size, ((write.offset + from) / kSector + 1) * kSector - write.offset);
      if (Chance(kept)) keep(from, until);
      from = until;
    }
  }
  return bytes;
}

int SimulatedDisk::WriteTo(Inode& inode, const void* data, int size, int64_t offset) {
  if (dead_) return SQLITE_IOERR_WRITE;
  const Fault fault = NextChange();
  Write write{.offset = offset,
              .bytes = std::string(static_cast<const char*>(data), static_cast<size_t>(size)),
              .truncate = {}};
  if (fault == Fault::kKill) return SQLITE_IOERR_WRITE;
  const bool grows = static_cast<size_t>(offset + size) > inode.cached.size();
  const bool no_room = full_ && grows;
  if (fault == Fault::kWriteError || no_room) {  // a short write, and then the error
    write.bytes.resize(static_cast<size_t>(Below(size)));
  }
  Apply(write, &inode.cached);
  inode.unsynced.push_back(std::move(write));
  if (dead_ || fault == Fault::kWriteError) return SQLITE_IOERR_WRITE;
  return no_room ? SQLITE_FULL : SQLITE_OK;
}

int SimulatedDisk::Truncate(Inode& inode, int64_t size) {
  if (dead_) return SQLITE_IOERR_TRUNCATE;
  const Fault fault = NextChange();
  if (fault == Fault::kKill || fault == Fault::kWriteError) return SQLITE_IOERR_TRUNCATE;
  Write write{.offset = 0, .bytes = {}, .truncate = size};
  Apply(write, &inode.cached);
  inode.unsynced.push_back(std::move(write));
  return dead_ ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

int SimulatedDisk::Sync(Inode& inode, bool with_directory) {
  if (dead_) return SQLITE_IOERR_FSYNC;
  NextChange();
  if (dead_) return SQLITE_IOERR_FSYNC;
  if (std::exchange(sync_will_fail_, false)) {
    ++faults_;
    ++failed_syncs_;
    inode.durable = Surviving(inode);
    inode.unsynced.clear();
    if (Chance(0.3)) inode.cached = inode.durable;
    return SQLITE_IOERR_FSYNC;
  }
  for (const Write& write : inode.unsynced) Apply(write, &inode.durable);
  inode.unsynced.clear();
  if (with_directory) SyncDirectory();
  return SQLITE_OK;
}

int SimulatedDisk::Read(Inode& inode, void* data, int size, int64_t offset) {
  if (dead_) return SQLITE_IOERR_READ;
  if (fault_ == Fault::kReadError && --countdown_ <= 0) {
    fault_ = Fault::kNone;
    ++faults_;
    return SQLITE_IOERR_READ;
  }
  const auto length = static_cast<int64_t>(inode.cached.size());
  const int64_t there = std::clamp<int64_t>(length - offset, 0, size);
  if (there > 0) std::memcpy(data, inode.cached.data() + offset, static_cast<size_t>(there));
  std::memset(static_cast<char*>(data) + there, 0, static_cast<size_t>(size - there));
  return there == size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int SimulatedDisk::Delete(const std::string& name, bool sync_directory) {
  if (dead_) return SQLITE_IOERR_DELETE;
  const Fault fault = NextChange();
  if (fault == Fault::kKill || fault == Fault::kWriteError) return SQLITE_IOERR_DELETE;
  if (names_.erase(name) == 0) return SQLITE_IOERR_DELETE_NOENT;
  if (dead_) return SQLITE_IOERR_DELETE;
  if (sync_directory) SyncDirectory();
  return SQLITE_OK;
}

void SimulatedDisk::BeginLife() {
  fault_ = Fault::kNone;
  dead_ = power_lost_ = full_ = sync_will_fail_ = false;
  failed_syncs_ = faults_ = 0;
}

void SimulatedDisk::KillAndRestart() {
  const std::lock_guard lock(mutex_);
  if (power_lost_) {
    CutPowerAndRestart();
    return;
  }
  BeginLife();
}

void SimulatedDisk::CutPowerAndRestart() {
  const std::lock_guard lock(mutex_);
  // A name whose creation or deletion was not synced is there or not.
  Directory names;
  for (const Directory* directory : {&names_, &durable_names_}) {
    const Directory& other = directory == &names_ ? durable_names_ : names_;
    for (const auto& [name, inode] : *directory) {
      const auto it = other.find(name);
      if ((it != other.end() && it->second == inode) || Chance(0.5)) names.emplace(name, inode);
    }
  }
  for (auto& [name, inode] : names) {
    inode->durable = Surviving(*inode);
    inode->cached = inode->durable;
    inode->unsynced.clear();
  }
  names_ = durable_names_ = std::move(names);
  BeginLife();
}

}  // namespace epsledger
