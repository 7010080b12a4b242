#include "server/access/denial_counts.h"

#include <algorithm>
#include <iterator>

namespace epsledger::access {
namespace {

constexpr char kOthers[] = "others";

}  // namespace

void DenialCounts::Add(const core::DenialCount& key) {
  absl::MutexLock lock(&mutex_);
  std::map<Key, int64_t>& of_key = of_tenants_.of_key;
  const Key full(key.tenant, key.principal, key.method, key.reason);
  if (const auto known = of_key.find(full); known != of_key.end()) {
    ++known->second;
    return;
  }
  const Key others_of_tenant(key.tenant, kOthers, "", "");
  const auto first = of_key.lower_bound(Key(key.tenant, "", "", ""));
  const auto after = std::find_if(first, of_key.end(), [&](const auto& counted) {
    return std::get<0>(counted.first) != key.tenant;
  });
  const auto keys_of_tenant = static_cast<size_t>(std::distance(first, after));
  if (of_key.size() < kMaxDenialKeys && keys_of_tenant < kMaxDenialKeysOfTenant) {
    ++of_key[full];
  } else if (of_key.size() < kMaxDenialKeys || of_key.count(others_of_tenant) > 0) {
    ++of_key[others_of_tenant];
  } else {
    ++of_key[Key("", kOthers, "", "")];
  }
}

void DenialCounts::AddStranger(const core::DenialCount& key) {
  absl::MutexLock lock(&mutex_);
  std::map<Key, int64_t>& of_key = of_strangers_.of_key;
  const Key full(key.tenant, key.principal, key.method, key.reason);
  const bool fits = of_key.size() < kMaxDenialKeys || of_key.count(full) > 0;
  ++of_key[fits ? full : Key("", kOthers, "", "")];
}

bool DenialCounts::IsDue(Counts& counts, absl::Time now) {
  // Setting back the clock must not delay recording for long.
  counts.taken_time = std::min(counts.taken_time, now);
  const absl::Duration since = now - counts.taken_time;
  if (counts.of_key.empty() || since < kRecordingInterval) return false;
  const double earned = absl::ToDoubleSeconds(since) * kEntryCreditPerSecond;
  const double credit = std::min(counts.credit + earned, kMaxEntryCredit);
  if (static_cast<double>(counts.of_key.size()) > credit) return false;
  counts.credit = credit - static_cast<double>(counts.of_key.size());
  counts.taken_time = now;
  return true;
}

std::vector<core::DenialCount> DenialCounts::TakeDue(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (!taken_.empty()) return {};
  if (IsDue(of_tenants_, now)) MoveTo(taken_, of_tenants_);
  if (IsDue(of_strangers_, now)) MoveTo(taken_, of_strangers_);
  return taken_;
}

std::vector<core::DenialCount> DenialCounts::TakeAll() {
  absl::MutexLock lock(&mutex_);
  std::vector<core::DenialCount> all;
  MoveTo(all, of_tenants_);
  MoveTo(all, of_strangers_);
  return all;
}

void DenialCounts::Recorded() {
  absl::MutexLock lock(&mutex_);
  taken_.clear();
}

std::vector<core::DenialCount> DenialCounts::Pending() const {
  absl::MutexLock lock(&mutex_);
  std::vector<core::DenialCount> pending = taken_;
  Append(of_tenants_, pending);
  Append(of_strangers_, pending);
  return pending;
}

void DenialCounts::Append(const Counts& counts, std::vector<core::DenialCount>& result) {
  for (const auto& [key, count] : counts.of_key) {
    const auto& [tenant, principal, method, reason] = key;
    result.push_back({tenant, principal, method, reason, count});
  }
}

void DenialCounts::MoveTo(std::vector<core::DenialCount>& taken, Counts& counts) {
  Append(counts, taken);
  counts.of_key.clear();
}

}  // namespace epsledger::access
