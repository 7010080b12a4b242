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
// Keys between two recordings; denials beyond are counted together as those of "others".
inline constexpr size_t kMaxDenialKeys = 64;
// Entries that may be recorded in quick succession, and how fast that many are allowed again: about
// 9,000 entries and 1.5 MB a day, however many calls are denied.
inline constexpr double kMaxEntryCredit = 1000;
inline constexpr double kEntryCreditPerSecond = 0.1;

// Counts denied calls until they are recorded, so that a flood of them cannot fill the disk.
// Thread-safe.
class DenialCounts {
 public:
  // One more of that tenant, principal, method and reason.
  void Add(const core::DenialCount& key) ABSL_LOCKS_EXCLUDED(mutex_);

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

  std::vector<core::DenialCount> Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::map<Key, int64_t> counts_ ABSL_GUARDED_BY(mutex_);
  std::vector<core::DenialCount> taken_ ABSL_GUARDED_BY(mutex_);
  absl::Time taken_time_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  double credit_ ABSL_GUARDED_BY(mutex_) = 0;  // at taken_time_
};

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_DENIAL_COUNTS_H_
