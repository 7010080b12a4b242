#include "server/heads/head_publisher.h"

#include <curl/curl.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "server/core/tenant.h"
#include "spdlog/spdlog.h"

namespace epsledger::heads {
namespace {

constexpr long kPostSeconds = 10;
constexpr long kLastPostSeconds = 2;

core::NamedEntry Entry(const std::string& root_id, const core::LedgerHead& head) {
  return {root_id, head.sequence, std::string(head.hash.begin(), head.hash.end()), ""};
}

size_t Ignore(char*, size_t size, size_t count, void*) { return size * count; }

}  // namespace

HeadPublisher::HeadPublisher(core::DurableLedger& ledger, statement::SigningKey key,
                             Options options)
    : ledger_(ledger),
      key_(std::move(key)),
      options_(std::move(options)),
      file_(options_.file.empty() ? std::nullopt : std::make_optional<HeadsFile>(options_.file)),
      thread_([this] { Loop(); }) {}

HeadPublisher::~HeadPublisher() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void HeadPublisher::Loop() {
  bool stopping = false;
  while (!stopping) {
    PublishIfChanged();
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(&stopping_), options_.interval);
    stopping = stopping_;
  }
  is_last_ = true;
  PublishIfChanged();
}

std::optional<Heads> HeadPublisher::ReadHeads() {
  std::optional<Heads> heads;
  absl::Notification done;
  ledger_.Read({}, [&](absl::StatusOr<core::LedgerReader*> reader) {
    if (reader.ok()) {
      heads.emplace();
      for (const auto& [tenant, ledger] : (*reader)->AllLedgers()) {
        if (ledger->head().sequence == 0) continue;
        heads->entries.push_back(Entry(core::StoredId(tenant, ledger->root_id()), ledger->head()));
      }
      const core::LedgerHead& access = (*reader)->Access().head();
      if (access.sequence > 0) heads->entries.push_back(Entry(core::kAccessRootId, access));
    }
    done.Notify();
  });
  done.WaitForNotification();
  return heads;
}

void HeadPublisher::PublishIfChanged() {
  std::optional<Heads> heads = ReadHeads();
  if (!heads.has_value()) return;
  bool changed = false;
  for (const core::NamedEntry& entry : heads->entries) {
    const auto before = published_.find(entry.root_id);
    changed |= before == published_.end() || before->second.hash != entry.hash;
  }
  if (!changed) return;
  heads->time = absl::Now();
  const std::vector<core::Incarnation> incarnations = ledger_.Incarnations();
  if (!incarnations.empty()) heads->incarnation = incarnations.back().id;
  const absl::StatusOr<std::string> line = Sign(*heads, key_);
  absl::Status status = line.status();
  if (status.ok() && file_.has_value()) {
    status = file_->Append(*line);
    Note("--publish-heads", options_.file, status);
  }
  if (line.ok() && !options_.url.empty()) {
    const absl::Status posted = Post(*line);
    Note("--publish-heads-url", options_.url, posted);
    status.Update(posted);
  }
  if (!status.ok()) return;
  for (core::NamedEntry& entry : heads->entries) published_[entry.root_id] = std::move(entry);
}

int HeadPublisher::IsToEnd(void* self, int64_t, int64_t, int64_t, int64_t) {
  auto* const publisher = static_cast<HeadPublisher*>(self);
  absl::MutexLock lock(&publisher->mutex_);
  return publisher->stopping_ && !publisher->is_last_ ? 1 : 0;
}

absl::Status HeadPublisher::Check(const Options& options) {
  if (!options.file.empty()) {
    const std::filesystem::path path(options.file);
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--publish-heads: got ", options.file, ", want a file"));
    }
    const std::filesystem::path folder =
        path.parent_path().empty() ? std::filesystem::path(".") : path.parent_path();
    if (!std::filesystem::is_directory(folder, error)) {
      return absl::InvalidArgumentError(absl::StrCat("--publish-heads: got ", options.file,
                                                     ", and there is no folder ", folder.string()));
    }
  }
  if (options.url.empty()) return absl::OkStatus();
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  char* scheme = nullptr;
  const bool is_url = url != nullptr &&
                      curl_url_set(url.get(), CURLUPART_URL, options.url.c_str(), 0) == CURLUE_OK &&
                      curl_url_get(url.get(), CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK;
  const std::string name = scheme == nullptr ? "" : scheme;
  curl_free(scheme);
  if (is_url && (name == "http" || name == "https")) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--publish-heads-url: got ", options.url,
                                                 ", want the URL of an http or https server"));
}

absl::Status HeadPublisher::Post(const std::string& line) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(
      curl_slist_append(nullptr, "content-type: application/json"), &curl_slist_free_all);
  if (curl == nullptr || headers == nullptr) return absl::UnavailableError("out of memory");
  curl_easy_setopt(curl.get(), CURLOPT_URL, options_.url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(line.size()));
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, line.data());
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, is_last_ ? kLastPostSeconds : kPostSeconds);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, &IsToEnd);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, this);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &Ignore);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) return absl::UnavailableError(curl_easy_strerror(code));
  long answer = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &answer);
  if (answer >= 200 && answer < 300) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("the answer was ", answer));
}

void HeadPublisher::Note(const char* flag, const std::string& place, const absl::Status& status) {
  const bool was_failing = std::exchange(failing_[flag], !status.ok());
  if (!status.ok() && !was_failing) {
    spdlog::error("{} {}: heads are not published: {}", flag, place, std::string(status.message()));
  } else if (status.ok() && was_failing) {
    spdlog::info("{} {}: heads are published again", flag, place);
  }
}

}  // namespace epsledger::heads
