// The bytes of a connection to the gRPC port: the server answers or closes, in time, and serves
// whoever comes next. gRPC itself is not built for coverage, so the mutator knows frames.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/exchange.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/http2_frames.h"

using epsledger::fuzz::Http2Frame;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Never destroyed: gRPC's threads may outlive what runs at exit.
  static auto& server = *new epsledger::fuzz::FuzzedServer();
  server.Reset();
  epsledger::fuzz::Exchange(server.address(),
                            std::string_view(reinterpret_cast<const char*>(data), size));
  server.CheckHealth();
  server.CheckLedgers();
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

void MutatePayload(size_t max_size, std::string* payload) {
  const size_t size = payload->size();
  payload->resize(std::max(size, std::min<size_t>(max_size, size + 64)));
  payload->resize(
      LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(payload->data()), size, payload->size()));
}

void Mutate(size_t max_size, std::mt19937& random, std::vector<Http2Frame>* frames) {
  const size_t at = random() % frames->size();
  Http2Frame& frame = (*frames)[at];
  switch (random() % 8) {
    case 0:
      frame.type = static_cast<uint8_t>(random() % (epsledger::fuzz::kFrameTypes + 2));
      break;
    case 1:
      frame.flags = static_cast<uint8_t>(frame.flags ^ 1 << random() % 8);
      break;
    case 2:
      frame.stream = random() % 4 == 0 ? static_cast<uint32_t>(random()) : random() % 8;
      break;
    case 3: {
      const Http2Frame copy = frame;
      frames->insert(frames->begin() + static_cast<long>(random() % (frames->size() + 1)), copy);
      break;
    }
    case 4:
      std::swap(frame, (*frames)[random() % frames->size()]);
      break;
    case 5:
      if (frames->size() > 1) frames->erase(frames->begin() + static_cast<long>(at));
      break;
    default:
      MutatePayload(max_size, &frame.payload);
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::mt19937 random(seed);
  std::vector<Http2Frame> frames =
      epsledger::fuzz::ReadHttp2(std::string_view(reinterpret_cast<const char*>(data), size));
  if (frames.empty() || random() % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  for (unsigned int changes = 1 + random() % 3; changes > 0; --changes) {
    Mutate(max_size, random, &frames);
  }
  const std::string bytes = epsledger::fuzz::WriteHttp2(frames);
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  bytes.copy(reinterpret_cast<char*>(data), bytes.size());
  return bytes.size();
}
