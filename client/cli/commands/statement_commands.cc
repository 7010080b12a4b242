#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/cap_delta.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/verify/merkle_proof.h"
#include "client/cli/verify/statement_check.h"

namespace epsledger::cli {
namespace {

struct StatementFlags {
  std::string name;
  std::optional<double> delta;
  std::string save;
  std::string html;
};

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return absl::UnavailableError(path + ": cannot be written");
  return absl::OkStatus();
}

void GetStatement(Invocation& invocation, const StatementFlags& flags) {
  const absl::StatusOr<std::string> name = BudgetOrSessionName(flags.name);
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

// Checks that the server's ledger begins with the entries that the statement was made from.
absl::Status CheckGrew(const v1::PrivacyStatement& earlier, const v1::PrivacyStatement& later,
                       const v1::ConsistencyProof& proof) {
  if (proof.old_size() == earlier.head().sequence() &&
      proof.new_size() == later.head().sequence() &&
      proof.old_merkle_root() == earlier.head().merkle_root() &&
      proof.new_merkle_root() == later.head().merkle_root() && IsValid(proof)) {
    return absl::OkStatus();
  }
  return absl::DataLossError(
      "the server's ledger does not begin with the entries that the statement was made from: it is "
      "another ledger, or was changed");
}

// Returns the key of the server that the statement names; empty if the server has no such key, or
// if the caller trusts only another one.
std::string KeyOf(const v1::PrivacyStatement& statement, const v1::ServerInfo& info,
                  const std::string& trusted) {
  const std::string& key = statement.public_key();
  bool is_known = key == info.statement_public_key();
  for (const std::string& former : info.former_statement_public_keys()) is_known |= key == former;
  return is_known && (trusted.empty() || trusted == key) ? key : "";
}

void PrintAge(Invocation& invocation, const v1::PrivacyStatement& earlier,
              const v1::PrivacyStatement& later, const std::vector<std::string>& changes) {
  const bool is_newest = changes.empty();
  Table table({"newest", "made at entry", "ledger is at", "what has changed since"});
  table.AddRow({TableCell(is_newest ? "yes" : "no").In(is_newest ? Tone::kGood : Tone::kBad),
                earlier.head().sequence(), later.head().sequence(), absl::StrJoin(changes, ", ")});
  invocation.Print({.table = table});
  if (!is_newest) invocation.set_exit_code(ExitCode::kFailed);
}

// Without `key_digits` the server says which keys are its own.
void Check(Invocation& invocation, const std::string& path,
           const std::optional<std::string>& key_digits) {
  absl::StatusOr<std::string> trusted = "";
  if (key_digits.has_value()) trusted = PublicKeyOfDigits(*key_digits);
  if (!trusted.ok()) return invocation.FailOffline(trusted.status());
  const absl::StatusOr<v1::PrivacyStatement> loaded = LoadStatement(path);
  if (!loaded.ok()) return invocation.FailOffline(loaded.status());
  const v1::PrivacyStatement& earlier = *loaded;
  const auto fail = [&](const absl::Status& status) {
    invocation.FailOffline(
        absl::Status(status.code(), absl::StrCat(path, ": ", std::string(status.message()))));
  };
  const auto info =
      invocation.Call(&Connection::server, &v1::ServerService::StubInterface::GetServerInfo,
                      v1::GetServerInfoRequest(), CallKind::kRead);
  if (info == nullptr) return;
  const std::string key = KeyOf(earlier, *info, *trusted);
  if (key.empty()) {
    return fail(
        absl::DataLossError("it was signed with a key that is not one of this server's, or "
                            "is not the one of --public-key"));
  }
  if (absl::Status status = CheckStatement(earlier, key); !status.ok()) return fail(status);
  const absl::StatusOr<StatementSubject> subject = SubjectOf(earlier);
  if (!subject.ok()) return fail(subject.status());
  v1::GetPrivacyStatementRequest request;
  request.set_name(subject->name);
  request.set_delta(subject->delta);
  const auto later =
      invocation.Call(&Connection::audit, &v1::AuditService::StubInterface::GetPrivacyStatement,
                      request, CallKind::kRead);
  if (later == nullptr) return;
  if (absl::Status status = CheckStatement(*later, info->statement_public_key()); !status.ok()) {
    return fail(status);
  }
  const absl::StatusOr<std::vector<std::string>> changes = ChangesBetween(earlier, *later);
  if (!changes.ok()) return fail(changes.status());
  v1::ProveConsistencyRequest wanted;
  wanted.set_budget(later->head().root_budget());
  wanted.set_old_size(earlier.head().sequence());
  wanted.set_new_size(later->head().sequence());
  const auto proof =
      invocation.Call(&Connection::audit, &v1::AuditService::StubInterface::ProveConsistency,
                      wanted, CallKind::kRead);
  if (proof == nullptr) return;
  if (absl::Status status = CheckGrew(earlier, *later, *proof); !status.ok()) return fail(status);
  PrintAge(invocation, earlier, *later, *changes);
}

void Verify(Invocation& invocation, const std::string& path, const std::string& key_digits) {
  const absl::StatusOr<v1::PrivacyStatement> loaded = LoadStatement(path);
  if (!loaded.ok()) return invocation.FailOffline(loaded.status());
  const v1::PrivacyStatement& statement = *loaded;
  const absl::StatusOr<std::string> key = PublicKeyOfDigits(key_digits);
  if (!key.ok()) return invocation.FailOffline(key.status());
  const absl::Status status = CheckStatement(statement, *key);
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
  get->add_option("--save", flags->save, "write the whole statement, for `statement verify`")
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
  verify->add_option("--public-key", *key, "the server's key, from somebody you trust")
      ->type_name("HEX")
      ->required();
  verify->footer(
      "Example, where PUBLIC_KEY is what `server info` prints and its owner confirms:\n"
      "  epsctl statement verify run-1.json --public-key \"$PUBLIC_KEY\"");
  verify->callback([&invocation, path, key] { Verify(invocation, *path, *key); });

  auto saved = std::make_shared<std::string>();
  auto trusted = std::make_shared<std::string>();
  CLI::App* check = statement->add_subcommand("check",
                                              "Ask the server whether a saved statement is the "
                                              "newest: whether it would state the same now, and "
                                              "its ledger has only grown. Exit code 1 if not");
  check->fallthrough();
  check->add_option("file", *saved, "written by `statement get --save`")->required();
  const CLI::Option* pinned =
      check
          ->add_option("--public-key", *trusted,
                       "the key that must have signed it; default: any key that the server says "
                       "is its own")
          ->type_name("HEX");
  check->footer("Example:\n  epsctl statement check run-1.json");
  // An empty key is an invalid one, and not none.
  check->callback([&invocation, saved, trusted, pinned] {
    Check(invocation, *saved, pinned->count() > 0 ? std::optional(*trusted) : std::nullopt);
  });
  AddStatementExport(*statement, invocation);
  AddStatementSignOff(*statement, invocation);
}

}  // namespace epsledger::cli
