#include "epsledger/permit.h"

#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace epsledger {

Permit::Permit(std::string charge_name, int64_t sequence, Mechanism mechanism, int64_t uses_left)
    : charge_name_(std::move(charge_name)),
      sequence_(sequence),
      mechanism_(std::move(mechanism)),
      uses_left_(uses_left),
      process_(getpid()) {}

// The moved-from permit keeps its name and mechanism, so that messages about it make sense, but has
// no use left.
Permit::Permit(Permit&& other) noexcept
    : charge_name_(other.charge_name_),
      sequence_(other.sequence_),
      mechanism_(other.mechanism_),
      uses_left_(std::exchange(other.uses_left_, 0)),
      process_(other.process_) {}

Permit& Permit::operator=(Permit&& other) noexcept {
  if (this != &other) {
    charge_name_ = other.charge_name_;
    sequence_ = other.sequence_;
    mechanism_ = other.mechanism_;
    uses_left_ = std::exchange(other.uses_left_, 0);
    process_ = other.process_;
  }
  return *this;
}

int64_t Permit::uses_left() const { return getpid() == process_ ? uses_left_ : 0; }

absl::StatusOr<Permit> Permit::TakeOne() {
  if (getpid() != process_) {
    return absl::FailedPreconditionError(
        absl::StrCat("the permit of ", charge_name_,
                     " is of the process that charged: after fork() charge in "
                     "the process that releases"));
  }
  if (uses_left_ < 1) {
    return absl::OutOfRangeError(
        absl::StrCat("no use of the charge ", charge_name_, " is left: charge again"));
  }
  --uses_left_;
  return Permit(charge_name_, sequence_, mechanism_, 1);
}

}  // namespace epsledger
