#include "client/alerts/settings.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/alerts/delivery/receiver_url.h"
#include "client/alerts/json_fields.h"
#include "epsledger/v1/charge.pb.h"
#include "proto/json_syntax/json_syntax.h"

namespace epsledger::alerts {
namespace {

using nlohmann::json;

constexpr size_t kFewestSecretBytes = 16;
constexpr size_t kMostThresholds = 16;
constexpr size_t kMostAddressBytes = 254;  // RFC 5321, 4.5.3.1.3
constexpr int64_t kMostQueued = 100'000;

// Returns what a file holds, without white space at its end.
absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", std::strerror(errno)));
  }
  return text.str();
}

// Reads a secret from the file that a field names. Errors name the file and never its content.
void ReadSecret(JsonFields& fields, const std::string& key, size_t fewest, std::string* secret) {
  std::string path;
  fields.Text(key, &path);
  if (path.empty()) return;
  absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return fields.Fail(key, std::string(text.status().message()));
  text->erase(text->find_last_not_of(" \t\r\n") + 1);
  if (text->size() < fewest) {
    return fields.Fail(key, absl::StrCat("got ", path, ", which holds ", text->size(),
                                         " bytes, want at least ", fewest));
  }
  *secret = *std::move(text);
}

std::string BudgetName(const std::string& text) {
  return absl::StartsWith(text, "budgets/") ? text : absl::StrCat("budgets/", text);
}

void ReadBudgets(JsonFields& fields, const std::string& key, std::vector<std::string>* names) {
  fields.Texts(key, names);
  for (std::string& name : *names) {
    if (name.empty() || BudgetName(name).find('/', std::strlen("budgets/")) != name.npos) {
      fields.Fail(key, absl::StrCat("got \"", name, "\", want names of budgets"));
    }
    name = BudgetName(name);
  }
}

void ReadServer(const json& value, ClientOptions* options, absl::Status* status) {
  JsonFields fields(value, "server", status);
  fields.RequiredText("address", &options->address);
  fields.Flag("tls", &options->tls.enabled);
  fields.Text("ca_file", &options->tls.ca_file);
  fields.Text("certificate_file", &options->tls.certificate_file);
  fields.Text("key_file", &options->tls.key_file);
  fields.Flag("allow_insecure", &options->allow_insecure);
  std::string token_file;
  fields.Text("token_file", &token_file);
  if (!token_file.empty()) {
    absl::StatusOr<std::string> token = ReadTokenFile(token_file);
    if (token.ok()) {
      options->token = *std::move(token);
    } else {
      fields.Fail("token_file", std::string(token.status().message()));
    }
  }
  fields.End();
}

// An address that can stand in a header and in a command of SMTP as it is.
bool IsMailAddress(const std::string& text) {
  const auto is_plain = [](char c) {
    return c > ' ' && c <= '~' && std::strchr("<>()[],;:\\\"", c) == nullptr;
  };
  const size_t at = text.find('@');
  return text.size() <= kMostAddressBytes && std::all_of(text.begin(), text.end(), is_plain) &&
         at != text.npos && at > 0 && at + 1 < text.size() && text.find('@', at + 1) == text.npos;
}

// Checks the URL and returns whether the receiver is reached with TLS or may be without it.
void CheckUrl(JsonFields& fields, const std::string& url, const std::vector<std::string>& schemes,
              bool allow_plaintext, ReceiverUrl* read) {
  if (url.empty()) return;  // has failed already
  const absl::StatusOr<ReceiverUrl> parsed = ReadReceiverUrl(url);
  if (!parsed.ok()) return fields.Fail("url", std::string(parsed.status().message()));
  if (std::find(schemes.begin(), schemes.end(), parsed->scheme) == schemes.end()) {
    return fields.Fail("url", absl::StrCat("got the scheme ", parsed->scheme, ", want ",
                                           absl::StrJoin(schemes, " or ")));
  }
  if (parsed->scheme == "http" && !parsed->is_local && !allow_plaintext) {
    return fields.Fail("url",
                       "got http to an address that is not loopback, want https: others could read "
                       "alerts on the way (allow_plaintext allows it)");
  }
  *read = *parsed;
}

Webhook ReadWebhook(const json& value, const std::string& path, absl::Status* status) {
  JsonFields fields(value, path, status);
  Webhook webhook;
  bool allow_plaintext = false;
  fields.RequiredText("url", &webhook.url);
  if (!fields.Has("secret_file")) {
    fields.Fail("secret_file", "got nothing, want a file with the key of the signatures");
  }
  ReadSecret(fields, "secret_file", kFewestSecretBytes, &webhook.secret);
  fields.Text("ca_file", &webhook.ca_file);
  fields.Flag("allow_plaintext", &allow_plaintext);
  ReceiverUrl url;
  CheckUrl(fields, webhook.url, {"https", "http"}, allow_plaintext, &url);
  fields.End();
  return webhook;
}

Mail ReadMail(const json& value, const std::string& path, absl::Status* status) {
  JsonFields fields(value, path, status);
  Mail mail;
  bool allow_plaintext = false;
  fields.RequiredText("url", &mail.url);
  fields.RequiredText("from", &mail.from);
  if (!fields.Has("to")) fields.Fail("to", "got nothing, want a list of addresses");
  fields.Texts("to", &mail.to);
  for (const std::string& address : mail.to) {
    if (!IsMailAddress(address)) fields.Fail("to", "want addresses like people@example.org");
  }
  if (!IsMailAddress(mail.from)) fields.Fail("from", "want an address like alerts@example.org");
  fields.Text("user", &mail.user);
  if (fields.Has("user") != fields.Has("password_file")) {
    fields.Fail("password_file", "want both user and password_file, or none of them");
  }
  ReadSecret(fields, "password_file", 1, &mail.password);
  fields.Text("ca_file", &mail.ca_file);
  fields.Flag("allow_plaintext", &allow_plaintext);
  ReceiverUrl url;
  CheckUrl(fields, mail.url, {"smtps", "smtp"}, allow_plaintext, &url);
  mail.with_tls = url.scheme == "smtps" || (!url.is_local && !allow_plaintext);
  if (!mail.with_tls && !url.is_local && !mail.user.empty()) {
    fields.Fail("allow_plaintext", "got true, want false: the password would be sent in plaintext");
  }
  fields.End();
  return mail;
}

void ReadDestinations(JsonFields& fields, Settings* settings, absl::Status* status) {
  const json* const list = fields.List("destinations");
  if (list == nullptr) return;
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string path = absl::StrCat("destinations[", i, "]");
    JsonFields one((*list)[i], path, status);
    Destination destination;
    one.RequiredText("name", &destination.name);
    const json* const webhook = one.Object("webhook");
    const json* const mail = one.Object("mail");
    if ((webhook == nullptr) == (mail == nullptr)) {
      one.Fail("webhook", "want either webhook or mail");
    } else if (webhook != nullptr) {
      destination.to = ReadWebhook(*webhook, one.PathOf("webhook"), status);
    } else {
      destination.to = ReadMail(*mail, one.PathOf("mail"), status);
    }
    for (const Destination& other : settings->destinations) {
      if (other.name == destination.name) {
        one.Fail("name", absl::StrCat("got \"", other.name, "\" twice"));
      }
    }
    one.End();
    settings->destinations.push_back(std::move(destination));
  }
}

void CheckThresholds(JsonFields& fields, const std::vector<double>& thresholds) {
  double before = 0;
  for (const double threshold : thresholds) {
    if (!(threshold > before && threshold <= 1)) {
      fields.Fail("thresholds", absl::StrCat("got ", threshold, " after ", before,
                                             ", want rising shares of the cap in (0, 1]"));
    }
    before = threshold;
  }
  if (thresholds.size() > kMostThresholds) {
    fields.Fail("thresholds", absl::StrCat("got ", thresholds.size(), " of them, want at most ",
                                           kMostThresholds));
  }
}

void CheckReasons(JsonFields& fields, const std::vector<std::string>& reasons) {
  for (const std::string& name : reasons) {
    v1::Refusal::Reason reason;
    if (!v1::Refusal::Reason_Parse(name, &reason)) {
      fields.Fail("reasons",
                  absl::StrCat("got \"", name, "\", want names of refusals as BUDGET_EXHAUSTED"));
    }
  }
}

void CheckRule(JsonFields& fields, const Settings& settings, const Rule& rule) {
  for (const std::string& name : rule.destinations) {
    const bool is_known = std::any_of(settings.destinations.begin(), settings.destinations.end(),
                                      [&](const Destination& one) { return one.name == name; });
    if (!is_known) {
      fields.Fail("destinations", absl::StrCat("got \"", name, "\", want names of destinations"));
    }
  }
  for (const Rule& other : settings.rules) {
    if (other.name == rule.name) fields.Fail("name", absl::StrCat("got \"", rule.name, "\" twice"));
  }
}

Rule ReadRule(const json& value, const std::string& path, const Settings& settings,
              absl::Status* status) {
  JsonFields fields(value, path, status);
  Rule rule;
  std::string on;
  fields.RequiredText("name", &rule.name);
  fields.RequiredText("on", &on);
  const std::optional<AlertKind> kind = KindOfName(on);
  if (!kind.has_value() || *kind == AlertKind::kTest || *kind == AlertKind::kDropped) {
    fields.Fail("on",
                absl::StrCat("got \"", on, "\", want threshold, refusal, quarantine or approval"));
  } else {
    rule.kind = *kind;
  }
  if (!fields.Has("destinations")) fields.Fail("destinations", "got nothing, want a list of names");
  fields.Texts("destinations", &rule.destinations);
  ReadBudgets(fields, "budgets", &rule.budgets);
  fields.TextMap("labels", &rule.labels);
  if (rule.kind == AlertKind::kThreshold) {
    fields.Numbers("thresholds", &rule.thresholds);
    CheckThresholds(fields, rule.thresholds);
  } else if (rule.kind == AlertKind::kRefusal) {
    absl::Duration repeat_after = absl::Microseconds(rule.repeat_after_micros);
    fields.Duration("repeat_after", &repeat_after);
    rule.repeat_after_micros = absl::ToInt64Microseconds(repeat_after);
    fields.Texts("reasons", &rule.reasons);
    CheckReasons(fields, rule.reasons);
  } else if (rule.kind == AlertKind::kApproval) {
    absl::Duration wait = absl::Microseconds(rule.wait_micros);
    fields.Duration("waits", &wait);
    rule.wait_micros = absl::ToInt64Microseconds(wait);
  }
  CheckRule(fields, settings, rule);
  fields.End();
  return rule;
}

void ReadRetry(const json& value, RetryPolicy* retry, absl::Status* status) {
  JsonFields fields(value, "retry", status);
  fields.Duration("initial", &retry->initial);
  fields.Duration("most", &retry->most);
  fields.Duration("give_up_after", &retry->give_up_after);
  if (retry->most < retry->initial) fields.Fail("most", "want at least retry.initial");
  fields.End();
}

void CheckDashboard(JsonFields& fields, const std::string& dashboard) {
  if (dashboard.empty()) return;
  const absl::StatusOr<ReceiverUrl> url = ReadReceiverUrl(dashboard);
  if (!url.ok()) return fields.Fail("dashboard", std::string(url.status().message()));
  if (url->scheme != "http" && url->scheme != "https") {
    fields.Fail("dashboard", absl::StrCat("got the scheme ", url->scheme, ", want https or http"));
  }
}

}  // namespace

absl::StatusOr<Settings> ParseSettings(const std::string& text) {
  absl::Status status = json_syntax::CheckObject(text, nullptr);
  if (!status.ok()) return status;
  const json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  Settings settings;
  JsonFields fields(value, "", &status);
  const json* const server = fields.Object("server");
  if (server == nullptr) fields.Fail("server", "got nothing, want an object");
  if (server != nullptr) ReadServer(*server, &settings.server, &status);
  fields.Text("dashboard", &settings.dashboard);
  CheckDashboard(fields, settings.dashboard);
  fields.RequiredText("state_file", &settings.state_file);
  ReadBudgets(fields, "watch", &settings.watch);
  fields.Duration("poll_interval", &settings.poll_interval);
  fields.Duration("reading_interval", &settings.reading_interval);
  int64_t queue_limit = static_cast<int64_t>(settings.queue_limit);
  fields.Count("queue_limit", kMostQueued, &queue_limit);
  settings.queue_limit = static_cast<size_t>(queue_limit);
  if (const json* const retry = fields.Object("retry"); retry != nullptr) {
    ReadRetry(*retry, &settings.retry, &status);
  }
  ReadDestinations(fields, &settings, &status);
  if (const json* const rules = fields.List("rules"); rules != nullptr) {
    for (size_t i = 0; i < rules->size(); ++i) {
      settings.rules.push_back(
          ReadRule((*rules)[i], absl::StrCat("rules[", i, "]"), settings, &status));
    }
  }
  fields.End();
  if (!status.ok()) return status;
  return settings;
}

absl::StatusOr<Settings> ReadSettings(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<Settings> settings = ParseSettings(*text);
  if (settings.ok()) return settings;
  return absl::Status(settings.status().code(),
                      absl::StrCat(path, ": ", settings.status().message()));
}

}  // namespace epsledger::alerts
