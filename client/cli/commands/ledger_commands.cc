#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/util/time_util.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/progress.h"
#include "client/cli/verify/ledger_export.h"
#include "client/cli/verify/merkle_proof.h"

namespace epsledger::cli {
namespace {

using Stub = v1::AuditService::StubInterface;

std::string Hex(const std::string& bytes) { return absl::BytesToHexString(bytes); }

absl::Status WrongServer(const std::string& what) {
  return absl::DataLossError(what + ": the ledger is damaged, or the server lies");
}

// Returns the full name, or Fails and returns "".
std::string FullName(Invocation& invocation, const std::string& text) {
  const absl::StatusOr<std::string> name = BudgetName(text);
  if (name.ok()) return *name;
  invocation.Fail(name.status(), CallKind::kRead);
  return "";
}

std::unique_ptr<v1::LedgerHead> GetHead(Invocation& invocation, const std::string& budget) {
  v1::GetLedgerHeadRequest request;
  request.set_budget(budget);
  return invocation.Call(&Connection::audit, &Stub::GetLedgerHead, request, CallKind::kRead);
}

void Head(Invocation& invocation, const std::string& text) {
  const std::string budget = FullName(invocation, text);
  if (budget.empty()) return;
  const auto head = GetHead(invocation, budget);
  if (head == nullptr) return;
  Table table({"root budget", "sequence", "hash", "merkle root"});
  table.AddRow(
      {head->root_budget(), head->sequence(), Hex(head->hash()), Hex(head->merkle_root())});
  invocation.Print({.messages = {head.get()}, .table = table});
}

struct EntriesFlags {
  std::string budget;
  int64_t after = 0;
  int64_t limit = 50;
};

// The client's description of itself is only in the JSON: it is a claim.
std::string WhoOf(const v1::AuditEntry& entry) {
  if (!entry.has_actor()) return "not recorded";
  switch (entry.actor().door()) {
    case v1::Actor::GRPC:
      return entry.actor().principal();
    case v1::Actor::HTTP:
      return absl::StrCat(entry.actor().principal(), " over HTTP");
    case v1::Actor::OFFLINE:
      return absl::StrCat(entry.actor().principal(), " on the files");
    case v1::Actor::SERVER:
      return "the server";
    default:
      return entry.actor().principal();
  }
}

void Entries(Invocation& invocation, const EntriesFlags& flags) {
  v1::ListAuditEntriesRequest request;
  request.set_budget(FullName(invocation, flags.budget));
  if (request.budget().empty()) return;
  request.set_after_sequence(flags.after);
  std::vector<std::unique_ptr<v1::ListAuditEntriesResponse>> pages;
  std::vector<const v1::AuditEntry*> entries;
  int64_t last = 0;
  do {
    const auto wanted = flags.limit - static_cast<int64_t>(entries.size());
    request.set_page_size(static_cast<int32_t>(std::min<int64_t>(wanted, 1000)));
    auto page =
        invocation.Call(&Connection::audit, &Stub::ListAuditEntries, request, CallKind::kRead);
    if (page == nullptr) return;
    last = page->last_sequence();
    for (const v1::AuditEntry& entry : page->entries()) {
      const bool follows = entries.empty() || entry.previous_hash() == entries.back()->hash();
      if (!follows || !IsValid(entry)) {
        return invocation.Fail(
            WrongServer(absl::StrCat("entry ", entry.sequence(), " does not follow")),
            CallKind::kRead);
      }
      entries.push_back(&entry);
      request.set_after_sequence(entry.sequence());
    }
    const bool more = !page->entries().empty() && request.after_sequence() < last &&
                      static_cast<int64_t>(entries.size()) < flags.limit;
    pages.push_back(std::move(page));
    if (!more) break;
  } while (true);
  Table table({"sequence", "time", "who", "description"});
  table.IfRoom({"who"}).MayCut({"description"});
  for (const v1::AuditEntry* entry : entries) {
    const std::string time = google::protobuf::util::TimeUtil::ToString(entry->time());
    constexpr size_t kSeconds = std::string_view("2026-01-02T03:04:05").size();
    table.AddRow({entry->sequence(), TableCell(time).ForPeople(time.substr(0, kSeconds) + "Z"),
                  WhoOf(*entry), entry->description()});
  }
  invocation.Print({.messages = {entries.begin(), entries.end()},
                    .is_list = true,
                    .table = table,
                    .summary = absl::StrCat("up to ", request.after_sequence(), " of ", last)});
}

void Verify(Invocation& invocation, const std::string& text) {
  v1::VerifyLedgerRequest request;
  request.set_budget(FullName(invocation, text));
  if (request.budget().empty()) return;
  std::unique_ptr<v1::VerifyLedgerResponse> result;
  {
    const Progress progress(invocation.terminal(), "verifying " + request.budget());
    result = invocation.Call(&Connection::audit, &Stub::VerifyLedger, request, CallKind::kRead);
  }
  if (result == nullptr) return;
  Table table({"root budget", "valid", "entries", "first bad sequence", "problem", "hash"});
  table.AddRow({result->head().root_budget(), result->valid() ? "yes" : "no",
                result->head().sequence(), result->first_bad_sequence(), result->problem(),
                Hex(result->head().hash())});
  invocation.Print({.messages = {result.get()}, .table = table});
  if (!result->valid()) invocation.set_exit_code(ExitCode::kFailed);
}

struct ProveFlags {
  std::string budget;
  int64_t sequence = 0;
  int64_t from = 0;
  int64_t size = 0;
  std::string root;
};

// Prints a proof that holds, and Fails otherwise. `known_root` is the root that the caller may
// know.
template <class Proof>
void PrintProof(Invocation& invocation, const Proof& proof, const std::string& known_root,
                const std::string& expected_root, Table table) {
  if (!IsValid(proof)) {
    return invocation.Fail(WrongServer("the proof does not lead to its root"), CallKind::kRead);
  }
  if (!expected_root.empty() && Hex(known_root) != expected_root) {
    return invocation.Fail(
        WrongServer(absl::StrCat("the root there is ", Hex(known_root), ", not the one you know")),
        CallKind::kRead);
  }
  invocation.Print({.messages = {&proof}, .table = std::move(table)});
}

void ProveInclusion(Invocation& invocation, const std::string& budget, const ProveFlags& flags) {
  v1::ProveInclusionRequest request;
  request.set_budget(budget);
  request.set_sequence(flags.sequence);
  request.set_tree_size(flags.size);
  const auto proof =
      invocation.Call(&Connection::audit, &Stub::ProveInclusion, request, CallKind::kRead);
  if (proof == nullptr) return;
  if (proof->sequence() != flags.sequence) {
    return invocation.Fail(WrongServer("the proof is of another entry"), CallKind::kRead);
  }
  Table table(
      {"proves that entry", "is among the first", "path length", "leaf hash", "merkle root"});
  table.AddRow({proof->sequence(), proof->tree_size(), int64_t{proof->path_size()},
                Hex(proof->leaf_hash()), Hex(proof->merkle_root())});
  PrintProof(invocation, *proof, proof->merkle_root(), flags.root, std::move(table));
}

void ProveConsistency(Invocation& invocation, const std::string& budget, const ProveFlags& flags) {
  v1::ProveConsistencyRequest request;
  request.set_budget(budget);
  request.set_old_size(flags.from);
  request.set_new_size(flags.size);
  const auto proof =
      invocation.Call(&Connection::audit, &Stub::ProveConsistency, request, CallKind::kRead);
  if (proof == nullptr) return;
  if (proof->old_size() != flags.from) {
    return invocation.Fail(WrongServer("the proof is of another size"), CallKind::kRead);
  }
  Table table({"proves that the first", "grew by appending to", "path length", "old merkle root",
               "new merkle root"});
  table.AddRow({proof->old_size(), proof->new_size(), int64_t{proof->path_size()},
                Hex(proof->old_merkle_root()), Hex(proof->new_merkle_root())});
  PrintProof(invocation, *proof, proof->old_merkle_root(), flags.root, std::move(table));
}

void Prove(Invocation& invocation, const ProveFlags& flags) {
  if ((flags.sequence > 0) == (flags.from > 0)) {
    return invocation.FailOffline(
        absl::InvalidArgumentError("want one of --sequence N (to prove that an entry is in the "
                                   "ledger) and --from N (to prove that the ledger has only grown "
                                   "since it had N entries)"));
  }
  const std::string budget = FullName(invocation, flags.budget);
  if (budget.empty()) return;
  if (flags.sequence > 0) return ProveInclusion(invocation, budget, flags);
  ProveConsistency(invocation, budget, flags);
}

// Streams the entries up to `head` into `out`.
absl::Status Export(Connection& connection, const v1::LedgerHead& head, std::ostream& out,
                    Progress& progress) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + connection.retry().overall_timeout);
  v1::ExportLedgerRequest request;
  request.set_budget(head.root_budget());
  const auto stream = connection.audit().ExportLedger(&context, request);
  LedgerExport file(out, head.root_budget());
  bool passed_head = false;
  v1::AuditEntry entry;
  while (stream->Read(&entry)) {
    if (absl::Status status = file.Add(entry); !status.ok()) {
      context.TryCancel();
      stream->Finish();
      return status;
    }
    progress.Report(entry.sequence(), std::max(entry.sequence(), head.sequence()));
    passed_head =
        passed_head || (entry.sequence() == head.sequence() && entry.hash() == head.hash());
  }
  RETURN_IF_ERROR(FromGrpc(stream->Finish()));
  if (!passed_head) return WrongServer("the export does not contain the head seen before");
  return file.Finish();
}

void ExportToFile(Invocation& invocation, const std::string& text, const std::string& path) {
  const std::string budget = FullName(invocation, text);
  if (budget.empty()) return;
  const auto head = GetHead(invocation, budget);
  if (head == nullptr) return;
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return invocation.Fail(connection.status(), CallKind::kRead);
  // The file gets its name only when it is complete.
  const std::string unfinished = path + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  absl::Status status = absl::InvalidArgumentError(path + ": cannot be written");
  if (file) {
    Progress progress(invocation.terminal(), "exporting " + head->root_budget());
    status = Export(**connection, *head, file, progress);
  }
  file.close();
  if (status.ok() && std::rename(unfinished.c_str(), path.c_str()) != 0) {
    status = absl::UnavailableError(path + ": cannot be written");
  }
  if (status.ok()) return;
  std::remove(unfinished.c_str());
  invocation.Fail(status, CallKind::kRead);
}

void LiftQuarantine(Invocation& invocation, const std::string& text, const std::string& reason) {
  v1::LiftQuarantineRequest request;
  request.set_budget(FullName(invocation, text));
  if (request.budget().empty()) return;
  request.set_reason(reason);
  const auto lifted =
      invocation.Call(&Connection::audit, &Stub::LiftQuarantine, request, CallKind::kWrite);
  if (lifted == nullptr) return;
  Table table({"root budget", "lost entries that clients brought", "quarantine"});
  table.AddRow({request.budget(), lifted->lost_head_count(),
                lifted->waits_for_approval() ? "waits for another admin to confirm it within a week"
                                             : "lifted"});
  invocation.Print({.messages = {lifted.get()}, .table = table});
}

}  // namespace

void AddLedgerCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* ledger = app.add_subcommand("ledger", "The tamper-evident log behind a budget's tree");
  ledger->require_subcommand(1);
  ledger->fallthrough();
  ledger->footer(
      "Without a server, on the store itself: `epsledgerd ledger` verify, import and export, and "
      "migrate between a data directory and PostgreSQL.");
  const auto add = [&](const char* verb, const char* help, std::string& budget) {
    CLI::App* command = ledger->add_subcommand(verb, help);
    command->fallthrough();
    command->add_option("budget", budget, "any BUDGET of the tree")->required();
    return command;
  };

  auto name = std::make_shared<std::string>();
  CLI::App* head = add("head", "Show the newest entry's hash and the Merkle root", *name);
  head->footer("Example:\n  epsctl ledger head adult");
  head->callback([&invocation, name] { Head(invocation, *name); });
  CLI::App* verify = add(
      "verify", "Let the server check every entry again; offline: epsledgerd ledger verify", *name);
  verify->footer("Example:\n  epsctl ledger verify adult");
  verify->callback([&invocation, name] { Verify(invocation, *name); });

  auto entries = std::make_shared<EntriesFlags>();
  CLI::App* list = add("entries", "List the entries, and check every hash", entries->budget);
  list->add_option("--after", entries->after, "only entries after this sequence number")
      ->type_name("N");
  list->add_option("--limit", entries->limit, "at most this many")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  list->footer("Example:\n  epsctl ledger entries adult --after 2 --limit 10");
  list->callback([&invocation, entries] { Entries(invocation, *entries); });

  auto prove = std::make_shared<ProveFlags>();
  CLI::App* proof = add("prove", "Fetch a Merkle proof and check it here", prove->budget);
  proof->add_option("--sequence", prove->sequence, "prove that this entry is in the ledger")
      ->check(CLI::PositiveNumber);
  proof->add_option("--from", prove->from, "prove that the ledger has only grown since this size")
      ->check(CLI::PositiveNumber);
  proof->add_option("--size", prove->size, "the size of the tree; default: all entries")
      ->check(CLI::PositiveNumber);
  proof
      ->add_option("--root", prove->root,
                   "a Merkle root that you know: of the tree, or with --from of the older tree")
      ->type_name("HEX");
  proof->footer(
      "Examples, where ROOT is the Merkle root that `ledger head` printed at entry 7:\n"
      "  epsctl ledger prove adult --sequence 2\n"
      "  epsctl ledger prove adult --from 7 --root \"$ROOT\"");
  proof->callback([&invocation, prove] { Prove(invocation, *prove); });

  auto why = std::make_shared<std::string>();
  CLI::App* lift = add(
      "lift-quarantine",
      "Let a ledger that lost charges take charges again, once the lost ones are charged by hand",
      *name);
  lift->add_option("--reason", *why, "for the auditor")->required();
  lift->footer(
      "Example:\n  epsctl ledger lift-quarantine mended --reason \"3 January was charged by "
      "hand\"");
  lift->callback([&invocation, name, why] { LiftQuarantine(invocation, *name, *why); });

  auto export_budget = std::make_shared<std::string>();
  auto path = std::make_shared<std::string>();
  CLI::App* exporting = add("export", "Write every entry to a self-checking file", *export_budget);
  exporting->add_option("file", *path, "the file, for epsledgerd ledger verify and import")
      ->required();
  exporting->footer("Example:\n  epsctl ledger export adult adult.ledger");
  exporting->callback(
      [&invocation, export_budget, path] { ExportToFile(invocation, *export_budget, *path); });
}

}  // namespace epsledger::cli
