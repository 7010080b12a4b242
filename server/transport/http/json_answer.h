#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_JSON_ANSWER_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_JSON_ANSWER_H_

#include <string>

#include "google/protobuf/message.h"
#include "grpcpp/support/status.h"
#include "server/transport/http/http_message.h"

namespace epsledger::transport {

// Returns the proto3 JSON of a message, on one line: fields in lowerCamelCase, 64-bit integers as
// strings, fields with zero numbers and empty texts included.
std::string ToJson(const google::protobuf::Message& message);

// Returns 200 with the message as JSON.
HttpResponse JsonAnswer(const google::protobuf::Message& message);

// Returns an error of an RPC in the Connect protocol: its HTTP status, {"code":
// "failed_precondition", "message": ..., "details": [{"type": "google.rpc.ErrorInfo", "value":
// base64 of the bytes, "debug": the same as JSON}]}.
HttpResponse ErrorAnswer(const grpc::Status& status);

// Returns the message as CSV (RFC 4180) with a header: one line for each element of its first
// repeated field of messages, or one line for the message itself if it has no such field. Columns
// are the JSON paths of the values ("cap.approximateDp.epsilon") of all lines; nested lists are
// JSON. An apostrophe precedes texts that a spreadsheet would run as a formula.
HttpResponse CsvAnswer(const google::protobuf::Message& message);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_JSON_ANSWER_H_
