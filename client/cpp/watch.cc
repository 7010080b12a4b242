#include "epsledger/watch.h"

#include <utility>

#include "client/cpp/watch_impl.h"

namespace epsledger {

Watch::Watch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Watch::Watch(Watch&&) noexcept = default;

Watch& Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    Cancel();
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Watch::~Watch() { Cancel(); }

void Watch::Cancel() {
  if (impl_ == nullptr) return;
  impl_->canceller.Cancel();
  if (impl_->thread.joinable()) impl_->thread.join();
}

absl::Status Watch::Wait() {
  if (impl_ == nullptr) return absl::FailedPreconditionError("this watch was moved away");
  if (impl_->thread.joinable()) impl_->thread.join();
  return impl_->end;
}

}  // namespace epsledger
