#include "client/trainers/run/waiting_notice.h"

#include <chrono>

namespace epsledger::trainers {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr seconds kFirst(1);
constexpr seconds kInterval(10);

}  // namespace

std::function<void(const RetryWait&)> WaitingNotice(const std::string& program,
                                                    const std::string& address, std::ostream& out) {
  return [program, address, &out, before = nanoseconds::max(),
          next = nanoseconds(kFirst)](const RetryWait& wait) mutable {
    if (wait.elapsed < before) next = kFirst;  // a new call
    before = wait.elapsed;
    if (wait.elapsed < next) return;
    next = wait.elapsed + kInterval;
    out << program << ": " << address << " does not answer yet (" << wait.last.message()
        << "); asking again for " << duration_cast<seconds>(wait.left).count() << " s" << std::endl;
  };
}

}  // namespace epsledger::trainers
