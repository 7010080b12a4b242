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
  if (!taken_.empty() || counts_.empty() || now - taken_time_ < kRecordingInterval) return {};
  const double earned = absl::ToDoubleSeconds(now - taken_time_) * kEntryCreditPerSecond;
  const double credit = std::min(credit_ + earned, kMaxEntryCredit);
  if (static_cast<double>(counts_.size()) > credit) return {};
  credit_ = credit - static_cast<double>(counts_.size());
  taken_time_ = now;
  return taken_ = Take();
}

std::vector<core::DenialCount> DenialCounts::TakeAll() {
  absl::MutexLock lock(&mutex_);
  return Take();
}

void DenialCounts::Recorded() {
  absl::MutexLock lock(&mutex_);
  taken_.clear();
}

std::vector<core::DenialCount> DenialCounts::Pending() const {
  absl::MutexLock lock(&mutex_);
  std::vector<core::DenialCount> pending = taken_;
  for (const auto& [key, count] : counts_) {
    const auto& [tenant, principal, method, reason] = key;
    pending.push_back({tenant, principal, method, reason, count});
  }
  return pending;
}

std::vector<core::DenialCount> DenialCounts::Take() {
  std::vector<core::DenialCount> taken;
  for (const auto& [key, count] : counts_) {
    const auto& [tenant, principal, method, reason] = key;
    taken.push_back({tenant, principal, method, reason, count});
  }
  counts_.clear();
  return taken;
}

}  // namespace epsledger::access
