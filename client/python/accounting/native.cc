// The calculator for Python: AccountingService in this process, JSON in and JSON out. It uses only
// Python's stable ABI (3.9), so that one file serves every later version.

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "google/protobuf/util/json_util.h"
#include "proto/bridge/accountant_readings.h"
#include "proto/bridge/compute.h"
#include "proto/bridge/curves.h"
#include "proto/bridge/json_message.h"

namespace {

using namespace epsledger;  // NOLINT: convert and v1

bool NobodyLeaves() { return false; }

template <class Request, class Ask>
absl::StatusOr<std::string> Answer(std::string_view text, Ask ask) {
  Request request;
  RETURN_IF_ERROR(bridge::ReadJsonObject(text, &request));
  ASSIGN_OR_RETURN(auto question, bridge::ToQuestion(request));
  ASSIGN_OR_RETURN(const auto answer, ask(question));
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(answer, &json).ok()) {
    return absl::InternalError("the answer cannot be written as JSON");
  }
  return json;
}

absl::StatusOr<std::string> AnswerCompute(std::string_view text) {
  v1::ComputeRequest request;
  RETURN_IF_ERROR(bridge::ParseJson(text, &request));
  ASSIGN_OR_RETURN(const v1::ComputeResponse response, bridge::Compute(request));
  return bridge::ToJsonLine(response);
}

absl::StatusOr<std::string> AnswerMethod(std::string_view method, std::string_view request) {
  if (method == "Compute") return AnswerCompute(request);
  if (method == "CompareAccountants") {
    return Answer<v1::CompareAccountantsRequest>(request, [](const auto& question) {
      return bridge::CompareAccountants(question, NobodyLeaves);
    });
  }
  if (method == "GetPrivacyProfile") {
    return Answer<v1::GetPrivacyProfileRequest>(request, [](const auto& question) {
      return bridge::PrivacyProfile(question, NobodyLeaves);
    });
  }
  if (method == "GetTradeOffCurve") {
    return Answer<v1::GetTradeOffCurveRequest>(request, [](const auto& question) {
      return bridge::TradeOffCurve(question, NobodyLeaves);
    });
  }
  return absl::InvalidArgumentError(absl::StrCat("method: got \"",
                                                 absl::string_view(method.data(), method.size()),
                                                 "\", want one of AccountingService"));
}

PyObject* Call(PyObject*, PyObject* arguments) {
  const char* method = nullptr;
  const char* request = nullptr;
  Py_ssize_t method_size = 0;
  Py_ssize_t request_size = 0;
  if (PyArg_ParseTuple(arguments, "y#y#:call", &method, &method_size, &request, &request_size) ==
      0) {
    return nullptr;
  }
  absl::StatusOr<std::string> answer = absl::InternalError("no answer");
  // The bytes belong to objects that the caller holds.
  Py_BEGIN_ALLOW_THREADS;
  answer = AnswerMethod({method, static_cast<size_t>(method_size)},
                        {request, static_cast<size_t>(request_size)});
  Py_END_ALLOW_THREADS;
  if (answer.ok()) {
    return PyBytes_FromStringAndSize(answer->data(), static_cast<Py_ssize_t>(answer->size()));
  }
  PyObject* kind = PyExc_RuntimeError;
  if (absl::IsInvalidArgument(answer.status()) || absl::IsFailedPrecondition(answer.status()) ||
      absl::IsOutOfRange(answer.status())) {
    kind = PyExc_ValueError;
  } else if (absl::IsUnimplemented(answer.status())) {
    kind = PyExc_NotImplementedError;
  }
  PyErr_SetString(kind, std::string(answer.status().message()).c_str());
  return nullptr;
}

PyMethodDef kMethods[] = {
    {"call", Call, METH_VARARGS,
     "call(method: bytes, request: bytes) -> bytes\n\n"
     "Answers a request of epsledger.v1.AccountingService, in proto3 JSON: Compute,\n"
     "CompareAccountants, GetPrivacyProfile or GetTradeOffCurve. Other threads run meanwhile.\n"
     "ValueError: the request is not valid; the message names the field, what it got and what it\n"
     "wants. NotImplementedError: no proved bound is known for such events."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef kModule = {PyModuleDef_HEAD_INIT,
                       "epsledger_accounting._native",
                       nullptr,
                       0,
                       kMethods,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__native() { return PyModuleDef_Init(&kModule); }
