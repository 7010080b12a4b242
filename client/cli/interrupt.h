#ifndef EPSLEDGER_CLIENT_CLI_INTERRUPT_H_
#define EPSLEDGER_CLIENT_CLI_INTERRUPT_H_

#include <csignal>
#include <functional>
#include <thread>

namespace epsledger::cli {

// While it lives, the first SIGINT (Ctrl-C) or SIGTERM calls `end`, on a thread of its own, so that
// an endless command ends in good order. The next signal ends the program as usual. A signal that
// is ignored stays ignored. At most one object may exist at a time.
class Interrupt {
 public:
  explicit Interrupt(std::function<void()> end);
  ~Interrupt();

  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

 private:
  struct sigaction interrupt_before_ = {};
  struct sigaction terminate_before_ = {};
  int read_end_ = -1;
  std::thread thread_;
};

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_INTERRUPT_H_
