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

// In this time at most one entry is recorded for each key.
inline constexpr absl::Duration kRecordingInterval = absl::Seconds(1);
// The maximum number of keys of one tenant between two recordings; its further denials are counted
// as its "others".
inline constexpr size_t kMaxDenialKeysOfTenant = 16;
// The maximum number of keys of all tenants, and of all strangers; further denials are counted as
// "others" without a tenant.
inline constexpr size_t kMaxDenialKeys = 256;
// The number of entries that may be recorded in a burst, and the rate at which new ones are
// allowed. However many calls are denied, this is about 9,000 entries and 1.5 MB a day for tenants,
// and the same for strangers.
inline constexpr double kMaxEntryCredit = 1000;
inline constexpr double kEntryCreditPerSecond = 0.1;

// Counts denied calls until they are recorded, so that a flood of them cannot fill the disk.
// Unknown callers are counted separately: their number does not affect which denials of a tenant
// are shown. Thread-safe.
class DenialCounts {
 public:
  // Counts one more denial of that tenant, principal, method and reason.
  void Add(const core::DenialCount& key) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts one more denial of an unknown caller, who has no tenant.
  void AddStranger(const core::DenialCount& key) ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes the counts that are due for recording at `now`. They start at 0 again, and the taken ones
  // are pending until Recorded. Returns nothing if it is too early, or if the counts taken before
  // are not recorded yet.
  std::vector<core::DenialCount> TakeDue(absl::Time now) ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes all counts, due or not.
  std::vector<core::DenialCount> TakeAll() ABSL_LOCKS_EXCLUDED(mutex_);
  // Must be called when the taken counts are in the ledger.
  void Recorded() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the counts that are not recorded yet.
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
