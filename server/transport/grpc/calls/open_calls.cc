#include "server/transport/grpc/calls/open_calls.h"

#include <utility>

namespace epsledger::transport {

bool OpenCalls::Add(const std::shared_ptr<OpenCall>& call, size_t request_bytes) {
  absl::MutexLock lock(&mutex_);
  if (calls_.size() >= max_calls_ || request_bytes > max_request_bytes_ - request_bytes_) {
    return false;
  }
  request_bytes_ += request_bytes;
  call->request_bytes_ = request_bytes;
  call->position_ = calls_.insert(calls_.end(), call);
  return true;
}

bool OpenCalls::Claim(OpenCall& call, const core::Tenant& tenant) {
  absl::MutexLock lock(&mutex_);
  if (!call.position_) return true;  // the call has ended meanwhile
  Share& share = shares_[tenant.name];
  if (share.calls >= (max_calls_ + 1) / 2 ||
      call.request_bytes_ > max_request_bytes_ / 2 - share.request_bytes) {
    if (share.calls == 0) shares_.erase(tenant.name);
    return false;
  }
  ++share.calls;
  share.request_bytes += call.request_bytes_;
  call.tenant_ = tenant.name;
  return true;
}

void OpenCalls::Remove(OpenCall& call) {
  absl::MutexLock lock(&mutex_);
  if (!call.position_) return;
  if (call.tenant_) {
    const auto share = shares_.find(*call.tenant_);
    share->second.request_bytes -= call.request_bytes_;
    if (--share->second.calls == 0) shares_.erase(share);
    call.tenant_.reset();
  }
  calls_.erase(*call.position_);
  call.position_.reset();
  request_bytes_ -= call.request_bytes_;
}

std::vector<std::shared_ptr<OpenCall>> OpenCalls::ArrivedBefore(SteadyTime time) {
  std::vector<std::shared_ptr<OpenCall>> arrived;
  bool in_time = false;
  {
    absl::MutexLock lock(&mutex_);
    for (const std::weak_ptr<OpenCall>& weak : calls_) {
      std::shared_ptr<OpenCall> call = weak.lock();
      if (call == nullptr) continue;  // its last owner is destroying it now, and answers
      in_time = call->arrival_time() >= time;
      arrived.push_back(std::move(call));  // never destroyed under the lock: that may call Remove
      if (in_time) break;
    }
  }
  if (in_time) arrived.pop_back();
  return arrived;
}

void OpenCalls::FailArrivedBefore(SteadyTime time, const grpc::Status& status) {
  for (const auto& call : ArrivedBefore(time)) call->Fail(status);
}

void OpenCalls::Drain() {
  for (const auto& call : ArrivedBefore(absl::InfiniteDuration())) call->Drain();
}

size_t OpenCalls::size() const {
  absl::MutexLock lock(&mutex_);
  return calls_.size();
}

void OpenCalls::KeepHouse(SteadyTime now) {
  for (const auto& call : ArrivedBefore(absl::InfiniteDuration())) call->KeepHouse(now);
}

}  // namespace epsledger::transport
