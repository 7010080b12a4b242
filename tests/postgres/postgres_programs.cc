#include "tests/postgres/postgres_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

extern char** environ;

namespace epsledger {
namespace {

constexpr char kDebianFolder[] = "/usr/lib/postgresql/15/bin";
constexpr char kUser[] = "postgres";

bool HasPrograms(const std::string& folder) {
  for (const char* program : {"initdb", "postgres", "pg_basebackup", "psql"}) {
    if (access(absl::StrCat(folder, "/", program).c_str(), X_OK) != 0) return false;
  }
  return true;
}

// "" if there is no pg_config.
std::string FolderOfPgConfig() {
  FILE* const answer = popen("pg_config --bindir 2>/dev/null", "re");
  if (answer == nullptr) return "";
  char line[4096] = "";
  if (fgets(line, sizeof line, answer) == nullptr) line[0] = '\0';
  pclose(answer);
  return std::string(absl::StripAsciiWhitespace(line));
}

std::vector<std::string> Environment() {
  std::vector<std::string> variables = {"LC_ALL=C", "PGCONNECT_TIMEOUT=30"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!absl::StartsWith(*variable, "PG") && !absl::StartsWith(*variable, "LC_ALL=")) {
      variables.push_back(*variable);
    }
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// A file in memory that is gone with its object: no pipe that could fill while nobody reads.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("postgres", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  // The next reader begins at the beginning.
  bool Fill(const std::string& text) const {
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t count = write(fd_, text.data() + done, text.size() - done);
      if (count < 0 && errno != EINTR) return false;
      if (count > 0) done += static_cast<size_t>(count);
    }
    return lseek(fd_, 0, SEEK_SET) == 0;
  }
  std::string Content() const {
    std::string text;
    char buffer[4096];
    ssize_t count;
    while ((count = pread(fd_, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0) {
      text.append(buffer, static_cast<size_t>(count));
    }
    return text;
  }

 private:
  int fd_;
};

}  // namespace

absl::StatusOr<PostgresPrograms> PostgresPrograms::Find() {
  std::vector<std::string> folders;
  if (const char* const chosen = std::getenv("EPSLEDGER_POSTGRES_BIN"); chosen != nullptr) {
    folders = {chosen};
  } else {
    folders = {kDebianFolder, FolderOfPgConfig()};
  }
  PostgresPrograms programs;
  for (const std::string& folder : folders) {
    if (programs.bin_.empty() && !folder.empty() && HasPrograms(folder)) programs.bin_ = folder;
  }
  if (programs.bin_.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "no PostgreSQL server to test with: initdb, postgres, pg_basebackup and psql are not in ",
        absl::StrJoin(folders, " or "),
        "; install the package postgresql-15 (docker/packages/test.txt), or say where they are in "
        "EPSLEDGER_POSTGRES_BIN"));
  }
  if (geteuid() == 0) {
    const passwd* const user = getpwnam(kUser);
    if (user == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("PostgreSQL does not run as root, and there is no user '", kUser,
                       "' to run it as; the package postgresql-15 makes one"));
    }
    programs.change_user_ = true;
    programs.user_ = user->pw_uid;
    programs.group_ = user->pw_gid;
  }
  return programs;
}

// By setpriv of util-linux, which becomes the program: changing the user clears the signal that is
// sent when the parent dies, and setpriv sets it afterwards. Nothing of ours runs between fork and
// exec, where a process of many threads may do little.
absl::StatusOr<pid_t> PostgresPrograms::Spawn(const std::string& program,
                                              const std::vector<std::string>& arguments,
                                              const Setting& setting) const {
  std::vector<std::string> command = {
      "setpriv",
      absl::StrCat("--pdeathsig=", setting.death_signal == SIGQUIT ? "QUIT" : "KILL"),
  };
  if (change_user_) {
    command.push_back(absl::StrCat("--reuid=", user_));
    command.push_back(absl::StrCat("--regid=", group_));
    command.push_back("--clear-groups");
  }
  command.push_back("--");
  command.push_back(absl::StrCat(bin_, "/", program));
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = Environment();

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int ends[] = {setting.input, setting.output, setting.errors};
  for (int number = 0; number < 3; ++number) {
    if (ends[number] >= 0) {
      posix_spawn_file_actions_adddup2(&actions, ends[number], number);
    } else {
      posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0);
    }
  }
  if (setting.inherited >= 0) {  // onto itself: not closed by exec any more
    posix_spawn_file_actions_adddup2(&actions, setting.inherited, setting.inherited);
  }
  posix_spawn_file_actions_addchdir_np(&actions, setting.folder.c_str());
  // What the tests ignore or block is not for a server to inherit.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, command[0].c_str(), &actions, &attributes,
                                 Pointers(command).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot start ", program, " by setpriv: ", strerror(error)));
  }
  return pid;
}

absl::StatusOr<std::string> PostgresPrograms::Run(const std::string& program,
                                                  const std::vector<std::string>& arguments,
                                                  const std::string& folder,
                                                  const std::string& input) const {
  const MemoryFile in;
  const MemoryFile out;
  const MemoryFile errors;
  if (in.fd() < 0 || out.fd() < 0 || errors.fd() < 0 || !in.Fill(input)) {
    return absl::InternalError("no file in memory for what a program reads and writes");
  }
  Setting setting;
  setting.folder = folder;
  setting.input = in.fd();
  setting.output = out.fd();
  setting.errors = errors.fd();
  const absl::StatusOr<pid_t> pid = Spawn(program, arguments, setting);
  if (!pid.ok()) return pid.status();
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return out.Content();
  return absl::InternalError(absl::StrCat(
      program, " ended with ",
      WIFEXITED(status) ? absl::StrCat(WEXITSTATUS(status))
                        : absl::StrCat("signal ", WTERMSIG(status)),
      ": ", absl::StripAsciiWhitespace(absl::StrCat(out.Content(), errors.Content()))));
}

absl::Status PostgresPrograms::Give(const std::string& path) const {
  if (change_user_ && chown(path.c_str(), user_, group_) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("chown ", path));
  }
  return absl::OkStatus();
}

}  // namespace epsledger
