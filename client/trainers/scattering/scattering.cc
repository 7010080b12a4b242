#include "client/trainers/scattering/scattering.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/scattering/plane_scattering.h"

namespace epsledger::trainers::scattering {
namespace {

constexpr Eigen::Index kMaxSide = 128;
constexpr Eigen::Index kMaxChannels = 16;
constexpr int kMaxThreads = 256;

absl::Status Error(const char* field, const std::string& got, const std::string& want) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": got ", got, ", want ", want));
}

// Calls work(first, past) for parts of [0, count) on `thread_count` threads, and waits.
void InThreads(int thread_count, Eigen::Index count,
               const std::function<void(Eigen::Index, Eigen::Index)>& work) {
  std::vector<std::thread> threads;
  for (int thread = 1; thread < thread_count; ++thread) {
    threads.emplace_back(work, count * thread / thread_count, count * (thread + 1) / thread_count);
  }
  work(0, count / thread_count);
  for (std::thread& thread : threads) thread.join();
}

// Group normalization of one image's maps, in place, then division by the root of their number.
void Normalize(int group_count, double variance_offset, Eigen::Ref<Eigen::VectorXf> maps) {
  const Eigen::Index group_size = maps.size() / group_count;
  const double scale = 1 / std::sqrt(static_cast<double>(maps.size()));
  for (Eigen::Index group = 0; group < group_count; ++group) {
    auto values = maps.segment(group * group_size, group_size);
    const Eigen::VectorXd exact = values.cast<double>();
    const double mean = exact.mean();
    const double variance = (exact.array() - mean).square().mean();
    values =
        ((exact.array() - mean) * (scale / std::sqrt(variance + variance_offset))).cast<float>();
  }
}

}  // namespace

absl::StatusOr<FeatureShape> ShapeOfFeatures(Eigen::Index channels, Eigen::Index height,
                                             Eigen::Index width) {
  if (height != width || height < 8 || height > kMaxSide || height % 4 != 0) {
    return Error("height and width", absl::StrCat(height, " and ", width),
                 absl::StrCat("equal ones, a multiple of 4 in [8, ", kMaxSide, "]"));
  }
  if (channels < 1 || channels > kMaxChannels) {
    return Error("channels", absl::StrCat(channels), absl::StrCat("[1, ", kMaxChannels, "]"));
  }
  return FeatureShape{.channels = channels * kMapCount, .height = height / 4, .width = width / 4};
}

absl::StatusOr<Eigen::MatrixXf> Coefficients(const LabeledImages& images, int thread_count) {
  ASSIGN_OR_RETURN(FeatureShape shape,
                   ShapeOfFeatures(images.channels, images.height, images.width));
  const Eigen::Index plane_size = images.height * images.width;
  if (images.pixels.rows() != images.channels * plane_size) {
    return Error("pixels", absl::StrCat(images.pixels.rows(), " rows"),
                 absl::StrCat(images.channels * plane_size));
  }
  if (thread_count < 1 || thread_count > kMaxThreads) {
    return Error("thread_count", absl::StrCat(thread_count),
                 absl::StrCat("[1, ", kMaxThreads, "]"));
  }
  const PlaneScattering scattering(static_cast<int>(images.height));
  Eigen::MatrixXf coefficients(shape.size(), images.pixels.cols());
  InThreads(thread_count, images.pixels.cols(), [&](Eigen::Index first, Eigen::Index past) {
    PlaneScattering::Buffers buffers;
    for (Eigen::Index image = first; image < past; ++image) {
      for (Eigen::Index channel = 0; channel < images.channels; ++channel) {
        scattering.Transform(
            images.pixels.col(image).data() + channel * plane_size, &buffers,
            coefficients.col(image).data() + channel * (shape.size() / images.channels));
      }
    }
  });
  return coefficients;
}

absl::StatusOr<Eigen::MatrixXf> Features(const LabeledImages& images, const Options& options) {
  ASSIGN_OR_RETURN(FeatureShape shape,
                   ShapeOfFeatures(images.channels, images.height, images.width));
  if (options.group_count < 1 || shape.channels % options.group_count != 0) {
    return Error("group_count", absl::StrCat(options.group_count),
                 absl::StrCat("a divisor of the ", shape.channels, " maps"));
  }
  if (!(options.variance_offset > 0) || !std::isfinite(options.variance_offset)) {
    return Error("variance_offset", absl::StrCat(options.variance_offset),
                 "a finite number above 0");
  }
  absl::StatusOr<Eigen::MatrixXf> features = Coefficients(images, options.thread_count);
  if (!features.ok()) return features;
  InThreads(options.thread_count, features->cols(), [&](Eigen::Index first, Eigen::Index past) {
    for (Eigen::Index image = first; image < past; ++image) {
      Normalize(options.group_count, options.variance_offset, features->col(image));
    }
  });
  return features;
}

}  // namespace epsledger::trainers::scattering
