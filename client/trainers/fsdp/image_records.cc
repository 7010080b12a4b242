#include "client/trainers/fsdp/image_records.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/data/augmentation.h"
#include "client/trainers/data/deskew.h"
#include "client/trainers/data/enlarged.h"
#include "client/trainers/data/image_sets.h"
#include "client/trainers/scattering/feature_cache.h"
#include "client/trainers/scattering/scattering.h"

namespace epsledger::trainers::fsdp {
namespace {

int64_t PublishedCount(const std::string& name) {
  if (name == "mnist") return 60000;
  if (name == "cifar10-jpeg75") return 50000;
  if (name == "digits") return 1347;
  return 0;
}

constexpr const char* kPublicSet = "digits";

absl::StatusOr<Eigen::MatrixXf> ScatteringFeatures(const LabeledImages& images,
                                                   const ImageRequest& request) {
  return scattering::CachedFeatures(images, {.thread_count = request.thread_count},
                                    request.feature_cache);
}

LabeledImages Joined(LabeledImages images, const LabeledImages& more) {
  const Eigen::Index count = images.pixels.cols();
  images.pixels.conservativeResize(Eigen::NoChange, count + more.pixels.cols());
  images.pixels.rightCols(more.pixels.cols()) = more.pixels;
  images.labels.insert(images.labels.end(), more.labels.begin(), more.labels.end());
  return images;
}

// Returns the basis for records like `images`.
absl::StatusOr<std::optional<PublicBasis>> ReadPublicBasis(const LocatedImages& images,
                                                           const ImageRequest& request) {
  if (request.public_directions == 0) return std::optional<PublicBasis>();
  if (!request.scattering || images.name == kPublicSet || images.train.channels != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("public basis: got records of ", images.name,
                     request.scattering ? "" : " without scattering",
                     ", want scattering features of other images than the digits, of one channel"));
  }
  ASSIGN_OR_RETURN(LocatedImages digits, FindImages(kPublicSet, request.data_directory));
  if (!digits.is_known) {
    return absl::FailedPreconditionError(absl::StrCat(
        "public basis: the content is not that of the public digits, and private records must not "
        "be in a basis: ",
        digits.description));
  }
  LabeledImages all =
      Enlarged(Joined(std::move(digits.train), digits.held_out.images), images.train.height);
  if (request.deskew) Deskew(all);
  ASSIGN_OR_RETURN(const Eigen::MatrixXf features, ScatteringFeatures(all, request));
  const Eigen::Index most = std::min(features.rows(), features.cols() - 1);
  if (request.public_directions < 0 || request.public_directions > most) {
    return absl::InvalidArgumentError(absl::StrCat("public basis: got ", request.public_directions,
                                                   " directions, want at most ", most));
  }
  return TopDirections(features, request.public_directions);
}

// Returns what the network reads of each image.
absl::StatusOr<Eigen::MatrixXf> Inputs(const LabeledImages& images, const ImageRequest& request,
                                       const std::optional<PublicBasis>& basis) {
  if (!request.scattering) {
    return Eigen::MatrixXf((images.pixels.array() - 0.5F) * static_cast<float>(request.scale));
  }
  ASSIGN_OR_RETURN(Eigen::MatrixXf features, ScatteringFeatures(images, request));
  if (basis.has_value()) features = Coordinates(*basis, features, request.thread_count);
  if (request.scale != 1) features *= static_cast<float>(request.scale);
  return features;
}

absl::StatusOr<LabeledColumns> Columns(LabeledImages images, const ImageRequest& request,
                                       const std::optional<PublicBasis>& basis, int view_count) {
  if (request.deskew) Deskew(images);
  LabeledColumns columns;
  ASSIGN_OR_RETURN(columns.inputs, Inputs(images, request, basis));
  for (int view = 1; view < view_count; ++view) {
    ASSIGN_OR_RETURN(Eigen::MatrixXf more, Inputs(AugmentedView(images, view), request, basis));
    columns.more_views.push_back(std::move(more));
  }
  columns.labels = std::move(images.labels);
  return columns;
}

}  // namespace

absl::StatusOr<ImageRecords> ReadImages(const ImageRequest& request) {
  ASSIGN_OR_RETURN(LocatedImages images, FindImages(request.name, request.data_directory));
  ImageRecords records;
  const LabeledImages& train = images.train;
  records.shape = {train.channels, train.height, train.width};
  if (request.scattering) {
    ASSIGN_OR_RETURN(const scattering::FeatureShape shape,
                     scattering::ShapeOfFeatures(train.channels, train.height, train.width));
    records.shape = {shape.channels, shape.height, shape.width};
  }
  records.class_count = images.class_count;
  records.description = images.description;
  records.published_count = PublishedCount(images.name);
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(records.basis, ReadPublicBasis(images, request));
  if (records.basis.has_value()) records.shape = {.channels = request.public_directions};
  absl::StatusOr<LabeledColumns> columns =
      Columns(std::move(images.train), request, records.basis, request.view_count);
  if (!columns.ok()) return columns.status();
  records.train = *std::move(columns);
  columns = Columns(std::move(images.held_out.images), request, records.basis, 1);
  if (!columns.ok()) return columns.status();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (request.scattering) records.feature_seconds = seconds.count();

  const Eigen::Index count = columns->inputs.cols();
  if (request.public_count < 0 || request.public_count >= count) {
    return absl::InvalidArgumentError(absl::StrCat("public records: got ", request.public_count,
                                                   ", want fewer than the ", count, " held out"));
  }
  const auto first = columns->labels.begin() + request.public_count;
  records.public_records = {columns->inputs.leftCols(request.public_count),
                            std::vector<int>(columns->labels.begin(), first)};
  records.held_out.records = {columns->inputs.rightCols(count - request.public_count),
                              std::vector<int>(first, columns->labels.end())};
  return records;
}

}  // namespace epsledger::trainers::fsdp
