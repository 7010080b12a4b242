#include "server/transport/http/openapi.h"

#include <set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "epsledger/v1/budget_service.pb.h"
#include "google/protobuf/descriptor.h"
#include "proto/bridge/field_behavior.h"
#include "server/transport/http/rest_routes.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {
namespace {

using Json = nlohmann::ordered_json;
using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::MethodDescriptor;

// "epsledger.v1.Session.State" is the component "Session.State".
std::string ComponentName(const std::string& full_name) {
  return absl::StrReplaceAll(full_name, {{"epsledger.v1.", ""}});
}

Json Reference(const std::string& component) {
  return {{"$ref", absl::StrCat("#/components/schemas/", component)}};
}

Json EnumSchema(const EnumDescriptor& type) {
  Json values = Json::array();
  for (int i = 0; i < type.value_count(); ++i) values.push_back(type.value(i)->name());
  return {{"type", "string"}, {"enum", values}};
}

// Messages whose JSON does not consist of their fields.
std::optional<Json> WellKnownSchema(const Descriptor& type) {
  const std::string& name = type.full_name();
  if (name == "google.protobuf.Timestamp") return Json{{"type", "string"}, {"format", "date-time"}};
  if (name == "google.protobuf.Duration")
    return Json{{"type", "string"}, {"pattern", "^-?[0-9.]+s$"}};
  if (name == "google.protobuf.FieldMask") return Json{{"type", "string"}};
  if (name == "google.protobuf.Any") return Json{{"type", "object"}};
  return std::nullopt;
}

bool IsRequired(const FieldDescriptor& field) {
  return bridge::HasBehavior(field, google::api::REQUIRED);
}

// Returns the required fields of a request. A resource is also an answer, where some fields may be
// missing.
Json RequiredOf(const Descriptor& type) {
  Json names = Json::array();
  for (int i = 0; i < type.field_count() && absl::EndsWith(type.name(), "Request"); ++i) {
    if (IsRequired(*type.field(i))) names.push_back(type.field(i)->json_name());
  }
  return names;
}

// Proto3 JSON, https://protobuf.dev/programming-guides/json.
class Schemas {
 public:
  Json Of(const FieldDescriptor& field) {
    if (field.is_map()) {
      return {{"type", "object"}, {"additionalProperties", Of(*field.message_type()->map_value())}};
    }
    Json one = OfOne(field);
    if (!field.is_repeated()) return one;
    return {{"type", "array"}, {"items", std::move(one)}};
  }

  Json Of(const Descriptor& type) {
    if (std::optional<Json> known = WellKnownSchema(type)) return *std::move(known);
    const std::string name = ComponentName(type.full_name());
    if (named_.insert(name).second) {
      Json properties = Json::object();
      for (int i = 0; i < type.field_count(); ++i) {
        properties[type.field(i)->json_name()] = Of(*type.field(i));
      }
      components_[name] = {
          {"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
      if (Json required = RequiredOf(type); !required.empty()) {
        components_[name]["required"] = std::move(required);
      }
    }
    return Reference(name);
  }

  Json components() const { return components_; }
  void Add(const std::string& name, Json schema) { components_[name] = std::move(schema); }
  const Json& Component(const std::string& name) { return components_[name]; }

 private:
  Json OfOne(const FieldDescriptor& field) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
      case FieldDescriptor::CPPTYPE_UINT32:
        return {{"type", "integer"}};
      case FieldDescriptor::CPPTYPE_INT64:
      case FieldDescriptor::CPPTYPE_UINT64:
        return {{"type", "string"}, {"pattern", "^-?[0-9]+$"}};
      case FieldDescriptor::CPPTYPE_DOUBLE:
      case FieldDescriptor::CPPTYPE_FLOAT:
        Add("Number", {{"description", "A number; what JSON has no number for is a text."},
                       {"oneOf",
                        {{{"type", "number"}},
                         {{"type", "string"}, {"enum", {"Infinity", "-Infinity", "NaN"}}}}}});
        return Reference("Number");
      case FieldDescriptor::CPPTYPE_BOOL:
        return {{"type", "boolean"}};
      case FieldDescriptor::CPPTYPE_ENUM: {
        const std::string name = ComponentName(field.enum_type()->full_name());
        if (named_.insert(name).second) components_[name] = EnumSchema(*field.enum_type());
        return Reference(name);
      }
      case FieldDescriptor::CPPTYPE_STRING:
        if (field.type() == FieldDescriptor::TYPE_BYTES) {
          return {{"type", "string"}, {"contentEncoding", "base64"}};
        }
        return {{"type", "string"}};
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Of(*field.message_type());
    }
    return Json::object();
  }

  std::set<std::string> named_;
  Json components_ = Json::object();
};

Json ErrorResponses() {
  const auto refer = [](const char* name) {
    return Json{{"$ref", absl::StrCat("#/components/responses/", name)}};
  };
  return {{"400", refer("BadRequest")},
          {"401", refer("Unauthenticated")},
          {"403", refer("PermissionDenied")},
          {"404", refer("NotFound")},
          {"default", refer("Error")}};
}

Json With(Json responses, const std::string& status, Json response) {
  responses[status] = std::move(response);
  return responses;
}

Json JsonContent(Json schema) { return {{"application/json", {{"schema", std::move(schema)}}}}; }

Json TextAnswer(const char* description) {
  return {{"description", description},
          {"content", {{"text/plain", {{"schema", {{"type", "string"}}}}}}}};
}

std::string OperationId(const std::string& prefix, const std::string& name) {
  return absl::StrCat(
      prefix,
      absl::StrReplaceAll(name, {{"/", "_"}, {"{", ""}, {"}", ""}, {".", "_"}, {"-", "_"}}));
}

Json RestOperation(const RestRoute& route, Schemas* schemas) {
  Json parameters = Json::array();
  for (const absl::string_view segment : absl::StrSplit(route.path, '/')) {
    if (segment.empty() || segment.front() != '{') continue;
    parameters.push_back({{"name", std::string(segment.substr(1, segment.size() - 2))},
                          {"in", "path"},
                          {"required", true},
                          {"schema", {{"type", "string"}, {"pattern", "^[a-z0-9][a-z0-9._-]*$"}}}});
  }
  for (const QueryField& field : QueryFields(route)) {
    parameters.push_back(
        {{"name", field.name}, {"in", "query"}, {"schema", schemas->Of(*field.field)}});
    if (IsRequired(*field.field)) parameters.back()["required"] = true;
  }
  parameters.push_back({{"name", "format"},
                        {"in", "query"},
                        {"schema", {{"type", "string"}, {"enum", {"json", "csv"}}}}});
  const MethodDescriptor& method = *RpcGateway::FindUnaryMethod(route.method);
  Json content = JsonContent(schemas->Of(*method.output_type()));
  content["text/csv"] = {{"schema", {{"type", "string"}}}};
  return {{"summary", route.summary},
          {"operationId", OperationId("get", route.path)},
          {"tags", {"read"}},
          {"parameters", parameters},
          {"responses",
           With(ErrorResponses(), "200", {{"description", route.summary}, {"content", content}})}};
}

Json RpcOperation(const MethodDescriptor& method, Schemas* schemas) {
  return {{"summary", absl::StrCat(method.service()->name(), ".", method.name())},
          {"operationId", OperationId("call_", method.full_name())},
          {"tags", {method.service()->name()}},
          {"requestBody",
           {{"required", true}, {"content", JsonContent(schemas->Of(*method.input_type()))}}},
          {"responses", With(ErrorResponses(), "200",
                             {{"description", method.output_type()->name()},
                              {"content", JsonContent(schemas->Of(*method.output_type()))}})}};
}

// The data of the events of /v1/events: a change, and the watched resource that it belongs to.
Json EventDataSchema(Schemas* schemas) {
  schemas->Of(*v1::LedgerChange::descriptor());
  Json schema = schemas->Component("LedgerChange");
  schema["properties"]["watched"] = {{"type", "string"}};
  schema["required"] = {"watched"};
  schemas->Add("WatchedChange", std::move(schema));
  return Reference("WatchedChange");
}

void AddOperations(Json* paths) {
  const auto get = [](const char* summary, const char* id, Json responses) {
    return Json{{"get",
                 {{"summary", summary},
                  {"operationId", id},
                  {"tags", {"operations"}},
                  {"security", Json::array()},
                  {"responses", std::move(responses)}}}};
  };
  (*paths)["/healthz"] =
      get("The process answers", "getHealth",
          {{"200", TextAnswer("It does")}, {"default", TextAnswer("It does not")}});
  (*paths)["/readyz"] = get("A charge would be taken", "getReadiness",
                            {{"200", TextAnswer("It does")}, {"503", TextAnswer("Why not")}});
  (*paths)["/metrics"] = get("Metrics for Prometheus", "getMetrics",
                             {{"200", TextAnswer("Prometheus' text format")},
                              {"default", TextAnswer("They cannot be read")}});
  (*paths)["/openapi.json"] = get(
      "This document", "getOpenApi",
      {{"200", {{"description", "This document"}, {"content", JsonContent({{"type", "object"}})}}},
       {"default", TextAnswer("It cannot be read")}});
}

void AddEvents(Json* paths, Schemas* schemas) {
  const Json text = {{"type", "string"}};
  const Json texts = {{"type", "array"}, {"items", text}};
  const auto parameter = [](const char* name, const char* in, const char* description,
                            const Json& schema) {
    return Json{{"name", name}, {"in", in}, {"description", description}, {"schema", schema}};
  };
  (*paths)["/v1/events"]["get"] = {
      {"summary", "Changes of the ledger as they happen, as server-sent events"},
      {"operationId", "watchEvents"},
      {"tags", {"read"}},
      {"parameters",
       {parameter("budget", "query", "Budgets to watch; all roots if nothing is named", texts),
        parameter("session", "query", "Sessions to watch, budgets/{budget}/sessions/{session}",
                  texts),
        parameter("after", "query", "Start after this sequence number",
                  {{"type", "string"}, {"pattern", "^[0-9]+$"}}),
        parameter("lastEventId", "query", "As the header", text),
        parameter("last-event-id", "header", "The id of the last event that was seen", text)}},
      {"responses",
       With(
           ErrorResponses(), "200",
           {{"description",
             "Events without an end, each named by the field of its change that is set, their data "
             "as in x-event-data; a bookmark says by its id how far the ledger is"},
            {"content",
             {{"text/event-stream",
               {{"schema", text}, {"x-event-data", EventDataSchema(schemas)}}}}}})}};
}

void AddLogins(Json* paths) {
  (*paths)["/v1/login"]["post"] = {
      {"summary", "Keep a login of a token in a cookie that scripts cannot read"},
      {"operationId", "logIn"},
      {"tags", {"operations"}},
      {"security", Json::array()},
      {"requestBody",
       {{"required", true},
        {"content", JsonContent({{"type", "object"},
                                 {"required", {"token"}},
                                 {"properties", {{"token", {{"type", "string"}}}}}})}}},
      {"responses", With(ErrorResponses(), "200",
                         {{"description", "Who the token is of"},
                          {"content", JsonContent(Reference("Caller"))}})}};
  (*paths)["/v1/logout"]["post"] = {
      {"summary", "End that login, and clear the cookie"},
      {"operationId", "logOut"},
      {"tags", {"operations"}},
      {"security", Json::array()},
      {"responses",
       With(ErrorResponses(), "200",
            {{"description", "Cleared"}, {"content", JsonContent({{"type", "object"}})}})}};
}

Json MakeDocument() {
  Schemas schemas;
  schemas.Add("Error", {{"type", "object"},
                        {"required", {"code", "message"}},
                        {"properties",
                         {{"code", {{"type", "string"}}},
                          {"message", {{"type", "string"}}},
                          {"details", {{"type", "array"}, {"items", {{"type", "object"}}}}}}}});
  Json paths = Json::object();
  for (const RestRoute& route : RestRoutes()) {
    paths[route.path]["get"] = RestOperation(route, &schemas);
  }
  AddOperations(&paths);
  AddEvents(&paths, &schemas);
  AddLogins(&paths);
  for (const MethodDescriptor* method : RpcGateway::UnaryMethods()) {
    const std::string path = absl::StrCat("/", method->service()->full_name(), "/", method->name());
    paths[path]["post"] = RpcOperation(*method, &schemas);
  }
  const auto error = [](const char* description) {
    return Json{{"description", description}, {"content", JsonContent(Reference("Error"))}};
  };
  Json document;
  document["openapi"] = "3.1.0";
  document["info"] = {
      {"title", "epsledger"},
      {"version", "v1"},
      {"summary", "A ledger of privacy budgets"},
      {"description",
       "Every RPC of epsledger.v1 in the Connect protocol, and bookmarkable reads under /v1. "
       "Errors "
       "carry a code and a message; refused charges are failed_precondition with the reason in "
       "their details."},
      {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}};
  document["servers"] = Json::array({{{"url", "/"}}});
  document["security"] = Json::array({{{"token", Json::array()}}, {{"cookie", Json::array()}}});
  document["paths"] = std::move(paths);
  document["components"]["schemas"] = schemas.components();
  document["components"]["responses"] = {
      {"BadRequest", error("What is asked for is not well said")},
      {"Unauthenticated", error("A token is wanted")},
      {"PermissionDenied", error("The role is too small")},
      {"NotFound", error("There is nothing of that name")},
      {"Error", error("Any other error")}};
  document["components"]["securitySchemes"] = {
      {"token", {{"type", "http"}, {"scheme", "bearer"}}},
      {"cookie", {{"type", "apiKey"}, {"in", "cookie"}, {"name", "__Host-epsledger_token"}}}};
  return document;
}

}  // namespace

const std::string& OpenApiDocument() {
  static const auto& document = *new std::string(MakeDocument().dump());
  return document;
}

}  // namespace epsledger::transport
