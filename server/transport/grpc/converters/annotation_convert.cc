#include "server/transport/grpc/converters/annotation_convert.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/enum_convert.h"
#include "server/core/limits.h"
#include "server/core/sha256.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/output_only.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr const char* kDeploymentModels[] = {"Local", "Central", "Shuffle", "Federated"};

// Refuses text that a reader would take for none.
absl::Status CheckNotBlank(const std::string& field, const std::string& text) {
  if (text.empty() || !absl::StripAsciiWhitespace(text).empty()) return absl::OkStatus();
  return accounting::OutOfDomain(field, Shown(text), "more than spaces");
}

absl::Status CheckAnnotation(const v1::Annotation& annotation, const std::string& path) {
  RETURN_IF_ERROR(CheckOutputOnlyUnset(annotation, path));
  RETURN_IF_ERROR(bridge::CheckEnum(annotation.topic(), v1::Annotation::Topic_descriptor(),
                                    absl::StrCat(path, ".topic")));
  const std::string field = absl::StrCat(path, ".text");
  const std::string& text = annotation.text();
  RETURN_IF_ERROR(CheckText(field, text, 0, core::kMaxAnnotationBytes));
  RETURN_IF_ERROR(CheckNotBlank(field, text));
  if (annotation.topic() == v1::Annotation::DEPLOYMENT_MODEL && !text.empty() &&
      std::find(std::begin(kDeploymentModels), std::end(kDeploymentModels), text) ==
          std::end(kDeploymentModels)) {
    return accounting::OutOfDomain(field, Shown(text),
                                   absl::StrCat("one of ", absl::StrJoin(kDeploymentModels, ", ")));
  }
  return absl::OkStatus();
}

const Value& Member(const Struct& object, const char* key) {
  const auto it = object.fields().find(key);
  return it == object.fields().end() ? Value::default_instance() : it->second;
}

absl::Status OtherStatement(std::string_view what, const std::string& says,
                            const std::string& want) {
  return absl::InvalidArgumentError(absl::StrCat(
      "statementJson: it is of ", std::string(what), " ", Shown(says), ", and this is ",
      Shown(want), ": read the statement of this resource, and sign off that one"));
}

// What a statement says, read from its JSON. REQUIRES: this server signed it.
absl::Status ReadStatement(const std::string& json, const std::string& name,
                           const std::string& tenant, core::SignOff* sign_off,
                           core::SeenHead* head) {
  Struct said;
  if (!google::protobuf::util::JsonStringToMessage(json, &said).ok()) {
    return absl::InvalidArgumentError("statementJson: this is no JSON");
  }
  const std::string& resource =
      Member(Member(said, "resource").struct_value(), "name").string_value();
  if (resource != name) return OtherStatement("the resource", resource, name);
  const Struct& ledger = Member(said, "ledger").struct_value();
  const std::string& of_tenant = Member(ledger, "tenant").string_value();
  if (of_tenant != tenant) return OtherStatement("the tenant", of_tenant, tenant);
  sign_off->statement_sequence = static_cast<int64_t>(Member(ledger, "sequence").number_value());
  head->field = "statementJson";
  head->root_budget_id = Member(ledger, "rootBudget").string_value().substr(strlen("budgets/"));
  head->sequence = sign_off->statement_sequence;
  head->hash = absl::HexStringToBytes(Member(ledger, "hash").string_value());
  sign_off->delta = Member(said, "delta").number_value();
  const Value& epsilon = Member(Member(said, "epsilon").struct_value(), "epsilon");
  sign_off->epsilon = epsilon.kind_case() == Value::kNumberValue
                          ? epsilon.number_value()
                          : std::numeric_limits<double>::infinity();
  return absl::OkStatus();
}

void WriteSignOff(const core::RecordedSignOff& recorded, v1::SignOff* message) {
  const core::SignOff& sign_off = recorded.sign_off;
  message->set_signer(sign_off.signer);
  message->set_role(sign_off.role);
  message->set_comment(sign_off.comment);
  message->set_statement_sha256(sign_off.statement_sha256);
  message->set_statement_sequence(sign_off.statement_sequence);
  message->set_epsilon(sign_off.epsilon);
  message->set_delta(sign_off.delta);
  message->set_principal(recorded.by.principal);
  message->set_sequence(recorded.by.sequence);
  ToProto(recorded.by.time_micros, message->mutable_time());
}

}  // namespace

absl::StatusOr<core::Annotate> FromProto(const v1::UpdateAnnotationsRequest& request) {
  core::Annotate command;
  ASSIGN_OR_RETURN(command.resource, ParseResourceName("name", request.name()));
  if (request.annotations().empty()) {
    return accounting::OutOfDomain("annotations", "nothing", "at least one");
  }
  std::set<int> topics;
  for (int i = 0; i < request.annotations_size(); ++i) {
    const v1::Annotation& annotation = request.annotations(i);
    const std::string path = absl::StrCat("annotations[", i, "]");
    RETURN_IF_ERROR(CheckAnnotation(annotation, path));
    if (!topics.insert(annotation.topic()).second) {
      return accounting::OutOfDomain(absl::StrCat(path, ".topic"),
                                     v1::Annotation::Topic_Name(annotation.topic()),
                                     "each topic once");
    }
    command.topics.push_back({.topic = static_cast<core::AnnotationTopic>(annotation.topic()),
                              .text = annotation.text()});
  }
  return command;
}

absl::StatusOr<core::RecordSignOff> FromProto(const v1::RecordSignOffRequest& request,
                                              const statement::SigningKey& key,
                                              const std::string& tenant, core::SeenHead* head) {
  core::RecordSignOff command;
  ASSIGN_OR_RETURN(command.resource, ParseResourceName("name", request.name()));
  if (!request.has_sign_off()) {
    return accounting::OutOfDomain("signOff", "nothing", "who answers for the statement");
  }
  const v1::SignOff& sign_off = request.sign_off();
  RETURN_IF_ERROR(CheckOutputOnlyUnset(sign_off, "signOff"));
  RETURN_IF_ERROR(CheckText("signOff.signer", sign_off.signer(), 1, core::kMaxSignerBytes));
  RETURN_IF_ERROR(CheckText("signOff.role", sign_off.role(), 1, core::kMaxSignerBytes));
  RETURN_IF_ERROR(CheckNotBlank("signOff.signer", sign_off.signer()));
  RETURN_IF_ERROR(CheckNotBlank("signOff.role", sign_off.role()));
  RETURN_IF_ERROR(CheckText("signOff.comment", sign_off.comment(), 0, core::kMaxReasonBytes));
  command.sign_off.signer = sign_off.signer();
  command.sign_off.role = sign_off.role();
  command.sign_off.comment = sign_off.comment();
  const std::string& json = request.statement_json();
  if (!key.Verifies(json, request.signature())) {
    return absl::InvalidArgumentError(
        "signature: the present key of this server did not sign this JSON; read the "
        "statement again, and sign off that one");
  }
  RETURN_IF_ERROR(ReadStatement(json, request.name(), tenant, &command.sign_off, head));
  const core::Hash digest = core::Sha256({json});
  command.sign_off.statement_sha256.assign(digest.begin(), digest.end());
  return command;
}

core::Annotations PartOf(const core::Annotations& said, const core::AnnotationsOutcome& recorded) {
  core::Annotations part;
  for (const auto& [topic, text] : said.texts) {
    if (recorded.topics.count(topic) > 0) part.texts.emplace(topic, text);
  }
  for (const core::RecordedSignOff& sign_off : said.sign_offs) {
    if (recorded.sign_off == sign_off.sign_off) part.sign_offs.push_back(sign_off);
  }
  part.sign_off_count = said.sign_off_count;
  return part;
}

void ToProto(const core::SessionName& resource, const core::Annotations& said,
             v1::Annotations* message) {
  message->set_name(FormatResourceName(resource));
  for (const auto& [topic, recorded] : said.texts) {
    v1::Annotation& annotation = *message->add_annotations();
    annotation.set_topic(static_cast<v1::Annotation::Topic>(topic));
    annotation.set_text(recorded.text);
    annotation.set_principal(recorded.by.principal);
    annotation.set_sequence(recorded.by.sequence);
    ToProto(recorded.by.time_micros, annotation.mutable_time());
  }
  for (const core::RecordedSignOff& recorded : said.sign_offs) {
    WriteSignOff(recorded, message->add_sign_offs());
  }
  message->set_sign_off_count(said.sign_off_count);
}

}  // namespace epsledger::transport
