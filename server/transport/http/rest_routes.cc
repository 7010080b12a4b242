#include "server/transport/http/rest_routes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/util/json_util.h"
#include "server/transport/http/http_caller.h"
#include "server/transport/http/json_answer.h"

namespace epsledger::transport {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr char kFormat[] = "format";
// How much of a wrong name an error repeats.
constexpr size_t kShownBytes = 64;

struct Match {
  const RestRoute* route = nullptr;
  std::string resource;  // "budgets/adult/sessions/first"
};

// The segments of a path, without the empty one before its first slash.
std::vector<std::string> Segments(std::string_view path) {
  std::vector<std::string> segments =
      absl::StrSplit(absl::string_view(path.data(), path.size()), '/');
  segments.erase(segments.begin());
  return segments;
}

bool IsVariable(const std::string& segment) { return segment.front() == '{'; }

std::optional<Match> Find(std::string_view path) {
  const std::vector<std::string> got = Segments(path);
  for (const RestRoute& route : RestRoutes()) {
    const std::vector<std::string> want = Segments(route.path);
    if (want.size() != got.size()) continue;
    size_t last_variable = 0;
    bool equal = true;
    for (size_t i = 0; i < want.size() && equal; ++i) {
      if (IsVariable(want[i])) {
        last_variable = i;
        equal = !got[i].empty();
      } else {
        equal = want[i] == got[i];
      }
    }
    if (!equal) continue;
    Match match{.route = &route, .resource = {}};
    // Without the leading version, and up to the last variable.
    if (last_variable > 0) {
      match.resource = absl::StrJoin(got.begin() + 1, got.begin() + last_variable + 1, "/");
    }
    return match;
  }
  return std::nullopt;
}

const MethodDescriptor& MethodOf(const RestRoute& route) {
  return *RpcGateway::FindUnaryMethod(route.method);
}

bool WantsCsv(const HttpRequest& request, const std::string& format) {
  return format == "csv" || (format.empty() && request.Header("accept") == "text/csv");
}

// Returns true for messages whose JSON is a text: https://protobuf.dev/programming-guides/json.
bool IsText(const google::protobuf::Descriptor& type) {
  return type.full_name() == "google.protobuf.Duration" ||
         type.full_name() == "google.protobuf.Timestamp";
}

HttpResponse BadParameter(const std::string& name, std::string_view want) {
  return HttpError(400, "invalid_argument",
                   absl::StrCat("query: ", name.substr(0, kShownBytes), ": ",
                                absl::string_view(want.data(), want.size())));
}

// What a path and its query ask for.
struct RestQuery {
  // The request as JSON, whose parser knows numbers, enum values and their bounds.
  nlohmann::ordered_json request = nlohmann::ordered_json::object();
  std::string format;  // "json", "csv" or empty
};

// Returns the answer if a parameter is wrong.
std::optional<HttpResponse> ReadQuery(
    const Match& match, const std::vector<std::pair<std::string, std::string>>& parameters,
    RestQuery* query) {
  nlohmann::ordered_json& json = query->request;
  if (!match.route->path_field.empty()) json[match.route->path_field] = match.resource;
  const std::vector<QueryField> fields = QueryFields(*match.route);
  for (const auto& [name, value] : parameters) {
    if (name == kFormat) {
      if (value != "json" && value != "csv") return BadParameter(name, "want json or csv");
      query->format = value;
      continue;
    }
    const auto known = std::find_if(fields.begin(), fields.end(),
                                    [&name = name](const QueryField& f) { return f.name == name; });
    if (known == fields.end()) {
      const std::string names = absl::StrJoin(
          fields, "", [](std::string* out, const QueryField& f) { *out += f.name + ", "; });
      return BadParameter(name, absl::StrCat("is not known here; known: ", names, "format"));
    }
    const std::vector<std::string> path = absl::StrSplit(name, '.');
    nlohmann::ordered_json& at = path.size() == 2 ? json[path[0]][path[1]] : json[name];
    if (known->field->is_repeated()) {
      at.push_back(value);
    } else if (!at.is_null()) {
      return BadParameter(name, "given twice");
    } else {
      at = value;
    }
  }
  return std::nullopt;
}

}  // namespace

const std::vector<RestRoute>& RestRoutes() {
  static const auto& routes = *new std::vector<RestRoute>{
      {"/v1/server", "epsledger.v1.ServerService.GetServerInfo", "", "The server and its ledger"},
      {"/v1/caller", "epsledger.v1.AccessService.GetCaller", "", "Who calls, and their role"},
      {"/v1/budgets", "epsledger.v1.BudgetService.ListBudgets", "", "All budgets"},
      {"/v1/budget-readings", "epsledger.v1.BudgetService.ListBudgetReadings", "",
       "All budgets, each with its epsilon and activity"},
      {"/v1/budgets/{budget}", "epsledger.v1.BudgetService.GetBudget", "name", "One budget"},
      {"/v1/budgets/{budget}/tree", "epsledger.v1.BudgetService.GetBudgetTree", "name",
       "A budget and all below it"},
      {"/v1/budgets/{budget}/guarantees", "epsledger.v1.BudgetService.GetBudgetGuarantees", "name",
       "Epsilon of all that was charged to a budget, under every accountant"},
      {"/v1/budgets/{budget}/activity", "epsledger.v1.BudgetService.GetBudgetActivity", "name",
       "When a budget was last charged, and how much was refused lately"},
      {"/v1/budgets/{budget}/refusals", "epsledger.v1.ChargeService.ListRefusals", "parent",
       "What was refused below a budget, newest first"},
      {"/v1/budgets/{budget}/proposals", "epsledger.v1.ProposalService.ListProposals", "parent",
       "Changes that one person proposed for a budget or below it"},
      {"/v1/budgets/{budget}/proposals/{proposal}", "epsledger.v1.ProposalService.GetProposal",
       "name", "One proposal"},
      {"/v1/budgets/{budget}/statement", "epsledger.v1.AuditService.GetPrivacyStatement", "name",
       "The signed privacy statement of a budget"},
      {"/v1/budgets/{budget}/annotations", "epsledger.v1.AuditService.GetAnnotations", "name",
       "What people say about a budget for official forms, and who signed it off"},
      {"/v1/budgets/{budget}/head", "epsledger.v1.AuditService.GetLedgerHead", "budget",
       "The newest entry of a root budget's ledger"},
      {"/v1/budgets/{budget}/entries", "epsledger.v1.AuditService.ListAuditEntries", "budget",
       "The entries of a root budget's ledger"},
      {"/v1/budgets/{budget}/sessions", "epsledger.v1.SessionService.ListSessions", "parent",
       "The sessions of a budget"},
      {"/v1/budgets/{budget}/session-readings", "epsledger.v1.SessionService.ListSessionReadings",
       "parent", "The sessions of a budget, each with its epsilon, ordered and searched"},
      {"/v1/budgets/{budget}/sessions/{session}", "epsledger.v1.SessionService.GetSession", "name",
       "One session"},
      {"/v1/budgets/{budget}/sessions/{session}/guarantees",
       "epsledger.v1.SessionService.GetSessionGuarantees", "name",
       "Epsilon of what a session was charged, under every accountant"},
      {"/v1/budgets/{budget}/sessions/{session}/history",
       "epsledger.v1.SessionService.GetSessionHistory", "name",
       "What a session was charged, run-length encoded"},
      {"/v1/budgets/{budget}/sessions/{session}/series",
       "epsledger.v1.SessionService.GetSessionSeries", "name",
       "Epsilon after every so many steps, and what is ahead"},
      {"/v1/budgets/{budget}/sessions/{session}/charges", "epsledger.v1.ChargeService.ListCharges",
       "parent", "The charges of a session, refusals included"},
      {"/v1/budgets/{budget}/sessions/{session}/profile",
       "epsledger.v1.SessionService.GetSessionPrivacyProfile", "name",
       "Delta as a function of epsilon"},
      {"/v1/budgets/{budget}/sessions/{session}/trade-off-curve",
       "epsledger.v1.SessionService.GetSessionTradeOffCurve", "name",
       "The smallest type II error as a function of the type I error"},
      {"/v1/budgets/{budget}/sessions/{session}/statement",
       "epsledger.v1.AuditService.GetPrivacyStatement", "name",
       "The signed privacy statement of a session"},
      {"/v1/budgets/{budget}/sessions/{session}/annotations",
       "epsledger.v1.AuditService.GetAnnotations", "name",
       "What people say about a session for official forms, and who signed it off"},
      {"/v1/denials", "epsledger.v1.AuditService.ListDenials", "",
       "Calls that access control denied"},
  };
  return routes;
}

std::vector<QueryField> QueryFields(const RestRoute& route) {
  std::vector<QueryField> fields;
  const google::protobuf::Descriptor& type = *MethodOf(route).input_type();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (field->json_name() == route.path_field) continue;
    // A Duration is one text, "3600s", in JSON and here.
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || IsText(*field->message_type())) {
      fields.push_back({field->json_name(), field});
      continue;
    }
    for (int j = 0; j < field->message_type()->field_count(); ++j) {
      const FieldDescriptor* inner = field->message_type()->field(j);
      if (inner->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) continue;
      fields.push_back({absl::StrCat(field->json_name(), ".", inner->json_name()), inner});
    }
  }
  return fields;
}

void AnswerRest(RpcGateway& gateway, const HttpRequest& request, HttpReply reply) {
  const std::optional<Match> match = Find(request.path);
  if (!match.has_value()) {
    return std::move(reply)(HttpError(404, "not_found", "there is nothing here"));
  }
  if (request.method != "GET") {
    HttpResponse response = HttpError(405, "unimplemented", "only GET is answered here");
    response.headers.emplace_back("allow", "GET, HEAD");
    return std::move(reply)(std::move(response));
  }
  const auto parameters = QueryParameters(request.query);
  if (!parameters.has_value()) {
    return std::move(reply)(HttpError(400, "invalid_argument", "the query is not one"));
  }
  RestQuery query;
  if (std::optional<HttpResponse> refusal = ReadQuery(*match, *parameters, &query)) {
    return std::move(reply)(*std::move(refusal));
  }
  const absl::StatusOr<HttpCaller> caller = CallerOf(request);
  if (!caller.ok()) {
    return std::move(reply)(
        HttpError(403, "permission_denied", std::string(caller.status().message())));
  }
  const MethodDescriptor& method = MethodOf(*match->route);
  const std::unique_ptr<Message> message = RpcGateway::NewRequest(method);
  const auto parsed = google::protobuf::util::JsonStringToMessage(
      query.request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), message.get());
  if (!parsed.ok()) {
    return std::move(reply)(
        HttpError(400, "invalid_argument",
                  absl::StrCat("query: ", std::string(parsed.message()).substr(0, 256))));
  }
  gateway.Call(method, *message, *caller, kPatience,
               [csv = WantsCsv(request, query.format), reply = std::move(reply)](
                   const grpc::Status& status, std::unique_ptr<Message> answer) mutable {
                 if (!status.ok()) return std::move(reply)(ErrorAnswer(status));
                 std::move(reply)(csv ? CsvAnswer(*answer) : JsonAnswer(*answer));
               });
}

}  // namespace epsledger::transport
