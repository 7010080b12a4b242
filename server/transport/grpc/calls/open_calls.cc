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

bool OpenCalls::HasRoom(const Owner& owner, size_t request_bytes, size_t of_8) const {
  const auto share = shares_.find(owner);
  const Share held = share == shares_.end() ? Share() : share->second;
  const size_t most_bytes = max_request_bytes_ / 8 * of_8;
  return held.calls < (max_calls_ * of_8 + 7) / 8 && held.request_bytes <= most_bytes &&
         request_bytes <= most_bytes - held.request_bytes;
}

void OpenCalls::Give(const Owner& owner, size_t request_bytes) {
  Share& share = shares_[owner];
  ++share.calls;
  share.request_bytes += request_bytes;
}

void OpenCalls::TakeBack(const Owner& owner, size_t request_bytes) {
  const auto share = shares_.find(owner);
  share->second.request_bytes -= request_bytes;
  if (--share->second.calls == 0) shares_.erase(share);
}

bool OpenCalls::Claim(OpenCall& call, const access::Caller& caller) {
  absl::MutexLock lock(&mutex_);
  if (!call.position_) return true;  // the call has ended meanwhile
  const Owner tenant(caller.tenant.name, "");
  const Owner principal(caller.tenant.name, caller.principal);
  const size_t principal_of_8 = caller.principal == access::kAnybody ? 4 : 3;
  if (!HasRoom(tenant, call.request_bytes_, 4) ||
      !HasRoom(principal, call.request_bytes_, principal_of_8)) {
    return false;
  }
  Give(tenant, call.request_bytes_);
  Give(principal, call.request_bytes_);
  call.owner_ = principal;
  return true;
}

void OpenCalls::Remove(OpenCall& call) {
  absl::MutexLock lock(&mutex_);
  if (!call.position_) return;
  if (call.owner_) {
    TakeBack({call.owner_->first, ""}, call.request_bytes_);
    TakeBack(*call.owner_, call.request_bytes_);
    call.owner_.reset();
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
