#include "client/cli/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

namespace epsledger::cli {
namespace {

// A signal handler can only use a pipe to wake another thread up.
std::atomic<int> write_end = -1;

void OnSignal(int) {
  const int saved = errno;
  [[maybe_unused]] const auto written = write(write_end, "!", 1);
  errno = saved;
}

// An ignored signal stays ignored: a shell ignores signals for what it runs in the background.
void Handle(int number, struct sigaction* before) {
  sigaction(number, nullptr, before);
  if (before->sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  // The next signal has its default effect: somebody who presses Ctrl-C twice means it.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(number, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt(std::function<void()> end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;  // Ctrl-C ends the program, as without this object.
  read_end_ = ends[0];
  write_end = ends[1];
  Handle(SIGINT, &interrupt_before_);
  Handle(SIGTERM, &terminate_before_);
  thread_ = std::thread([this, end = std::move(end)] {
    char woken = 0;
    while (read(read_end_, &woken, 1) < 0 && errno == EINTR) {
    }
    if (woken == '!') end();
  });
}

Interrupt::~Interrupt() {
  if (read_end_ < 0) return;
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
  [[maybe_unused]] const auto written = write(write_end, ".", 1);
  thread_.join();
  close(write_end.exchange(-1));
  close(read_end_);
}

}  // namespace epsledger::cli
