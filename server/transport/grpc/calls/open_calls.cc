#include "server/transport/grpc/calls/open_calls.h"

#include <utility>

namespace epsledger::transport {

bool OpenCalls::Add(const std::shared_ptr<OpenCall>& call) {
  absl::MutexLock lock(&mutex_);
  if (calls_.size() >= limit_) return false;
  call->position_ = calls_.insert(calls_.end(), call);
  return true;
}

void OpenCalls::Remove(OpenCall& call) {
  absl::MutexLock lock(&mutex_);
  calls_.erase(call.position_);
}

std::vector<std::shared_ptr<OpenCall>> OpenCalls::ArrivedBefore(absl::Time time) {
  std::vector<std::shared_ptr<OpenCall>> arrived;
  bool in_time = false;
  {
    absl::MutexLock lock(&mutex_);
    for (const std::weak_ptr<OpenCall>& weak : calls_) {
      std::shared_ptr<OpenCall> call = weak.lock();
      if (call == nullptr) continue;  // its last owner is letting go of it now, and answers
      in_time = call->arrival_time() >= time;
      arrived.push_back(std::move(call));  // never let go of under the lock: that may call Remove
      if (in_time) break;
    }
  }
  if (in_time) arrived.pop_back();
  return arrived;
}

void OpenCalls::FailArrivedBefore(absl::Time time, const grpc::Status& status) {
  for (const auto& call : ArrivedBefore(time)) call->Fail(status);
}

void OpenCalls::Drain() {
  for (const auto& call : ArrivedBefore(absl::InfiniteFuture())) call->Drain();
}

void OpenCalls::KeepHouse(absl::Time now) {
  for (const auto& call : ArrivedBefore(absl::InfiniteFuture())) call->KeepHouse(now);
}

}  // namespace epsledger::transport
