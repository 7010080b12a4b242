#include "client/alerts/delivery/sender.h"

#include <curl/curl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/alerts/delivery/alert_body.h"
#include "client/alerts/delivery/signature.h"

namespace epsledger::alerts {
namespace {

using Curl = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

constexpr long kTrySeconds = 30;

class CurlList {
 public:
  ~CurlList() { curl_slist_free_all(list_); }
  void Add(const std::string& line) { list_ = curl_slist_append(list_, line.c_str()); }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

size_t IgnoreAnswer(char*, size_t size, size_t count, void*) { return size * count; }

int OnProgress(void* is_stopping, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return (*static_cast<const std::function<bool()>*>(is_stopping))() ? 1 : 0;
}

// What is uploaded, and how much of it was.
struct Upload {
  std::string text;
  size_t read = 0;
};

size_t ReadUpload(char* buffer, size_t size, size_t count, void* data) {
  Upload& upload = *static_cast<Upload*>(data);
  const size_t bytes = std::min(size * count, upload.text.size() - upload.read);
  std::memcpy(buffer, upload.text.data() + upload.read, bytes);
  upload.read += bytes;
  return bytes;
}

void SetCommon(CURL* curl, const std::string& url, const std::string& ca_file,
               const std::function<bool()>& is_stopping) {
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, kTrySeconds);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  // Like the ledger's client: nothing in the environment can lead an alert elsewhere.
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  if (!ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file.c_str());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &IgnoreAnswer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &is_stopping);
}

absl::Status Perform(CURL* curl) {
  char detail[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  if (code == CURLE_OK) return absl::OkStatus();
  return absl::UnavailableError(detail[0] != '\0' ? detail : curl_easy_strerror(code));
}

SendOutcome SendWebhook(CURL* curl, const Alert& alert, const Webhook& webhook,
                        const std::string& dashboard) {
  const std::string body = WebhookBody(alert, dashboard);
  CurlList headers;
  headers.Add("Content-Type: application/json");
  headers.Add("User-Agent: epsledger-alerts");
  headers.Add("Expect:");
  headers.Add(absl::StrCat("Idempotency-Key: ", alert.id));
  // The time of the try, not of the alert: a receiver refuses what is old.
  headers.Add(absl::StrCat("Epsledger-Signature: ",
                           Signature(webhook.secret, absl::ToUnixSeconds(absl::Now()), body)));
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
  const absl::Status status = Perform(curl);
  if (!status.ok()) return {.status = status};
  long answer = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer);
  if (answer >= 200 && answer < 300) return {};
  curl_off_t wait_seconds = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait_seconds);
  const std::string said = absl::StrCat("the answer was ", answer);
  const bool is_refused = answer == 400 || answer == 413 || answer == 422;
  return {.status = is_refused ? absl::FailedPreconditionError(said) : absl::UnavailableError(said),
          .asked_wait = absl::Seconds(wait_seconds)};
}

SendOutcome SendMail(CURL* curl, const Alert& alert, const Mail& mail,
                     const std::string& dashboard) {
  Upload upload{.text = MailMessage(alert, mail, dashboard)};
  CurlList recipients;
  for (const std::string& address : mail.to) recipients.Add(absl::StrCat("<", address, ">"));
  const std::string from = absl::StrCat("<", mail.from, ">");
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(curl, CURLOPT_USE_SSL,
                   static_cast<long>(mail.with_tls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
  if (!mail.user.empty()) {
    curl_easy_setopt(curl, CURLOPT_USERNAME, mail.user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, mail.password.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_MAIL_FROM, from.c_str());
  curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients.get());
  curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, &ReadUpload);
  curl_easy_setopt(curl, CURLOPT_READDATA, &upload);
  curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(upload.text.size()));
  return {.status = Perform(curl)};
}

}  // namespace

SendOutcome Send(const Alert& alert, const Destination& destination, const std::string& dashboard,
                 const std::function<bool()>& is_stopping) {
  const Curl curl(curl_easy_init(), &curl_easy_cleanup);
  if (curl == nullptr) return {.status = absl::UnavailableError("out of memory")};
  if (const auto* webhook = std::get_if<Webhook>(&destination.to)) {
    SetCommon(curl.get(), webhook->url, webhook->ca_file, is_stopping);
    return SendWebhook(curl.get(), alert, *webhook, dashboard);
  }
  const Mail& mail = std::get<Mail>(destination.to);
  SetCommon(curl.get(), mail.url, mail.ca_file, is_stopping);
  return SendMail(curl.get(), alert, mail, dashboard);
}

void PrepareSending() { curl_global_init(CURL_GLOBAL_DEFAULT); }

}  // namespace epsledger::alerts
