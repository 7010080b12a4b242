#include "client/trainers/data/download.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace epsledger::trainers {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(20);

// Starts a program from PATH and discards its output. Returns the error number of the start.
int Start(const std::vector<std::string>& arguments, pid_t* child) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = posix_spawnp(child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

absl::Status Wait(const std::string& program, pid_t child) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(kDownloadTimeoutSeconds + 1);
  int exit_status = 0;
  while (true) {
    const pid_t done = waitpid(child, &exit_status, WNOHANG);
    if (done == child) break;
    if (done < 0 && errno != EINTR) {
      return absl::UnavailableError(absl::StrCat(program, ": ", std::strerror(errno)));
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      kill(child, SIGKILL);
      waitpid(child, &exit_status, 0);
      return absl::DeadlineExceededError(
          absl::StrCat(program, " took more than ", kDownloadTimeoutSeconds, " s"));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  if (WIFEXITED(exit_status) && WEXITSTATUS(exit_status) == 0) return absl::OkStatus();
  if (WIFEXITED(exit_status)) {
    return absl::UnavailableError(absl::StrCat(program, " exited with ", WEXITSTATUS(exit_status)));
  }
  return absl::UnavailableError(absl::StrCat(program, " was killed"));
}

}  // namespace

absl::Status Download(const std::string& url, const std::string& destination) {
  if (!absl::StartsWith(url, "https://")) {
    return absl::InvalidArgumentError(absl::StrCat("url: got ", url, ", want https://..."));
  }
  const std::string connect = absl::StrCat(kConnectTimeoutSeconds);
  const std::string total = absl::StrCat(kDownloadTimeoutSeconds);
  const std::vector<std::vector<std::string>> programs = {
      {"curl", "--fail", "--silent", "--location", "--proto", "=https", "--connect-timeout",
       connect, "--max-time", total, "--output", destination, "--", url},
      {"wget", "--quiet", "--tries=1", "--https-only", absl::StrCat("--timeout=", connect),
       absl::StrCat("--output-document=", destination), "--", url}};
  for (const std::vector<std::string>& arguments : programs) {
    pid_t child = 0;
    const int error = Start(arguments, &child);
    if (error == ENOENT) continue;
    if (error != 0) {
      return absl::UnavailableError(absl::StrCat(arguments[0], ": ", std::strerror(error)));
    }
    return Wait(arguments[0], child);
  }
  return absl::NotFoundError("neither curl nor wget is installed");
}

}  // namespace epsledger::trainers
