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
  // Starts it on a free port and waits until it says that it serves. address() is empty if it
  // ended instead; output() then says why. `wrapper`: a command that becomes the
  // server, as env with variables.
  explicit ServerProcess(const std::string& data_dir, std::vector<std::string> wrapper = {})
      : ServerProcess(Flags{{"--data-dir", data_dir}}, std::move(wrapper)) {}
  // The same over a database of many servers, or whatever the flags say.
  struct Flags {
    std::vector<std::string> flags;
    // The server to start: "" for the one of this build.
    std::string program = {};
  };
  explicit ServerProcess(Flags flags, std::vector<std::string> wrapper = {});
  // Kills it.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // SIGKILL: no chance to write or say anything. Waits until the process is gone.
  void Kill();
  // SIGTERM. Waits until the process is gone; returns its exit status.
  int Stop();
  // Starts it again on the same port and data, and with the same flags, and waits until it serves.
  void Restart() { Start(); }
  // Waits until the process is gone by itself; returns its exit status, or 128 + the signal.
  int WaitForEnd() { return running() ? Wait() : last_exit_; }
  // From the next start on.
  void set_wrapper(std::vector<std::string> wrapper) { wrapper_ = std::move(wrapper); }

  // "127.0.0.1:port".
  const std::string& address() const { return address_; }
  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  // What it wrote on standard error since the last start: until it served, and once it is gone its
  // last words too.
  const std::string& output() const { return output_; }
  // Resident memory of the running process in kB, from the kernel: at its peak, and now.
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
  std::string last_words_;  // of drain_
  pid_t pid_ = -1;
  int last_exit_ = 0;
  int stderr_fd_ = -1;
  std::thread drain_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_END_TO_END_SERVER_PROCESS_H_
