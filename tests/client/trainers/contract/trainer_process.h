#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_CONTRACT_TRAINER_PROCESS_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_CONTRACT_TRAINER_PROCESS_H_

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

extern char** environ;

namespace epsledger::trainers {

// A running trainer whose output is read line by line.
class TrainerProcess {
 public:
  // `program` is relative to the build folder: "client/trainers/istdp/epsledger-istdp".
  TrainerProcess(const std::string& program, std::vector<std::string> arguments) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    arguments.insert(arguments.begin(), std::string(EPSLEDGER_BINARY_DIR) + "/" + program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    output_ = fdopen(fds[0], "r");
  }
  ~TrainerProcess() {
    if (pid_ > 0) Kill();
    if (output_ != nullptr) std::fclose(output_);
  }
  TrainerProcess(const TrainerProcess&) = delete;
  TrainerProcess& operator=(const TrainerProcess&) = delete;

  // Reads until a line holds `text`. Returns false if the output ends before.
  bool ReadUntil(const std::string& text) {
    char line[4096];
    while (std::fgets(line, sizeof line, output_) != nullptr) {
      if (std::string(line).find(text) != std::string::npos) return true;
    }
    return false;
  }

  // Sends SIGKILL and waits until the process has ended.
  void Kill() {
    kill(pid_, SIGKILL);
    Wait();
  }

  // Reads all output and waits. Returns the exit code, or 128 + the signal.
  int WaitForEnd() {
    char line[4096];
    while (std::fgets(line, sizeof line, output_) != nullptr) text_ += line;
    return Wait();
  }

  // The output that WaitForEnd read.
  const std::string& text() const { return text_; }

 private:
  int Wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  pid_t pid_ = -1;
  std::FILE* output_ = nullptr;
  std::string text_;
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_CONTRACT_TRAINER_PROCESS_H_
