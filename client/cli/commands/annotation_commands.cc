#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"
#include "client/cli/verify/statement_check.h"

namespace epsledger::cli {
namespace {

// "DATA_DOMAIN" -> "data-domain".
std::string OptionOf(const std::string& topic) {
  std::string option = absl::AsciiStrToLower(topic);
  for (char& c : option) {
    if (c == '_') c = '-';
  }
  return option;
}

struct TopicOption {
  v1::Annotation::Topic topic = v1::Annotation::TOPIC_UNSPECIFIED;
  const char* means = "";
};

constexpr TopicOption kTopics[] = {
    {v1::Annotation::DEPLOYMENT_MODEL,
     "who is trusted with the raw data: Local, Central, Shuffle or Federated"},
    {v1::Annotation::ACTORS, "who sees what, and why they are trusted"},
    {v1::Annotation::DATA_DOMAIN, "which data sets are eligible for protection"},
    {v1::Annotation::UNPROTECTED_QUANTITIES, "what is released without noise"},
    {v1::Annotation::CONTRIBUTION_BOUNDING, "how the contribution of one privacy unit is bounded"},
    {v1::Annotation::PARAMETER_RATIONALE, "why epsilon and delta were chosen so"},
    {v1::Annotation::DATA_COLLECTION,
     "how the raw data are collected, and who can see them on the way"},
    {v1::Annotation::PREPROCESSING, "what was done before: cleaning, exploration, tuning"},
    {v1::Annotation::POST_PROCESSING, "what is done to the output afterwards"},
    {v1::Annotation::SECURITY, "how the raw data and the machines are protected"},
    {v1::Annotation::SIDE_CHANNELS, "what is done about timing, memory, logs and floating point"},
    {v1::Annotation::INTENDED_USE, "what the output is for"},
};

struct AnnotationFlags {
  std::string name;
  std::map<v1::Annotation::Topic, std::string> texts;
  std::map<v1::Annotation::Topic, const CLI::Option*> options;  // of the texts
  std::vector<std::string> withdrawn;
};

std::string RecordedText(const std::string& principal, int64_t sequence) {
  return absl::StrCat(principal.empty() ? "" : "by ", principal, principal.empty() ? "" : ", ",
                      "entry ", sequence);
}

void PrintAnnotations(Invocation& invocation, const v1::Annotations& said) {
  Table table({"what", "text", "recorded"});
  table.MayCut({"text"});
  for (const v1::Annotation& annotation : said.annotations()) {
    table.AddRow({OptionOf(v1::Annotation::Topic_Name(annotation.topic())), annotation.text(),
                  RecordedText(annotation.principal(), annotation.sequence())});
  }
  for (const v1::SignOff& sign_off : said.sign_offs()) {
    table.AddRow({absl::StrCat("signed off at entry ", sign_off.statement_sequence()),
                  absl::StrCat(sign_off.signer(), ", ", sign_off.role(),
                               sign_off.comment().empty() ? "" : ": ", sign_off.comment()),
                  RecordedText(sign_off.principal(), sign_off.sequence())});
  }
  const bool empty = table.empty();
  invocation.Print({.messages = {&said},
                    .is_list = true,
                    .table = std::move(table),
                    .whole = &said,
                    .summary = empty ? absl::StrCat("Nothing is said about ", said.name(), ".")
                                     : std::string()});
}

void GetAnnotations(Invocation& invocation, const std::string& text) {
  const absl::StatusOr<std::string> name = BudgetOrSessionName(text);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::GetAnnotationsRequest request;
  request.set_name(*name);
  const auto said =
      invocation.Call(&Connection::audit, &v1::AuditService::StubInterface::GetAnnotations, request,
                      CallKind::kRead);
  if (said != nullptr) PrintAnnotations(invocation, *said);
}

absl::StatusOr<v1::Annotation::Topic> TopicNamed(const std::string& option) {
  std::vector<std::string> known;
  for (const TopicOption& topic : kTopics) {
    known.push_back(OptionOf(v1::Annotation::Topic_Name(topic.topic)));
    if (known.back() == option) return topic.topic;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--withdraw: got \"", option, "\", want one of: ", absl::StrJoin(known, ", ")));
}

absl::StatusOr<v1::UpdateAnnotationsRequest> UpdateOf(const AnnotationFlags& flags) {
  v1::UpdateAnnotationsRequest request;
  const absl::StatusOr<std::string> name = BudgetOrSessionName(flags.name);
  if (!name.ok()) return name.status();
  request.set_name(*name);
  for (const auto& [topic, text] : flags.texts) {
    if (flags.options.at(topic)->count() == 0) continue;
    if (text.empty()) {
      const std::string option = OptionOf(v1::Annotation::Topic_Name(topic));
      return absl::InvalidArgumentError(absl::StrCat(
          "--", option, ": got nothing, want a text; --withdraw ", option, " removes it"));
    }
    v1::Annotation& annotation = *request.add_annotations();
    annotation.set_topic(topic);
    annotation.set_text(text);
  }
  for (const std::string& option : flags.withdrawn) {
    const absl::StatusOr<v1::Annotation::Topic> topic = TopicNamed(option);
    if (!topic.ok()) return topic.status();
    request.add_annotations()->set_topic(*topic);
  }
  if (request.annotations().empty()) {
    return absl::InvalidArgumentError(
        "nothing to record; give a text, for example --data-domain \"adults\", or --withdraw");
  }
  return request;
}

void SetAnnotations(Invocation& invocation, const AnnotationFlags& flags) {
  const absl::StatusOr<v1::UpdateAnnotationsRequest> request = UpdateOf(flags);
  if (!request.ok()) return invocation.Fail(request.status(), CallKind::kWrite);
  const auto said =
      invocation.Call(&Connection::audit, &v1::AuditService::StubInterface::UpdateAnnotations,
                      *request, CallKind::kWrite);
  if (said != nullptr) PrintAnnotations(invocation, *said);
}

struct SignOffFlags {
  std::string path;
  std::string signer;
  std::string role;
  std::string comment;
};

void RecordSignOff(Invocation& invocation, const SignOffFlags& flags) {
  const absl::StatusOr<v1::PrivacyStatement> statement = LoadStatement(flags.path);
  if (!statement.ok()) return invocation.FailOffline(statement.status());
  // The text that a person reads is what was signed; the server knows whether it was with its key.
  if (absl::Status status = CheckStatement(*statement, statement->public_key()); !status.ok()) {
    return invocation.FailOffline(
        absl::Status(status.code(), absl::StrCat(flags.path, ": ", std::string(status.message()))));
  }
  const absl::StatusOr<StatementSubject> subject = SubjectOf(*statement);
  if (!subject.ok()) return invocation.FailOffline(subject.status());
  v1::RecordSignOffRequest request;
  request.set_name(subject->name);
  request.mutable_sign_off()->set_signer(flags.signer);
  request.mutable_sign_off()->set_role(flags.role);
  request.mutable_sign_off()->set_comment(flags.comment);
  request.set_statement_json(statement->json());
  request.set_signature(statement->signature());
  const auto said =
      invocation.Call(&Connection::audit, &v1::AuditService::StubInterface::RecordSignOff, request,
                      CallKind::kWrite);
  if (said != nullptr) PrintAnnotations(invocation, *said);
}

}  // namespace

void AddAnnotationCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* annotation = app.add_subcommand(
      "annotation", "What people say about a budget or session, for official forms");
  annotation->require_subcommand(1);
  annotation->fallthrough();
  annotation->footer(
      "The ledger keeps the words and who recorded them, and decides nothing by them. Statements\n"
      "list them, and `statement export` answers the questions of forms with them.");

  auto name = std::make_shared<std::string>();
  CLI::App* get = annotation->add_subcommand("get", "What is said, and who signed off");
  get->fallthrough();
  get->add_option("name", *name, "BUDGET or BUDGET/SESSION")->required();
  get->footer("Example:\n  epsctl annotation get adult");
  get->callback([&invocation, name] { GetAnnotations(invocation, *name); });

  auto flags = std::make_shared<AnnotationFlags>();
  CLI::App* set = annotation->add_subcommand("set", "Record some texts; the others stay");
  set->fallthrough();
  set->add_option("name", flags->name, "BUDGET or BUDGET/SESSION")->required();
  for (const TopicOption& topic : kTopics) {
    flags->options[topic.topic] =
        set->add_option("--" + OptionOf(v1::Annotation::Topic_Name(topic.topic)),
                        flags->texts[topic.topic], topic.means)
            ->type_name("TEXT");
  }
  set->add_option("--withdraw", flags->withdrawn, "remove what is said about this; may be repeated")
      ->type_name("WHAT");
  set->footer(
      "Examples:\n"
      "  epsctl annotation set adult --deployment-model Central \\\n"
      "    --data-domain \"adults in the census of 1994\" --parameter-rationale \"as for survey "
      "A\"\n"
      "  epsctl annotation set adult --withdraw parameter-rationale");
  set->callback([&invocation, flags] { SetAnnotations(invocation, *flags); });
}

void AddStatementSignOff(CLI::App& statement, Invocation& invocation) {
  auto flags = std::make_shared<SignOffFlags>();
  CLI::App* command = statement.add_subcommand(
      "sign-off",
      "Record that somebody answers for a saved statement. The server checks that it signed the "
      "statement, and the ledger keeps who called");
  command->fallthrough();
  command->add_option("file", flags->path, "written by `statement get --save`")->required();
  command->add_option("--signer", flags->signer, "the name of a person")
      ->type_name("NAME")
      ->required();
  command->add_option("--role", flags->role, "what they are, such as \"privacy officer\"")
      ->type_name("ROLE")
      ->required();
  command->add_option("--comment", flags->comment, "at most 256 bytes")->type_name("TEXT");
  command->footer(
      "Example:\n"
      "  epsctl statement sign-off run-1.json --signer \"Ada Byron\" --role \"privacy officer\"");
  command->callback([&invocation, flags] { RecordSignOff(invocation, *flags); });
}

}  // namespace epsledger::cli
