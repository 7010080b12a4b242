#include "client/cli/flags/attempt_flags.h"

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/flags/label_flags.h"

namespace epsledger::cli {

void AttemptFlags::AddTo(CLI::App& command) {
  command.add_option("--attempt", attempt, "charge under this attempt")->type_name("N");
  CLI::Option* open =
      command.add_flag("--open-attempt", open_attempt,
                       "open a new attempt; all earlier ones are refused from then on");
  const char* group = "Provenance (with --open-attempt)";
  command.add_option("--sampler", sampler, "how batches are drawn")
      ->type_name("SAMPLER")
      ->check(CLI::IsMember(SamplerNames()))
      ->needs(open)
      ->group(group);
  command.add_option("--clip-norm", clip_norm, "the largest contribution of one record")
      ->type_name("X")
      ->needs(open)
      ->group(group);
  command.add_option("--library", library, "the library that draws the noise")
      ->type_name("NAME")
      ->needs(open)
      ->group(group);
  command.add_option("--library-version", library_version, "the version of that library")
      ->type_name("VERSION")
      ->needs(open)
      ->group(group);
  command
      .add_option("--normalizer", normalizer,
                  "what the noisy sum is divided by; not said is never taken for a public number")
      ->type_name("NORMALIZER")
      ->check(CLI::IsMember(NormalizerNames()))
      ->needs(open)
      ->group(group);
}

v1::Provenance AttemptFlags::Declared() const {
  v1::Provenance provenance;
  if (!sampler.empty()) provenance.set_sampler(SamplerNamed(sampler));
  provenance.set_clip_norm(clip_norm);
  provenance.set_library(library);
  provenance.set_library_version(library_version);
  if (!normalizer.empty()) provenance.set_normalizer(NormalizerNamed(normalizer));
  return provenance;
}

std::optional<std::string> AttemptFlags::AttemptName(Invocation& invocation,
                                                     const std::string& session) const {
  if (attempt.has_value() == open_attempt) {
    invocation.Fail(
        absl::InvalidArgumentError(
            "attempt: want either --attempt N (epsctl session get shows the newest), or "
            "--open-attempt, which fences the process that is training in this session"),
        CallKind::kRead);
    return std::nullopt;
  }
  if (attempt.has_value()) return absl::StrCat(session, "/attempts/", *attempt);
  v1::OpenAttemptRequest request;
  request.set_session(session);
  request.set_client_description("epsctl");
  *request.mutable_provenance() = Declared();
  const auto opened =
      invocation.Call(&Connection::sessions, &v1::SessionService::StubInterface::OpenAttempt,
                      request, CallKind::kWrite);
  if (opened == nullptr) return std::nullopt;
  return opened->name();
}

std::string MakeKey() {
  absl::BitGen random;
  return absl::StrFormat("epsctl-%016x", absl::Uniform<uint64_t>(random));
}

}  // namespace epsledger::cli
