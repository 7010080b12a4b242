#include "client/trainers/scattering/feature_cache.h"

#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/data/content_hash.h"

namespace epsledger::trainers::scattering {
namespace {

// Must change with the definition of the features.
constexpr char kVersion[] = "scattering features 1";

// The header before the numbers of a file.
struct FileHeader {
  char magic[8];
  int64_t rows;
  int64_t columns;
  uint64_t checksum;  // of the numbers
};
constexpr char kMagic[8] = {'E', 'P', 'S', 'F', 'E', 'A', 'T', '1'};

std::string_view Bytes(const Eigen::MatrixXf& matrix) {
  return {reinterpret_cast<const char*>(matrix.data()),
          static_cast<size_t>(matrix.size()) * sizeof(float)};
}

uint64_t Checksum(const Eigen::MatrixXf& matrix) {
  const std::string_view bytes = Bytes(matrix);
  return crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::optional<Eigen::MatrixXf> Load(const std::string& path, Eigen::Index rows,
                                    Eigen::Index columns) {
  std::ifstream file(path, std::ios::binary);
  FileHeader header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header)) ||
      std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || header.rows != rows ||
      header.columns != columns) {
    return std::nullopt;
  }
  Eigen::MatrixXf matrix(rows, columns);
  if (!file.read(reinterpret_cast<char*>(matrix.data()),
                 static_cast<std::streamsize>(Bytes(matrix).size())) ||
      Checksum(matrix) != header.checksum) {
    return std::nullopt;
  }
  return matrix;
}

absl::Status Store(const Eigen::MatrixXf& matrix, const std::string& folder,
                   const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  const std::string part = absl::StrCat(path, ".part.", getpid());
  FileHeader header{
      .magic = {}, .rows = matrix.rows(), .columns = matrix.cols(), .checksum = Checksum(matrix)};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  std::ofstream file(part, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof(header));
  file.write(Bytes(matrix).data(), static_cast<std::streamsize>(Bytes(matrix).size()));
  file.close();
  if (file) std::filesystem::rename(part, path, error);
  if (!file || error) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    return absl::UnavailableError(absl::StrCat(path, ": could not be written"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string CacheFileName(const LabeledImages& images, const Options& options) {
  const std::string key = absl::StrCat(
      kVersion, " ", images.channels, " ", images.height, " ", images.width, " ",
      images.pixels.cols(), " ", options.group_count, " ",
      absl::string_view(reinterpret_cast<const char*>(&options.variance_offset), sizeof(double)),
      " ", BytesSha256(Bytes(images.pixels)));
  return absl::StrCat(BytesSha256(key), ".features");
}

absl::StatusOr<Eigen::MatrixXf> CachedFeatures(const LabeledImages& images, const Options& options,
                                               const std::string& folder) {
  if (folder.empty()) return Features(images, options);
  ASSIGN_OR_RETURN(FeatureShape shape,
                   ShapeOfFeatures(images.channels, images.height, images.width));
  const std::string path = absl::StrCat(folder, "/", CacheFileName(images, options));
  if (std::optional<Eigen::MatrixXf> cached = Load(path, shape.size(), images.pixels.cols())) {
    return *std::move(cached);
  }
  absl::StatusOr<Eigen::MatrixXf> features = Features(images, options);
  if (!features.ok()) return features;
  RETURN_IF_ERROR(Store(*features, folder, path));
  return features;
}

}  // namespace epsledger::trainers::scattering
