#include "client/cli/contexts/context_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace epsledger::cli {
namespace {

constexpr mode_t kOwnerAlone = 0600;
constexpr mode_t kOthersMayWrite = 0022;

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
  struct stat status = {};
  if (path.empty() || stat(path.c_str(), &status) != 0) return contexts;
  if ((status.st_mode & kOthersMayWrite) != 0) {
    return WrongFile(path, absl::StrCat("others may change it; chmod 600 ", path));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!file || !json.is_object() || !json.contains("contexts") || !json["contexts"].is_object()) {
    return WrongFile(path, "cannot be read, or is not what `epsctl config set` writes");
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
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && std::filesystem::create_directories(folder, error)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  const std::string unfinished = absl::StrCat(path, ".", getpid(), ".unfinished");
  const int descriptor =
      open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerAlone);
  if (descriptor < 0) return CannotWrite(path, errno);
  const absl::Status written = WriteAll(
      descriptor, json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  const bool closed = close(descriptor) == 0;
  if (!written.ok() || !closed || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    const int failed = errno;
    std::remove(unfinished.c_str());
    return CannotWrite(path, failed);
  }
  return absl::OkStatus();
}

}  // namespace epsledger::cli
