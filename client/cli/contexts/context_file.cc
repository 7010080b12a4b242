#include "client/cli/contexts/context_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cli/files/input_file.h"

namespace epsledger::cli {
namespace {

constexpr mode_t kOwnerAlone = 0600;
constexpr mode_t kOthersMayWrite = 0022;
constexpr int kMostLinks = 40;  // as Linux follows

std::string NonEmptyVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::Status WrongFile(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", std::strerror(error)));
}

// The fields that hold a text, by their names in the file.
std::map<std::string, std::string Context::*> TextFields() {
  return {{"server", &Context::server},        {"tlsCa", &Context::tls_ca},
          {"tlsCert", &Context::tls_cert},     {"tlsKey", &Context::tls_key},
          {"tokenFile", &Context::token_file}, {"tenant", &Context::tenant}};
}

absl::StatusOr<Context> ReadContext(const nlohmann::json& json) {
  Context context;
  if (!json.is_object()) return absl::InvalidArgumentError("want an object for each context");
  const auto fields = TextFields();
  for (const auto& [name, value] : json.items()) {
    const auto field = fields.find(name);
    if (name == "tls" && value.is_boolean()) {
      context.tls = value.get<bool>();
    } else if (field != fields.end() && value.is_string()) {
      context.*field->second = value.get<std::string>();
    } else {
      return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is not a field of a context"));
    }
  }
  return context;
}

absl::Status WriteAll(int descriptor, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t size = write(descriptor, text.data() + written, text.size() - written);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return absl::UnavailableError(std::strerror(errno));
    written += static_cast<size_t>(size);
  }
  return absl::OkStatus();
}

// A file that links may stand for.
struct ResolvedFile {
  std::filesystem::path path;  // without a link at its end; it need not exist
  // Those that hold a link on the way, and the one that holds the file.
  std::vector<std::filesystem::path> folders;
};

// True if neither the caller nor root made the file or link.
bool IsOfAnotherUser(const struct stat& status) {
  return status.st_uid != geteuid() && status.st_uid != 0;
}

absl::StatusOr<ResolvedFile> ResolveLinks(const std::string& path) {
  ResolvedFile resolved{.path = path, .folders = {}};
  std::error_code error;
  for (int i = 0; i <= kMostLinks; ++i) {
    const std::filesystem::path folder = resolved.path.parent_path();
    resolved.folders.push_back(folder.empty() ? "." : folder);
    struct stat link = {};
    if (lstat(resolved.path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return resolved;
    if (IsOfAnotherUser(link)) return WrongFile(resolved.path, "another user made this link");
    const std::filesystem::path target = std::filesystem::read_symlink(resolved.path, error);
    if (error) return resolved;
    resolved.path = folder / target;  // which is the target alone if that is absolute
  }
  return WrongFile(path, "want at most 40 links that lead to it");
}

// INVALID_ARGUMENT if others may put another file, or another link, in the place of the file. Where
// a folder is sticky (/tmp) nobody can take away what is not theirs.
absl::Status CheckFolders(const ResolvedFile& file) {
  for (const std::filesystem::path& folder : file.folders) {
    struct stat status = {};
    if (stat(folder.c_str(), &status) != 0) continue;  // it will be made
    if ((status.st_mode & kOthersMayWrite) == 0 || (status.st_mode & S_ISVTX) != 0) continue;
    return WrongFile(file.path,
                     absl::StrCat("others may replace it; chmod go-w ", folder.string()));
  }
  return absl::OkStatus();
}

// INVALID_ARGUMENT if others may change what the file says, or made it.
absl::Status CheckOwner(const ResolvedFile& file, const struct stat& status) {
  if (!S_ISDIR(status.st_mode) && (status.st_mode & kOthersMayWrite) != 0) {
    return WrongFile(file.path,
                     absl::StrCat("others may change it; chmod 600 ", file.path.string()));
  }
  if (IsOfAnotherUser(status)) {
    return WrongFile(file.path, "another user made it, who could send your token elsewhere");
  }
  return CheckFolders(file);
}

}  // namespace

std::string ContextPath() {
  if (std::string path = NonEmptyVariable("EPSLEDGER_CONFIG"); !path.empty()) return path;
  std::string folder = NonEmptyVariable("XDG_CONFIG_HOME");
  if (folder.empty()) {
    const std::string home = NonEmptyVariable("HOME");
    if (home.empty()) return "";
    folder = absl::StrCat(home, "/.config");
  }
  return absl::StrCat(folder, "/epsledger/contexts.json");
}

absl::StatusOr<ContextFile> ReadContexts(const std::string& path) {
  ContextFile contexts;
  if (path.empty()) return contexts;
  ASSIGN_OR_RETURN(const ResolvedFile resolved, ResolveLinks(path));
  struct stat status = {};
  if (stat(resolved.path.c_str(), &status) != 0) return contexts;
  RETURN_IF_ERROR(CheckOwner(resolved, status));
  ASSIGN_OR_RETURN(const std::string text, ReadInputFile("contexts", resolved.path.string()));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("contexts") || !json["contexts"].is_object()) {
    return WrongFile(path, "is not what `epsctl config set` writes");
  }
  if (json.contains("current") && json["current"].is_string()) {
    contexts.current = json["current"].get<std::string>();
  }
  for (const auto& [name, value] : json["contexts"].items()) {
    absl::StatusOr<Context> context = ReadContext(value);
    if (!context.ok()) return WrongFile(path, std::string(context.status().message()));
    contexts.contexts.emplace(name, *std::move(context));
  }
  return contexts;
}

absl::Status WriteContexts(const std::string& path, const ContextFile& file) {
  if (path.empty()) {
    return absl::InvalidArgumentError(
        "EPSLEDGER_CONFIG: got nothing, want a path where HOME is unset");
  }
  nlohmann::ordered_json json = {{"current", file.current},
                                 {"contexts", nlohmann::ordered_json::object()}};
  for (const auto& [name, context] : file.contexts) {
    nlohmann::ordered_json one = nlohmann::ordered_json::object();
    for (const auto& [field, member] : TextFields()) {
      if (!(context.*member).empty()) one[field] = context.*member;
    }
    if (context.tls) one["tls"] = true;
    json["contexts"][name] = std::move(one);
  }
  ASSIGN_OR_RETURN(const ResolvedFile resolved, ResolveLinks(path));
  const std::string target = resolved.path.string();
  const std::filesystem::path folder = resolved.path.parent_path();
  std::error_code error;
  if (!folder.empty() && std::filesystem::create_directories(folder, error)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  RETURN_IF_ERROR(CheckFolders(resolved));
  const std::string unfinished = absl::StrCat(target, ".", getpid(), ".unfinished");
  const int descriptor =
      open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerAlone);
  if (descriptor < 0) return CannotWrite(path, errno);
  const absl::Status written = WriteAll(
      descriptor, json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  const bool closed = close(descriptor) == 0;
  if (!written.ok() || !closed || std::rename(unfinished.c_str(), target.c_str()) != 0) {
    const int failed = errno;
    std::remove(unfinished.c_str());
    return CannotWrite(path, failed);
  }
  return absl::OkStatus();
}

}  // namespace epsledger::cli
