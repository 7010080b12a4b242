#include "client/trainers/fsdp/image_records.h"

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/data/deskew.h"
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

absl::StatusOr<LabeledColumns> Columns(LabeledImages images, const ImageRequest& request) {
  if (request.deskew) Deskew(images);
  if (!request.scattering) {
    images.pixels.array() = (images.pixels.array() - 0.5F) * static_cast<float>(request.scale);
    return LabeledColumns{std::move(images.pixels), std::move(images.labels)};
  }
  ASSIGN_OR_RETURN(Eigen::MatrixXf features,
                   scattering::CachedFeatures(images, {.thread_count = request.thread_count},
                                              request.feature_cache));
  if (request.scale != 1) features *= static_cast<float>(request.scale);
  return LabeledColumns{std::move(features), std::move(images.labels)};
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
  absl::StatusOr<LabeledColumns> columns = Columns(std::move(images.train), request);
  if (!columns.ok()) return columns.status();
  records.train = *std::move(columns);
  columns = Columns(std::move(images.held_out.images), request);
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
