// Lines of `epsctl compute`: no crash, no NaN, no upper bound below a lower one, and an answer is
// never both a number and an error.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "epsledger/v1/accounting_service.pb.h"
#include "proto/bridge/compute.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace epsledger;  // NOLINT: one function
  v1::ComputeRequest request;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (!bridge::ParseJson(line, &request).ok()) return 0;
  const absl::StatusOr<v1::ComputeResponse> answer = bridge::Compute(request);
  if (!answer.ok()) return 0;
  if (answer->has_upper() && std::isnan(answer->upper())) std::abort();
  if (answer->has_lower() && std::isnan(answer->lower())) std::abort();
  if (answer->has_upper() && answer->has_lower() && answer->upper() < answer->lower()) std::abort();
  if (answer->has_log_upper() && std::isnan(answer->log_upper())) std::abort();
  return 0;
}
