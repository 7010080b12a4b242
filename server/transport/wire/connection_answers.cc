// The answers of the calls of a connection, on their way to the client.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/transport/wire/connection.h"

namespace epsledger::transport::wire {
namespace {

constexpr char kContentType[] = "application/grpc";

nghttp2_nv Nv(std::string_view name, std::string_view value) {
  // nghttp2 copies both.
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

// Returns the headers of an answer. They repeat the client's name for the call and its trace; for a
// failed call, also the name that the server gave it.
std::vector<nghttp2_nv> AnswerHeaders(const std::string& request_id,
                                      const std::string& traceparent) {
  std::vector<nghttp2_nv> headers = {Nv(":status", "200"), Nv("content-type", kContentType)};
  if (!request_id.empty()) headers.push_back(Nv("x-request-id", request_id));
  if (!traceparent.empty()) headers.push_back(Nv("traceparent", traceparent));
  return headers;
}

// Returns true if the services give this status only to a known caller.
bool TellsOfAnAdmittedCaller(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::OUT_OF_RANGE:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Connection::OnAnswer(int32_t id, const std::string& message, bool more_follow) {
  mutex_.Lock();
  if (Stream* stream = Find(id); stream != nullptr && !stream->ended) {
    if (!stream->method->is_open) known_ = true;
    AddMessage(id, *stream, message);
    stream->owes_room = true;
    MakeRoom(*stream);
  }
  more_follow ? LeaveForMore() : Leave();
}

void Connection::OnEnd(int32_t id, const grpc::Status& status, const std::string* message) {
  mutex_.Lock();
  --calls_;
  --shared_->calls;
  if (Stream* stream = Find(id); stream != nullptr && !stream->ended) {
    if (!stream->method->is_open && TellsOfAnAdmittedCaller(status)) known_ = true;
    stream->call = nullptr;
    Expect(*stream, 0);
    if (message) AddMessage(id, *stream, *message);
    End(id, *stream, status);
  }
  // If other calls are open, their answers may come soon and can be sent together with this one.
  calls_ == 0 ? Leave() : LeaveForMore();
}

void Connection::SubmitAnswer(int32_t id, Stream& stream) {
  stream.headers_sent = true;
  const std::vector<nghttp2_nv> headers =
      AnswerHeaders(stream.headers.request_id(), stream.headers.traceparent());
  nghttp2_data_provider provider{.source = {}, .read_callback = OnAnswerWanted};
  nghttp2_submit_response(session_, id, headers.data(), headers.size(), &provider);
}

void Connection::AddMessage(int32_t id, Stream& stream, const std::string& message) {
  const std::string prefix = PrefixOf(message.size());
  if (stream.answer_sent > 0) {
    stream.answer.erase(0, stream.answer_sent);
    stream.answer_sent = 0;
  }
  stream.answer += prefix;
  stream.answer += message;
  untaken_bytes_ += prefix.size() + message.size();
  shared_->untaken_bytes += prefix.size() + message.size();
  if (!stream.headers_sent) return SubmitAnswer(id, stream);
  nghttp2_session_resume_data(session_, id);
}

void Connection::End(int32_t id, Stream& stream, const grpc::Status& status) {
  stream.ended = true;
  stream.progress_time = Clock::now();
  Expect(stream, 0);
  stream.trailers = TrailersOf(status);
  stream.requests.clear();
  stream.request_bytes = 0;
  stream.reader.reset();
  CountUnfinished(stream);
  if (stream.call != nullptr) {
    actions_.emplace_back([call = std::move(stream.call)] { call->OnGone(); });
    stream.call = nullptr;
  }
  if (stream.headers_sent) {
    nghttp2_session_resume_data(session_, id);
    return;
  }
  const std::string request_id =
      status.ok() ? stream.headers.request_id() : RequestIdOf(OriginOf(id, stream));
  std::vector<nghttp2_nv> headers = AnswerHeaders(request_id, stream.headers.traceparent());
  for (const auto& [name, value] : stream.trailers) headers.push_back(Nv(name, value));
  stream.headers_sent = true;
  nghttp2_submit_headers(session_, NGHTTP2_FLAG_END_STREAM, id, nullptr, headers.data(),
                         headers.size(), nullptr);
}

void Connection::EndAsHttp(int32_t id, Stream& stream, int http_status) {
  stream.ended = true;
  stream.progress_time = Clock::now();
  stream.headers_sent = true;
  const std::string code = absl::StrCat(http_status);
  const nghttp2_nv status = Nv(":status", code);
  nghttp2_submit_headers(session_, NGHTTP2_FLAG_END_STREAM, id, nullptr, &status, 1, nullptr);
}

ssize_t Connection::OnAnswerWanted(nghttp2_session* session, int32_t id, uint8_t* buffer,
                                   size_t bytes, uint32_t* flags, nghttp2_data_source*,
                                   void* self) {
  auto& connection = *static_cast<Connection*>(self);
  connection.mutex_.AssertHeld();
  Stream* stream = connection.Find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const size_t count = std::min(bytes, stream->answer.size() - stream->answer_sent);
  std::copy_n(stream->answer.data() + stream->answer_sent, count, buffer);
  stream->answer_sent += count;
  if (count > 0) stream->progress_time = Clock::now();
  connection.untaken_bytes_ -= count;
  connection.shared_->untaken_bytes -= count;
  if (stream->answer_sent < stream->answer.size()) return static_cast<ssize_t>(count);
  stream->answer.clear();
  stream->answer_sent = 0;
  if (!stream->ended) {
    connection.MakeRoom(*stream);
    return count > 0 ? static_cast<ssize_t>(count) : ssize_t{NGHTTP2_ERR_DEFERRED};
  }
  *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
  std::vector<nghttp2_nv> trailers;
  for (const auto& [name, value] : stream->trailers) trailers.push_back(Nv(name, value));
  nghttp2_submit_trailer(session, id, trailers.data(), trailers.size());
  return static_cast<ssize_t>(count);
}

}  // namespace epsledger::transport::wire
