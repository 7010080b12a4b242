// Files of training data: no crash, no allocation that the file does not pay for, and whatever is
// taken is what the trainers rely on.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "client/trainers/data/idx_images.h"
#include "client/trainers/data/jpeg_pack.h"
#include "client/trainers/data/libsvm_data.h"

namespace epsledger::trainers {
namespace {

constexpr int kClassCount = 10;
constexpr JpegPackShape kShape = {.height = 8, .width = 8, .class_count = kClassCount};

void Check(bool holds) {
  if (!holds) std::abort();
}

void CheckImages(const LabeledImages& images) {
  Check(images.pixels.rows() == images.channels * images.height * images.width);
  Check(images.pixels.cols() == static_cast<Eigen::Index>(images.labels.size()));
  Check((images.pixels.array() >= 0).all() && (images.pixels.array() <= 1).all());
  for (const int label : images.labels) Check(label >= 0 && label < kClassCount);
}

void TryIdx(std::string_view bytes) {
  // The first byte says where the labels begin.
  if (bytes.empty()) return;
  const size_t split = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  if (split > bytes.size()) return;
  const auto images =
      ParseIdx(bytes.substr(0, split), bytes.substr(split), kClassCount, {"images", "labels"});
  if (images.ok()) CheckImages(*images);
}

void TryJpegPack(std::string_view bytes) {
  const auto pack = ParseJpegPack(bytes, kShape, "pack");
  if (!pack.ok()) return;
  CheckImages(pack->train);
  CheckImages(pack->test);
}

void TryLibsvm(std::string_view bytes) {
  constexpr int kFeatureCount = 100;  // records x features stays small
  const auto records = ParseLibsvm(bytes, "text", kFeatureCount);
  if (!records.ok()) return;
  Check(records->features.rows() == records->labels.size());
  Check(records->features.cols() == kFeatureCount);
  Check(records->labels.allFinite());
  for (Eigen::Index row = 0; row < records->features.outerSize(); ++row) {
    for (SparseRows::InnerIterator entry(records->features, row); entry; ++entry) {
      Check(std::isfinite(entry.value()) && entry.value() != 0);
    }
  }
}

}  // namespace
}  // namespace epsledger::trainers

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace epsledger::trainers;  // NOLINT: one function
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      TryIdx(bytes);
      break;
    case 1:
      TryJpegPack(bytes);
      break;
    default:
      TryLibsvm(bytes);
  }
  return 0;
}
