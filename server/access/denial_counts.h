#ifndef EPSLEDGER_SERVER_ACCESS_DENIAL_COUNTS_H_
#define EPSLEDGER_SERVER_ACCESS_DENIAL_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/core/access_command.h"

namespace epsledger::access {

// At most one entry a key in this time.
inline constexpr absl::Duration kRecordingInterval = absl::Seconds(1);
// Keys of one tenant between two recordings; its denials beyond are counted together as those of
// its "others".
inline constexpr size_t kMaxDenialKeysOfTenant = 16;
// Keys of all tenants, and of all strangers; beyond, "others" of nobody's tenant.
inline constexpr size_t kMaxDenialKeys = 256;
// Entries that may be recorded in quick succession, and how fast that many are allowed again: of
// tenants and of strangers about 9,000 entries and 1.5 MB a day each, however many calls are
// denied.
inline constexpr double kMaxEntryCredit = 1000;
inline constexpr double kEntryCreditPerSecond = 0.1;

// Counts denied calls until they are recorded, so that a flood of them cannot fill the disk.
// Callers who are not known are counted apart: their number says nothing of how those of a tenant
// are shown. Thread-safe.
class DenialCounts {
 public:
  // One more of that tenant, principal, method and reason.
  void Add(const core::DenialCount& key) ABSL_LOCKS_EXCLUDED(mutex_);
  // The same of a caller who is not known, and has no tenant.
  void AddStranger(const core::DenialCount& key) ABSL_LOCKS_EXCLUDED(mutex_);

  // What is due for recording at `now`; it is counted from 0 again, and pending until Recorded.
  // Empty if it is not time yet, or what was taken before is not recorded.
  std::vector<core::DenialCount> TakeDue(absl::Time now) ABSL_LOCKS_EXCLUDED(mutex_);
  // All of it, due or not.
  std::vector<core::DenialCount> TakeAll() ABSL_LOCKS_EXCLUDED(mutex_);
  // What was taken is in the ledger.
  void Recorded() ABSL_LOCKS_EXCLUDED(mutex_);
  // What is not recorded yet.
  std::vector<core::DenialCount> Pending() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;

  struct Counts {
    std::map<Key, int64_t> of_key;
    absl::Time taken_time = absl::InfinitePast();
    double credit = 0;  // at taken_time
  };

  static bool IsDue(Counts& counts, absl::Time now);
  static void MoveTo(std::vector<core::DenialCount>& taken, Counts& counts);
  static void Append(const Counts& counts, std::vector<core::DenialCount>& result);

  mutable absl::Mutex mutex_;
  Counts of_tenants_ ABSL_GUARDED_BY(mutex_);
  Counts of_strangers_ ABSL_GUARDED_BY(mutex_);
  std::vector<core::DenialCount> taken_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_DENIAL_COUNTS_H_
