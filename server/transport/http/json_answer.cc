#include "server/transport/http/json_answer.h"

#include <map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "epsledger/v1/charge.pb.h"
#include "google/protobuf/util/json_util.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace epsledger::transport {
namespace {

using Json = nlohmann::ordered_json;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

struct ConnectCode {
  const char* name;
  int http_status;
};

// The Connect protocol's table, https://connectrpc.com/docs/protocol#error-codes.
ConnectCode CodeOf(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      break;
    case grpc::StatusCode::CANCELLED:
      return {"canceled", 499};
    case grpc::StatusCode::UNKNOWN:
      return {"unknown", 500};
    case grpc::StatusCode::INVALID_ARGUMENT:
      return {"invalid_argument", 400};
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return {"deadline_exceeded", 504};
    case grpc::StatusCode::NOT_FOUND:
      return {"not_found", 404};
    case grpc::StatusCode::ALREADY_EXISTS:
      return {"already_exists", 409};
    case grpc::StatusCode::PERMISSION_DENIED:
      return {"permission_denied", 403};
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return {"resource_exhausted", 429};
    case grpc::StatusCode::FAILED_PRECONDITION:
      return {"failed_precondition", 400};
    case grpc::StatusCode::ABORTED:
      return {"aborted", 409};
    case grpc::StatusCode::OUT_OF_RANGE:
      return {"out_of_range", 400};
    case grpc::StatusCode::UNIMPLEMENTED:
      return {"unimplemented", 501};
    case grpc::StatusCode::INTERNAL:
      return {"internal", 500};
    case grpc::StatusCode::UNAVAILABLE:
      return {"unavailable", 503};
    case grpc::StatusCode::DATA_LOSS:
      return {"data_loss", 500};
    case grpc::StatusCode::UNAUTHENTICATED:
      return {"unauthenticated", 401};
    case grpc::StatusCode::DO_NOT_USE:
      break;
  }
  return {"internal", 500};
}

Json Detail(const google::protobuf::Any& any) {
  Json detail;
  const std::string type = any.type_url().substr(any.type_url().rfind('/') + 1);
  detail["type"] = type;
  // Connect wants base64 without padding.
  std::string value = absl::Base64Escape(any.value());
  while (!value.empty() && value.back() == '=') value.pop_back();
  detail["value"] = std::move(value);
  // The types of this server's details are linked in; any other detail has only the bytes.
  const Descriptor* descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  if (descriptor == nullptr) return detail;
  const std::unique_ptr<Message> message(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
  if (message->ParseFromString(any.value())) {
    detail["debug"] = Json::parse(ToJson(*message), nullptr, false);
  }
  return detail;
}

// A line of CSV under construction: JSON path and value.
using Leaves = std::vector<std::pair<std::string, Json>>;

void Flatten(const std::string& path, const Json& value, Leaves* leaves) {
  if (!value.is_object()) return leaves->emplace_back(path, value), void();
  for (const auto& [key, inner] : value.items()) {
    Flatten(path.empty() ? key : absl::StrCat(path, ".", key), inner, leaves);
  }
}

std::string CsvField(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (value.is_string() && !text.empty() &&
      std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) {
    double number = 0;  // "-12" is a 64-bit integer, not a formula
    if (!absl::SimpleAtod(text, &number)) text.insert(0, "'");
  }
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

const FieldDescriptor* RowsOf(const Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (field->is_repeated() && !field->is_map() &&
        field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return field;
    }
  }
  return nullptr;
}

// Returns the columns that every row would have, so that a reader finds the columns even without
// rows.
std::vector<std::string> ColumnsWithoutRows(const Descriptor& type) {
  std::vector<std::string> columns;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE || field->has_presence()) continue;
    columns.push_back(field->json_name());
  }
  return columns;
}

}  // namespace

std::string ToJson(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string json;
  // This fails for an Any of a type that is not linked in, and for texts that are not UTF-8; the
  // handlers of this server produce neither.
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return "{}";
  return json;
}

HttpResponse JsonAnswer(const Message& message) {
  HttpResponse response;
  response.content_type = "application/json";
  response.body = ToJson(message);
  return response;
}

HttpResponse ErrorAnswer(const grpc::Status& status) {
  const ConnectCode code = CodeOf(status.error_code());
  Json body;
  body["code"] = code.name;
  body["message"] = status.error_message();
  google::rpc::Status details;
  if (!status.error_details().empty() && details.ParseFromString(status.error_details())) {
    for (const auto& any : details.details()) body["details"].push_back(Detail(any));
  }
  HttpResponse response;
  response.status = code.http_status;
  response.content_type = "application/json";
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (code.http_status == 401) response.headers.emplace_back("www-authenticate", "Bearer");
  return response;
}

HttpResponse CsvAnswer(const Message& message) {
  const Json whole = Json::parse(ToJson(message), nullptr, false);
  Json rows = Json::array();
  std::vector<std::string> columns;
  if (const FieldDescriptor* field = RowsOf(*message.GetDescriptor())) {
    const auto found = whole.find(field->json_name());
    if (found != whole.end()) rows = *found;
    if (rows.empty()) columns = ColumnsWithoutRows(*field->message_type());
  } else {
    rows.push_back(whole);
  }
  std::vector<Leaves> lines;
  std::map<std::string, size_t> column_of;
  for (const Json& row : rows) {
    Flatten("", row, &lines.emplace_back());
    for (const auto& [path, value] : lines.back()) {
      if (column_of.emplace(path, columns.size()).second) columns.push_back(path);
    }
  }
  std::string text;
  for (const std::string& column : columns) {
    absl::StrAppend(&text, text.empty() ? "" : ",", CsvField(column));
  }
  if (!text.empty()) absl::StrAppend(&text, "\r\n");
  for (const Leaves& line : lines) {
    std::vector<std::string> fields(columns.size());
    for (const auto& [path, value] : line) fields[column_of[path]] = CsvField(value);
    absl::StrAppend(&text, absl::StrJoin(fields, ","), "\r\n");
  }
  HttpResponse response;
  response.content_type = "text/csv; charset=utf-8; header=present";
  response.body = std::move(text);
  return response;
}

}  // namespace epsledger::transport
