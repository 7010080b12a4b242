#include "server/access/denial_counts.h"

#include <algorithm>

namespace epsledger::access {

void DenialCounts::Add(const core::DenialCount& key) {
  absl::MutexLock lock(&mutex_);
  const Key full(key.tenant, key.principal, key.method, key.reason);
  if (counts_.size() >= kMaxDenialKeys && counts_.count(full) == 0) {
    ++counts_[Key("", "others", "", "")];
  } else {
    ++counts_[full];
  }
}

std::vector<core::DenialCount> DenialCounts::TakeDue(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (counts_.empty() || now - recorded_ < kRecordingInterval) return {};
  const double earned = absl::ToDoubleSeconds(now - recorded_) * kEntryCreditPerSecond;
  const double credit = std::min(credit_ + earned, kMaxEntryCredit);
  if (static_cast<double>(counts_.size()) > credit) return {};
  std::vector<core::DenialCount> due = Listed();
  credit_ = credit - static_cast<double>(due.size());
  recorded_ = now;
  counts_.clear();
  return due;
}

std::vector<core::DenialCount> DenialCounts::TakeAll() {
  absl::MutexLock lock(&mutex_);
  std::vector<core::DenialCount> all = Listed();
  counts_.clear();
  return all;
}

std::vector<core::DenialCount> DenialCounts::Pending() const {
  absl::MutexLock lock(&mutex_);
  return Listed();
}

std::vector<core::DenialCount> DenialCounts::Listed() const {
  std::vector<core::DenialCount> list;
  for (const auto& [key, count] : counts_) {
    const auto& [tenant, principal, method, reason] = key;
    list.push_back({tenant, principal, method, reason, count});
  }
  return list;
}

}  // namespace epsledger::access
