#include "tests/fuzz/http2_frames.h"

#include <algorithm>

namespace epsledger::fuzz {
namespace {

constexpr size_t kFrameHeaderBytes = 9;

void AppendBigEndian(uint32_t value, int bytes, std::string* out) {
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint32_t ReadBigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

// HPACK, RFC 7541: a text without Huffman coding. REQUIRES: below 127 bytes.
std::string Text(std::string_view text) {
  return static_cast<char>(text.size()) + std::string(text);
}

}  // namespace

std::string WriteHttp2(const std::vector<Http2Frame>& frames) {
  std::string bytes(kHttp2Preface);
  for (const Http2Frame& frame : frames) {
    AppendBigEndian(static_cast<uint32_t>(frame.payload.size()), 3, &bytes);
    bytes.push_back(static_cast<char>(frame.type));
    bytes.push_back(static_cast<char>(frame.flags));
    AppendBigEndian(frame.stream, 4, &bytes);
    bytes += frame.payload;
  }
  return bytes;
}

std::vector<Http2Frame> ReadHttp2(std::string_view bytes) {
  std::vector<Http2Frame> frames;
  bytes.remove_prefix(std::min(bytes.size(), kHttp2Preface.size()));
  while (bytes.size() >= kFrameHeaderBytes) {
    const size_t length = ReadBigEndian(bytes.substr(0, 3));
    Http2Frame frame{.type = static_cast<uint8_t>(bytes[3]),
                     .flags = static_cast<uint8_t>(bytes[4]),
                     .stream = ReadBigEndian(bytes.substr(5, 4)),
                     .payload = std::string(bytes.substr(kFrameHeaderBytes, length))};
    bytes.remove_prefix(kFrameHeaderBytes + frame.payload.size());
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::vector<Http2Frame> Http2Call(const std::string& path, const std::string& request) {
  std::string headers = "\x83\x86";  // :method POST, :scheme http
  headers += "\x04" + Text(path);
  headers += "\x01" + Text("x");  // :authority
  headers += std::string(1, '\0') + Text("te") + Text("trailers");
  headers += std::string(1, '\0') + Text("content-type") + Text("application/grpc");
  std::string message(1, '\0');  // not compressed
  AppendBigEndian(static_cast<uint32_t>(request.size()), 4, &message);
  message += request;
  return {{.type = kSettingsFrame},
          {.type = kHeadersFrame, .flags = kEndHeaders, .stream = 1, .payload = headers},
          {.type = kDataFrame, .flags = kEndStream, .stream = 1, .payload = message}};
}

}  // namespace epsledger::fuzz
