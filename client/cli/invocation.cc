#include "client/cli/invocation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "accounting/event/status_macros.h"
#include "client/cli/contexts/context_file.h"
#include "client/cli/failure_text.h"
#include "client/cli/print/sentence.h"
#include "client/cli/reach/await_server.h"
#include "client/cli/reach/retry_notice.h"
#include "client/cli/reach/server_address.h"

namespace epsledger::cli {
namespace {

std::vector<std::string> JsonObjects(const Answer& answer, bool indented) {
  if (answer.messages.empty()) return answer.table.JsonRows(indented);
  std::vector<std::string> objects;
  for (const auto* message : answer.messages) objects.push_back(ToJson(*message, indented));
  return objects;
}

}  // namespace

std::string ToJson(const google::protobuf::Message& message, bool indented) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = indented;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) return "{}";
  while (!json.empty() && json.back() == '\n') json.pop_back();
  return json;
}

absl::Status Invocation::ApplyContext() {
  if (!flags_.context.empty() && !flags_.server.empty()) {
    // The token of one server must not get to another one.
    return absl::InvalidArgumentError(absl::StrCat("--context: got ", flags_.context,
                                                   " beside --server (EPSLEDGER_SERVER) ",
                                                   flags_.server, ", want one of them"));
  }
  if (flags_.server.empty()) {
    const std::string path = ContextPath();
    ASSIGN_OR_RETURN(const ContextFile file, ReadContexts(path));
    const std::string& name = flags_.context.empty() ? file.current : flags_.context;
    if (const auto found = file.contexts.find(name); found != file.contexts.end()) {
      const Context& context = found->second;
      flags_.server = context.server;
      flags_.tls = flags_.tls || context.tls;
      if (flags_.tls_ca.empty()) flags_.tls_ca = context.tls_ca;
      if (flags_.tls_cert.empty()) flags_.tls_cert = context.tls_cert;
      if (flags_.tls_key.empty()) flags_.tls_key = context.tls_key;
      if (flags_.token.empty() && flags_.token_file.empty()) flags_.token_file = context.token_file;
      tenant_ = context.tenant;
    } else if (!name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("--context: got \"", name,
                                                     "\", which is not in ", path,
                                                     "; `epsctl config list` shows what is"));
    }
  }
  if (flags_.server.empty()) flags_.server = kUsualServer;
  return absl::OkStatus();
}

absl::Status Invocation::CheckNoDryRun() const {
  if (!flags_.dry_run) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--dry-run: this command has no such form; nothing was asked and nothing was changed");
}

void Invocation::TellDryRun() {
  if (told_dry_run_) return;
  told_dry_run_ = true;
  Tell("--dry-run: the server only checks this; nothing is changed");
}

absl::StatusOr<ClientOptions> Invocation::Options() const {
  if (!(flags_.timeout_seconds > 0 && flags_.timeout_seconds <= 86'400)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--timeout: got ", flags_.timeout_seconds, ", want seconds in (0, 86400]"));
  }
  ClientOptions options;
  options.address = flags_.server;
  options.tls = {.enabled = flags_.tls || !flags_.tls_ca.empty() || !flags_.tls_cert.empty() ||
                            !flags_.tls_key.empty(),
                 .ca_file = flags_.tls_ca,
                 .certificate_file = flags_.tls_cert,
                 .key_file = flags_.tls_key};
  options.allow_insecure = flags_.allow_insecure;
  options.token = flags_.token;
  if (!flags_.token_file.empty()) {
    absl::StatusOr<std::string> token = ReadTokenFile(flags_.token_file);
    if (!token.ok()) return absl::InvalidArgumentError(token.status().message());
    options.token = *std::move(token);
  }
  const auto timeout =
      std::chrono::milliseconds(std::max<long>(1, std::lround(flags_.timeout_seconds * 1000)));
  options.retry.overall_timeout = timeout;
  options.retry.call_timeout = std::min(options.retry.call_timeout, timeout);
  return options;
}

absl::StatusOr<std::shared_ptr<Connection>> Invocation::Open() {
  RETURN_IF_ERROR(ApplyContext());
  ASSIGN_OR_RETURN(ClientOptions options, Options());
  ASSIGN_OR_RETURN(const ServerAddress address, ParseServerAddress(flags_.server));
  const auto notice = std::make_shared<RetryNotice>(terminal_, flags_.server);
  RetryNotice::Attach(notice, &options.retry);
  absl::StatusOr<std::shared_ptr<Connection>> connection = Connection::Open(options);
  if (!connection.ok()) {
    // The certificate files belong to the command line, not to the server's resources.
    return absl::InvalidArgumentError(connection.status().message());
  }
  ASSIGN_OR_RETURN(const std::chrono::milliseconds left,
                   AwaitServer(address, options.tls.enabled, options.retry.overall_timeout,
                               flags_.server, *notice));
  if (left == options.retry.overall_timeout) return connection;
  options.retry.overall_timeout = left;
  options.retry.call_timeout = std::min(options.retry.call_timeout, left);
  return Connection::Open(options);
}

absl::StatusOr<Connection*> Invocation::Connect() {
  if (connection_ != nullptr) return connection_.get();
  // A server that did not answer is not asked a second time.
  if (!open_status_.ok()) return open_status_;
  absl::StatusOr<std::shared_ptr<Connection>> connection = Open();
  open_status_ = connection.status();
  if (!connection.ok()) return open_status_;
  connection_ = *std::move(connection);
  return connection_.get();
}

std::string Invocation::Format() const {
  if (flags_.output == "text") return "table";
  if (!flags_.output.empty()) return flags_.output;
  return terminal_.out_is_terminal ? "table" : "json";
}

TableStyle Invocation::Style() const {
  return {.color = terminal_.color,
          .wide = IsWide(),
          .width = terminal_.width,
          .unicode = terminal_.unicode};
}

void Invocation::Print(const Answer& answer) {
  std::ostream& out = terminal_.out;
  const std::string output = Format();
  if (output == "csv") {
    answer.table.PrintCsv(out);
  } else if (output == "json" && answer.whole != nullptr) {
    out << ToJson(*answer.whole, true) << "\n";
  } else if (!IsForPeople()) {
    const bool in_brackets = output == "json" && answer.is_list;
    const std::vector<std::string> objects = JsonObjects(answer, output == "json");
    if (in_brackets) out << "[" << (objects.empty() ? "" : "\n");
    out << absl::StrJoin(objects, in_brackets ? ",\n" : "\n");
    if (!objects.empty()) out << "\n";
    if (in_brackets) out << "]\n";
  } else {
    if (answer.is_list) {
      answer.table.PrintAligned(out, Style());
    } else {
      answer.table.PrintDetails(out, Style());
    }
    if (answer.below != nullptr && !answer.below->empty()) {
      out << "\n";
      answer.below->PrintAligned(out, Style());
    }
    if (!answer.summary.empty()) out << "\n" << answer.summary << "\n";
  }
  out.flush();
}

void Invocation::Tell(std::string_view sentence) { PrintSentence(terminal_.err, sentence); }

void Invocation::FailOffline(const absl::Status& status) {
  exit_code_ = absl::IsInvalidArgument(status) ? ExitCode::kUsage : ExitCode::kFailed;
  Tell(std::string(status.message()));
}

void Invocation::Fail(const absl::Status& status, CallKind kind) {
  exit_code_ = ExitCodeOf(status, kind);
  Tell(FailureText(status, kind, flags_.server));
}

}  // namespace epsledger::cli
