// For LD_PRELOAD: every sync of a file takes EPSLEDGER_SYNC_MILLISECONDS longer, and none ends
// while there is a file EPSLEDGER_SYNC_GATE.

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

int SyncSlowly(const char* name, int file) {
  const char* milliseconds = std::getenv("EPSLEDGER_SYNC_MILLISECONDS");
  if (milliseconds != nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(milliseconds)));
  }
  const char* gate = std::getenv("EPSLEDGER_SYNC_GATE");
  while (gate != nullptr && access(gate, F_OK) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  using Sync = int (*)(int);
  return reinterpret_cast<Sync>(dlsym(RTLD_NEXT, name))(file);
}

}  // namespace

extern "C" int fsync(int file) { return SyncSlowly("fsync", file); }
extern "C" int fdatasync(int file) { return SyncSlowly("fdatasync", file); }
