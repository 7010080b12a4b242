#include "tests/end_to_end/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <utility>

extern char** environ;

namespace epsledger {
namespace {

constexpr size_t kMostLastWords = 65536;

}  // namespace

ServerProcess::ServerProcess(Flags flags, std::vector<std::string> wrapper)
    : flags_(std::move(flags)), wrapper_(std::move(wrapper)) {
  Start();
}

ServerProcess::~ServerProcess() {
  if (running()) Kill();
}

void ServerProcess::Start() {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDERR_FILENO);
  const std::string program = flags_.program.empty()
                                  ? std::string(EPSLEDGER_BINARY_DIR) + "/server/epsledgerd"
                                  : flags_.program;
  std::vector<std::string> arguments = wrapper_;
  arguments.push_back(program);
  arguments.insert(arguments.end(), flags_.flags.begin(), flags_.flags.end());
  arguments.insert(arguments.end(), {"--listen", "127.0.0.1:" + std::to_string(port_.number())});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  if (posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_fds[1]);
  stderr_fd_ = pipe_fds[0];

  // Ready is when it says so: "... serving on 127.0.0.1:port from ...".
  output_.clear();
  address_.clear();
  const std::string marker = "serving on ";
  char buffer[4096];
  ssize_t count;
  while (address_.empty() && (count = read(stderr_fd_, buffer, sizeof buffer)) > 0) {
    output_.append(buffer, static_cast<size_t>(count));
    const size_t at = output_.find(marker);
    const size_t end = at == std::string::npos ? at : output_.find(' ', at + marker.size());
    if (end != std::string::npos) {
      address_ = output_.substr(at + marker.size(), end - at - marker.size());
    }
  }
  if (address_.empty()) {
    Wait();
    return;
  }
  drain_ = std::thread([this, fd = stderr_fd_] {
    char rest[4096];
    ssize_t length;
    while ((length = read(fd, rest, sizeof rest)) > 0) {
      last_words_.append(rest, static_cast<size_t>(length));
      if (last_words_.size() > kMostLastWords) {
        last_words_.erase(0, last_words_.size() - kMostLastWords);
      }
    }
  });
}

int ServerProcess::Wait() {
  int status = -1;
  if (pid_ > 0) waitpid(pid_, &status, 0);
  pid_ = -1;
  if (drain_.joinable()) drain_.join();
  output_ += std::exchange(last_words_, {});
  close(stderr_fd_);
  last_exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return last_exit_;
}

void ServerProcess::Kill() {
  kill(pid_, SIGKILL);
  Wait();
}

int ServerProcess::Stop() {
  kill(pid_, SIGTERM);
  return Wait();
}

long ServerProcess::StatusKb(const std::string& line) const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  std::string word;
  while (status >> word) {
    long kb;
    if (word == line && status >> kb) return kb;
  }
  return 0;
}

}  // namespace epsledger
