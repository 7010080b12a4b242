#ifndef EPSLEDGER_CLIENT_CLI_INVOCATION_H_
#define EPSLEDGER_CLIENT_CLI_INVOCATION_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/exit_code.h"
#include "client/cli/print/table.h"
#include "client/cli/print/terminal.h"
#include "client/cpp/connection.h"
#include "epsledger/client.h"

namespace epsledger::cli {

// The flags that every command takes.
struct GlobalFlags {
  std::string server;   // empty: that of the context, or kUsualServer
  std::string context;  // empty: the current one, if no server is said
  // "table", "text", "wide", "json", "jsonl", "csv"; empty: table on a terminal, else json
  std::string output;
  bool tls = false;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  bool allow_insecure = false;
  std::string token_file;
  std::string token;  // only from the environment: others can read a command line
  double timeout_seconds = 30;
  bool dry_run = false;
};

inline constexpr char kUsualServer[] = "127.0.0.1:50551";

// What an answer looks like in every output format. The messages outlive the call.
struct Answer {
  // If empty, json and jsonl print the rows of the table.
  std::vector<const google::protobuf::Message*> messages;
  bool is_list = false;
  Table table;
  // With one message and output to people: printed below the details. May be null.
  const Table* below = nullptr;
  // With a list: json prints this instead of an array of the messages. May be null.
  const google::protobuf::Message* whole = nullptr;
  // With output to people: a few lines at the end. May be empty.
  std::string summary;
};

// One run of epsctl: its flags, its streams, and how it ended.
class Invocation {
 public:
  explicit Invocation(Terminal& terminal) : terminal_(terminal) {}

  // The same run with its flags and connection, but with its own outcome, printing to `terminal`.
  Invocation(const Invocation& other, Terminal& terminal)
      : terminal_(terminal), flags_(other.flags_), connection_(other.connection_) {}

  GlobalFlags& flags() { return flags_; }
  Terminal& terminal() { return terminal_; }
  const Terminal& terminal() const { return terminal_; }
  ExitCode exit_code() const { return exit_code_; }

  // Connects on first use, as the flags say. Waits, as long as the timeout allows, for a server
  // that takes connections; if none does, nothing was sent. INVALID_ARGUMENT if the server speaks
  // another protocol than the flags say.
  absl::StatusOr<Connection*> Connect();

  // True if the output is for people: a table, wide or not.
  bool IsForPeople() const { return Format() == "table" || IsWide(); }
  // True if people want every column and every row.
  bool IsWide() const { return Format() == "wide"; }
  // How tables look.
  TableStyle Style() const;
  // True if people read the output on a terminal, where charts help.
  bool DrawsCharts() const { return IsForPeople() && terminal_.out_is_terminal; }
  // "table", "wide", "json", "jsonl" or "csv"; "text" is a table.
  std::string Format() const;
  // Prints the answer in the format of the flags.
  void Print(const Answer& answer);
  // Tells people one sentence on standard error, as PrintSentence does.
  void Tell(std::string_view sentence);
  // Tells one sentence on what failed and what to do about it, and remembers the exit code.
  void Fail(const absl::Status& status, CallKind kind);
  // The same for a command that needs no server: the mathematics is in this program.
  void FailOffline(const absl::Status& status);
  void set_exit_code(ExitCode code) { exit_code_ = code; }

  // Whose budgets the context says the token is for; empty if it does not say.
  const std::string& tenant() const { return tenant_; }

  // INVALID_ARGUMENT if --dry-run is given: for a command that has no such form.
  absl::Status CheckNoDryRun() const;
  // Tells people, once, that the server is only asked.
  void TellDryRun();
  // Makes a request that writes one that only asks, if --dry-run is given, and tells people so.
  // INVALID_ARGUMENT if there is no such request: it must not be made.
  template <class Request>
  absl::Status Prepare(Request& request) {
    if (!flags_.dry_run) return absl::OkStatus();
    if constexpr (requires { request.set_validate_only(true); }) {
      request.set_validate_only(true);
      TellDryRun();
      return absl::OkStatus();
    } else {
      return CheckNoDryRun();
    }
  }

  // Calls the method and returns the answer, or Fails and returns nothing. A write is Prepared.
  template <class Stub, class Request, class Response>
  std::unique_ptr<Response> Call(Stub& (Connection::*service)(),
                                 grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                              Response*),
                                 Request request, CallKind kind) {
    if (kind == CallKind::kWrite) {
      if (const absl::Status prepared = Prepare(request); !prepared.ok()) {
        Fail(prepared, CallKind::kRead);
        return nullptr;
      }
    }
    absl::StatusOr<Connection*> connection = Connect();
    if (!connection.ok()) {
      Fail(connection.status(), CallKind::kRead);
      return nullptr;
    }
    absl::StatusOr<Response> response =
        (*connection)->Call(((*connection)->*service)(), method, request);
    if (!response.ok()) {
      Fail(response.status(), kind);
      return nullptr;
    }
    return std::make_unique<Response>(*std::move(response));
  }

 private:
  // Completes the flags by what the context says.
  absl::Status ApplyContext();
  absl::StatusOr<ClientOptions> Options() const;
  absl::StatusOr<std::shared_ptr<Connection>> Open();

  Terminal& terminal_;
  GlobalFlags flags_;
  std::string tenant_;
  absl::Status open_status_;
  bool told_dry_run_ = false;
  std::shared_ptr<Connection> connection_;
  ExitCode exit_code_ = ExitCode::kOk;
};

// Returns the proto3 JSON on one line, or indented; fields that have their default are printed too.
std::string ToJson(const google::protobuf::Message& message, bool indented);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_INVOCATION_H_
