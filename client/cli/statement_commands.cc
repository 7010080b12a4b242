#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>

#include <google/protobuf/util/json_util.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/cli/cap_delta.h"
#include "client/cli/commands.h"
#include "client/cli/resource_name.h"
#include "client/cli/statement_check.h"

namespace epsledger::cli {
namespace {

struct StatementFlags {
  std::string name;
  std::optional<double> delta;
  std::string save;
  std::string html;
};

// "adult" is a budget, "adult/run-1" a session; full names are what they are.
absl::StatusOr<std::string> StatementName(const std::string& text) {
  const bool full = text.starts_with("budgets/");
  const bool session = text.find(full ? "/sessions/" : "/") != text.npos;
  return session ? SessionName(text) : BudgetName(text);
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return absl::UnavailableError(path + ": cannot be written");
  return absl::OkStatus();
}

void GetStatement(Invocation& invocation, const StatementFlags& flags) {
  const absl::StatusOr<std::string> name = StatementName(flags.name);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return invocation.Fail(connection.status(), CallKind::kRead);
  const absl::StatusOr<double> delta = SaidOrCapDelta(**connection, flags.delta, *name);
  if (!delta.ok()) return invocation.Fail(delta.status(), CallKind::kRead);
  v1::GetPrivacyStatementRequest request;
  request.set_name(*name);
  request.set_delta(*delta);
  const auto statement =
      invocation.Call(&Connection::audit, &v1::AuditService::StubInterface::GetPrivacyStatement,
                      request, CallKind::kRead);
  if (statement == nullptr) return;
  absl::Status status;
  if (!flags.save.empty()) status.Update(WriteFile(flags.save, ToJson(*statement, true) + "\n"));
  if (!flags.html.empty()) status.Update(WriteFile(flags.html, statement->html()));
  if (!status.ok()) return invocation.FailOffline(status);
  if (!flags.save.empty() || !flags.html.empty()) return;
  if (invocation.IsForPeople()) {
    invocation.terminal().out << statement->text();
    return;
  }
  Table table({"text", "json", "signature", "public key"});
  table.AddRow({statement->text(), statement->json(),
                absl::BytesToHexString(statement->signature()),
                absl::BytesToHexString(statement->public_key())});
  invocation.Print({.messages = {statement.get()}, .table = table});
}

void Verify(Invocation& invocation, const std::string& path, const std::string& key_digits) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream json;
  json << file.rdbuf();
  v1::PrivacyStatement statement;
  if (!file || !google::protobuf::util::JsonStringToMessage(json.str(), &statement).ok()) {
    return invocation.FailOffline(absl::InvalidArgumentError(
        path + ": cannot be read, or is not what `epsctl statement get --save` writes"));
  }
  const bool digits = key_digits.find_first_not_of("0123456789abcdefABCDEF") == key_digits.npos &&
                      key_digits.size() % 2 == 0;
  const absl::Status status =
      CheckStatement(statement, digits ? absl::HexStringToBytes(key_digits) : "");
  if (!status.ok()) {
    return invocation.FailOffline(
        absl::Status(status.code(), absl::StrCat(path, ": ", std::string(status.message()))));
  }
  if (invocation.IsForPeople()) {
    invocation.terminal().out << statement.text() << "\nSigned by the owner of this key.\n";
  } else {
    invocation.terminal().out << statement.json() << "\n";
  }
}

}  // namespace

void AddStatementCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* statement =
      app.add_subcommand("statement", "Signed accounts of what a budget or session guarantees");
  statement->require_subcommand(1);
  statement->fallthrough();

  auto flags = std::make_shared<StatementFlags>();
  CLI::App* get = statement->add_subcommand("get", "Show or save a statement as it is now");
  get->fallthrough();
  get->add_option("name", flags->name, "BUDGET or BUDGET/SESSION")->required();
  AddReadingDelta(*get, flags->delta);
  get->add_option("--save", flags->save, "write the whole of it, for `statement verify`")
      ->type_name("FILE");
  get->add_option("--html", flags->html, "write its printable form")->type_name("FILE");
  get->footer(
      "Examples:\n"
      "  epsctl statement get adult\n"
      "  epsctl statement get adult/run-1 --delta 1e-5 --save run-1.json --html run-1.html");
  get->callback([&invocation, flags] { GetStatement(invocation, *flags); });

  auto path = std::make_shared<std::string>();
  auto key = std::make_shared<std::string>();
  CLI::App* verify = statement->add_subcommand(
      "verify",
      "Check a saved statement: who signed it, and that no part was changed. Needs no server");
  verify->fallthrough();
  verify->add_option("file", *path, "written by `statement get --save`")->required();
  verify->add_option("--public-key", *key, "of the server, from somebody you trust")
      ->type_name("HEX")
      ->required();
  verify->footer(
      "Example, PUBLIC_KEY being what `server info` says and its owner confirms:\n"
      "  epsctl statement verify run-1.json --public-key \"$PUBLIC_KEY\"");
  verify->callback([&invocation, path, key] { Verify(invocation, *path, *key); });
}

}  // namespace epsledger::cli
