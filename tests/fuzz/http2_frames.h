#ifndef EPSLEDGER_TESTS_FUZZ_HTTP2_FRAMES_H_
#define EPSLEDGER_TESTS_FUZZ_HTTP2_FRAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace epsledger::fuzz {

// What every HTTP/2 connection begins with (RFC 9113, section 3.4).
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// RFC 9113, section 4.1.
struct Http2Frame {
  uint8_t type = 0;
  uint8_t flags = 0;
  uint32_t stream = 0;
  std::string payload;
};

inline constexpr uint8_t kDataFrame = 0;
inline constexpr uint8_t kHeadersFrame = 1;
inline constexpr uint8_t kSettingsFrame = 4;
inline constexpr uint8_t kFrameTypes = 10;
inline constexpr uint8_t kEndStream = 1;
inline constexpr uint8_t kEndHeaders = 4;

// Returns the preface and the frames, each with its actual length.
std::string WriteHttp2(const std::vector<Http2Frame>& frames);

// Returns the frames after the preface; of a frame that is cut off, the part that is there.
std::vector<Http2Frame> ReadHttp2(std::string_view bytes);

// Returns a connection with one call. `path` is for example
// "/epsledger.v1.BudgetService/GetBudget".
std::vector<Http2Frame> Http2Call(const std::string& path, const std::string& request);

}  // namespace epsledger::fuzz

#endif  // EPSLEDGER_TESTS_FUZZ_HTTP2_FRAMES_H_
