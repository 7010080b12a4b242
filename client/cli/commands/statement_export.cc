#include <openssl/evp.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "accounting/event/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/files/input_file.h"
#include "client/cli/forms/forms.h"
#include "client/cli/verify/statement_check.h"

namespace epsledger::cli {
namespace {

struct ExportFlags {
  std::string path;
  std::string public_key;
  std::string format;
  std::string answers;
  std::vector<std::string> subjects;
};

// Files of any size: read in parts.
absl::StatusOr<FormSubject> SubjectOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                       &EVP_MD_CTX_free);
  bool ok =
      file && digest != nullptr && EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) == 1;
  std::vector<char> part(1 << 16);
  while (ok && file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    ok = !file.bad() &&
         EVP_DigestUpdate(digest.get(), part.data(), static_cast<size_t>(file.gcount())) == 1;
  }
  std::string hash(32, '\0');
  ok = ok && EVP_DigestFinal_ex(digest.get(), reinterpret_cast<unsigned char*>(hash.data()),
                                nullptr) == 1;
  if (!ok) return absl::InvalidArgumentError("--subject: " + path + ": cannot be read");
  const size_t slash = path.rfind('/');
  return FormSubject{.name = slash == path.npos ? path : path.substr(slash + 1),
                     .sha256 = absl::BytesToHexString(hash)};
}

absl::StatusOr<FilledForm> Fill(const ExportFlags& flags) {
  ASSIGN_OR_RETURN(const FormKind kind, FormNamed(flags.format));
  ASSIGN_OR_RETURN(const v1::PrivacyStatement statement, LoadStatement(flags.path));
  ASSIGN_OR_RETURN(const std::string key, PublicKeyOfDigits(flags.public_key));
  if (absl::Status status = CheckStatement(statement, key); !status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(flags.path, ": ", std::string(status.message())));
  }
  FormAnswers answers;
  if (!flags.answers.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadInputFile("--answers", flags.answers));
    ASSIGN_OR_RETURN(answers, FormAnswers::Parse(text));
  }
  if (!flags.subjects.empty() && kind != FormKind::kInToto) {
    return absl::InvalidArgumentError("--subject: only the in-toto form names files");
  }
  std::vector<FormSubject> subjects;
  for (const std::string& path : flags.subjects) {
    ASSIGN_OR_RETURN(FormSubject subject, SubjectOfFile(path));
    subjects.push_back(std::move(subject));
  }
  absl::StatusOr<FilledForm> form = FillForm(kind, statement, answers, subjects);
  if (absl::IsFailedPrecondition(form.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat(flags.path, ": ", std::string(form.status().message())));
  }
  return form;
}

void Export(Invocation& invocation, const ExportFlags& flags) {
  const absl::StatusOr<FilledForm> form = Fill(flags);
  if (!form.ok()) return invocation.FailOffline(form.status());
  invocation.terminal().out << form->text;
  if (!form->blanks.empty()) {
    invocation.terminal().err << "Not stated, because no answer was given: "
                              << absl::StrJoin(form->blanks, ", ") << ".\n";
  }
}

}  // namespace

void AddStatementExport(CLI::App& statement, Invocation& invocation) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = statement.add_subcommand(
      "export",
      "Fill a form of others from a saved statement, after checking who signed it, as `statement "
      "verify` does. The form names the key. Nothing is made up: what the statement does not say "
      "comes from --answers, and what is not answered is said on standard error. Needs no server");
  command->fallthrough();
  command->add_option("file", flags->path, "written by `statement get --save`")->required();
  command
      ->add_option("--public-key", flags->public_key, "the server's key, from somebody you trust")
      ->type_name("HEX")
      ->required();
  command->add_option("--format", flags->format, absl::StrJoin(FormNames(), ", "))
      ->type_name("FORM")
      ->required();
  command
      ->add_option("--answers", flags->answers,
                   "a JSON object of what the ledger does not know: {\"name\": ..., "
                   "\"curators\": [...], ...}; a wrong key shows all")
      ->type_name("FILE");
  command
      ->add_option("--subject", flags->subjects,
                   "with in-toto: a file that the statement is about, such as the model; may be "
                   "repeated")
      ->type_name("FILE");
  command->footer(
      "Examples, where PUBLIC_KEY is what `server info` prints and its owner confirms:\n"
      "  epsctl statement export run-1.json --public-key \"$PUBLIC_KEY\" --format nist-800-226\n"
      "  epsctl statement export run-1.json --public-key \"$PUBLIC_KEY\" --format opendp-registry "
      "\\\n"
      "    --answers answers.json");
  command->callback([&invocation, flags] { Export(invocation, *flags); });
}

}  // namespace epsledger::cli
