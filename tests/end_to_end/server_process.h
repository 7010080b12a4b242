#ifndef EPSLEDGER_TESTS_END_TO_END_SERVER_PROCESS_H_
#define EPSLEDGER_TESTS_END_TO_END_SERVER_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/end_to_end/held_port.h"

namespace epsledger {

// A real epsledgerd process on loopback.
class ServerProcess {
 public:
  // Starts the server on a free port and waits until it reports that it serves. If it ends instead,
  // address() is empty and output() says why. `wrapper`: a command that becomes the server, for
  // example env with variables.
  explicit ServerProcess(const std::string& data_dir, std::vector<std::string> wrapper = {})
      : ServerProcess(Flags{{"--data-dir", data_dir}}, std::move(wrapper)) {}
  // Flags for the same, over a database of many servers for example.
  struct Flags {
    std::vector<std::string> flags;
    // The server to start: "" for the one of this build.
    std::string program = {};
  };
  explicit ServerProcess(Flags flags, std::vector<std::string> wrapper = {});
  // Kills the server.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Sends SIGKILL: the server cannot write or report anything more. Waits until the process has
  // ended.
  void Kill();
  // Sends SIGTERM. Waits until the process has ended; returns its exit status.
  int Stop();
  // Starts the server again with the same port, data and flags, and waits until it serves.
  void Restart() { Start(); }
  // Waits until the process ends by itself; returns its exit status, or 128 + the signal.
  int WaitForEnd() { return running() ? Wait() : last_exit_; }
  // Takes effect at the next start.
  void set_wrapper(std::vector<std::string> wrapper) { wrapper_ = std::move(wrapper); }

  // "127.0.0.1:port".
  const std::string& address() const { return address_; }
  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  // What the server wrote to standard error from the last start until it served; after its end,
  // also what it wrote last.
  const std::string& output() const { return output_; }
  // The resident memory of the running process in kB, from the kernel: at its peak, and now.
  long PeakMemoryKb() const { return StatusKb("VmHWM:"); }
  long MemoryKb() const { return StatusKb("VmRSS:"); }

 private:
  void Start();
  int Wait();
  long StatusKb(const std::string& line) const;

  const Flags flags_;
  std::vector<std::string> wrapper_;
  const HeldPort port_;
  std::string address_;
  std::string output_;
  std::string last_words_;  // written by drain_
  pid_t pid_ = -1;
  int last_exit_ = 0;
  int stderr_fd_ = -1;
  std::thread drain_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_END_TO_END_SERVER_PROCESS_H_
