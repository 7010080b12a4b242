#include "client/trainers/data/data_source.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/data/content_hash.h"
#include "client/trainers/data/hold_out.h"
#include "client/trainers/data/known_data.h"
#include "client/trainers/data/libsvm_data.h"
#include "client/trainers/data/sklearn_csv.h"

namespace epsledger::trainers {
namespace {

constexpr char kPackageDirectory[] = "/usr/lib/python3/dist-packages/sklearn/datasets/data";

// Parsed parts of one set, with their sentences for the description.
struct FoundFiles {
  ParsedRecords train;
  std::optional<ParsedRecords> test;
  std::string origin;     // "from a9a.gz in EPSLEDGER_DATA_DIR"
  std::string scaling;    // a sentence, or empty
  bool is_known = false;  // the training records are the known ones, which are public
};

// The files that were found, or the places that were searched and why each has none.
struct Search {
  std::optional<FoundFiles> found;
  std::string reason;
};

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

std::string FindFile(const std::string& directory, const KnownFile& file) {
  for (const std::string& name : file.file_names) {
    for (const char* const ending : {"", ".gz"}) {
      const std::string path = absl::StrCat(directory, "/", name, ending);
      if (Exists(path)) return path;
    }
  }
  return "";
}

bool IsKnown(const ParsedRecords& records, const KnownFile& known) {
  return ContentSha256(records) == known.content_sha256;
}

std::string ContentNote(bool is_known) {
  return is_known ? "its content has the known SHA-256" : "its content is NOT the known one";
}

absl::StatusOr<Search> SearchDataDirectory(const KnownData& known, const DataPlaces& places) {
  if (places.data_directory.empty()) return Search{.reason = "EPSLEDGER_DATA_DIR is not set"};
  const std::string train_path = FindFile(places.data_directory, known.train);
  if (train_path.empty()) {
    return Search{.reason = absl::StrCat("EPSLEDGER_DATA_DIR (", places.data_directory, ") has no ",
                                         known.train.file_names.front(), " or ",
                                         known.train.file_names.front(), ".gz")};
  }
  ASSIGN_OR_RETURN(ParsedRecords train, ReadLibsvm(train_path, known.feature_count));
  FoundFiles found;
  found.is_known = IsKnown(train, known.train);
  found.origin = absl::StrCat("from ", train_path, "; ", ContentNote(found.is_known));
  found.train = std::move(train);
  if (known.test.has_value()) {
    const std::string test_path = FindFile(places.data_directory, *known.test);
    if (!test_path.empty()) {
      ASSIGN_OR_RETURN(ParsedRecords test, ReadLibsvm(test_path, known.feature_count));
      absl::StrAppend(&found.origin, " (of ", test_path, ": ",
                      ContentNote(IsKnown(test, *known.test)), ")");
      found.test = std::move(test);
    }
  }
  return Search{.found = std::move(found)};
}

// Returns a file of the known content from the cache, which a download fills.
absl::StatusOr<ParsedRecords> FetchVerified(const KnownFile& file, int feature_count,
                                            const DataPlaces& places) {
  const std::string cached = absl::StrCat(places.cache_directory, "/", file.file_names.front());
  if (Exists(cached)) {
    absl::StatusOr<ParsedRecords> records = ReadLibsvm(cached, feature_count);
    if (records.ok() && ContentSha256(*records) == file.content_sha256) return records;
  }
  std::error_code error;
  std::filesystem::create_directories(places.cache_directory, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(places.cache_directory, ": ", error.message()));
  }
  const std::string part = absl::StrCat(cached, ".part.", getpid());
  absl::Status downloaded = places.download(file.url, part);
  absl::StatusOr<ParsedRecords> records =
      downloaded.ok() ? ReadLibsvm(part, feature_count) : downloaded;
  if (records.ok() && ContentSha256(*records) != file.content_sha256) {
    records = absl::DataLossError("the content does not have the known SHA-256");
  }
  if (records.ok()) {
    std::filesystem::rename(part, cached, error);
  } else {
    std::filesystem::remove(part, error);
  }
  return records;
}

Search SearchOrigin(const KnownData& known, const DataPlaces& places) {
  if (known.train.url.empty()) return {.reason = "it has no origin to download from"};
  if (!places.download || places.cache_directory.empty()) {
    return {.reason = "downloads are switched off"};
  }
  FoundFiles found{.is_known = true};
  const auto fetch = [&](const KnownFile& file, ParsedRecords* records) -> std::string {
    absl::StatusOr<ParsedRecords> fetched = FetchVerified(file, known.feature_count, places);
    if (!fetched.ok()) {
      return absl::StrCat("the download of ", file.url,
                          " failed: ", std::string(fetched.status().message()));
    }
    *records = *std::move(fetched);
    return "";
  };
  std::string reason = fetch(known.train, &found.train);
  if (reason.empty() && known.test.has_value()) reason = fetch(*known.test, &found.test.emplace());
  if (!reason.empty()) return {.reason = std::move(reason)};
  found.origin = absl::StrCat("downloaded from ", known.train.url, " (kept in ",
                              places.cache_directory, "); its content has the known SHA-256");
  return {.found = std::move(found)};
}

// Maps each column of the raw table to [-1, 1] by its smallest and largest value, and the classes
// malignant = 0, benign = 1 to +1, -1. Values are rounded to six digits, as in the published LIBSVM
// copy, so that both sources give the same numbers. A column with one value becomes zero.
ParsedRecords ScaleRawWdbc(const ParsedRecords& raw) {
  Eigen::MatrixXd table = raw.features;
  for (Eigen::Index column = 0; column < table.cols(); ++column) {
    const double smallest = table.col(column).minCoeff();
    const double largest = table.col(column).maxCoeff();
    for (double& value : table.col(column)) {
      const double scaled =
          largest > smallest ? 2 * (value - smallest) / (largest - smallest) - 1 : 0;
      char text[32];
      const auto end =
          std::to_chars(text, text + sizeof(text), scaled, std::chars_format::general, 6);
      std::from_chars(text, end.ptr, value);
    }
  }
  ParsedRecords scaled{.features = table.sparseView(0, 0), .labels = raw.labels, .name = raw.name};
  scaled.features.makeCompressed();
  for (double& label : scaled.labels) label = label == 0 ? 1 : -1;
  return scaled;
}

absl::StatusOr<Search> SearchPackage(const KnownData& known, const DataPlaces& places) {
  if (known.package_file.empty()) return Search{.reason = "no Debian package carries it"};
  const std::string path = absl::StrCat(places.package_directory, "/", known.package_file);
  if (places.package_directory.empty() || !Exists(path)) {
    return Search{.reason = "the Debian package python3-sklearn is not installed"};
  }
  ASSIGN_OR_RETURN(ParsedRecords table, ReadSklearnCsv(path));
  if (table.features.cols() != known.feature_count) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":1: got ", table.features.cols(),
                                                   " features, want ", known.feature_count));
  }
  FoundFiles found;
  found.train = known.package_file_is_raw_wdbc ? ScaleRawWdbc(table) : std::move(table);
  found.is_known = IsKnown(found.train, known.train);
  found.origin = absl::StrCat("from ", path, " of the Debian package python3-sklearn; ",
                              ContentNote(found.is_known));
  return Search{.found = std::move(found)};
}

// Splits or pairs the parts, and writes the description.
absl::StatusOr<LocatedData> Assemble(const std::string& name, FoundFiles found,
                                     std::optional<double> positive_class) {
  if (found.test.has_value() && CanonicalText(found.train) == CanonicalText(*found.test)) {
    return absl::InvalidArgumentError(absl::StrCat(found.test->name, ": got the records of ",
                                                   found.train.name, ", want others to hold out"));
  }
  ASSIGN_OR_RETURN(LabeledRows train, ToTwoClasses(found.train, positive_class));
  LocatedData data{.name = name, .train = {}, .held_out = {}, .description = {}};
  std::string split;
  if (found.test.has_value()) {
    ASSIGN_OR_RETURN(LabeledRows test, ToTwoClasses(*found.test, positive_class));
    data.train = std::move(train);
    data.held_out.rows = std::move(test);
    split =
        absl::StrCat("the ", data.held_out.rows.labels.size(), " records of ", found.test->name);
  } else {
    const Split parts = SplitRecords(found.train, found.is_known);
    data.train = SelectRows(train, parts.train);
    data.held_out.rows = SelectRows(train, parts.held_out);
    split = absl::StrCat(parts.held_out.size(),
                         found.is_known ? " records, every fourth from the first"
                                        : " records, by a hash of each; they have no guarantee");
  }
  // The number of private records is private.
  const std::string count =
      found.is_known ? absl::StrCat(data.train.labels.size(), " records") : "its records";
  data.description =
      absl::StrCat("Data set ", name, ", ", found.origin, ". Trained on: ", count, " of ",
                   data.train.features.cols(), " features. Held out for evaluation: ", split, ".");
  if (positive_class.has_value()) {
    absl::StrAppend(&data.description, " Class 1 is label ", *positive_class,
                    ", class 0 every other.");
  }
  if (!found.scaling.empty()) absl::StrAppend(&data.description, " ", found.scaling);
  return data;
}

absl::StatusOr<LocatedData> AssembleKnown(const KnownData& known, FoundFiles found,
                                          std::optional<double> positive_class) {
  if (known.package_file_is_raw_wdbc) {
    found.scaling =
        "Features are min-max scaled to [-1, 1] by the ranges of the whole sample, which are "
        "treated as public.";
  }
  if (known.public_range != 1) {
    found.train.features /= known.public_range;
    found.scaling = absl::StrCat("Features are divided by ", known.public_range,
                                 ", the largest value of the format.");
  }
  if (!positive_class.has_value()) positive_class = known.positive_class;
  return Assemble(known.name, std::move(found), positive_class);
}

// Returns the records with `feature_count` features, whatever the file has.
absl::StatusOr<ParsedRecords> ReadWithFeatures(const std::string& path, int feature_count) {
  absl::StatusOr<ParsedRecords> records = ReadLibsvm(path);
  if (!records.ok()) return records;
  records->features.conservativeResize(records->features.rows(), feature_count);
  records->features.makeCompressed();
  return records;
}

absl::StatusOr<LocatedData> FindPath(const DataRequest& request) {
  if (request.test_path.empty()) {
    return absl::InvalidArgumentError(
        "DataRequest.test_path: not given; what is held out is evaluated without noise and has no "
        "guarantee, so it is not taken from the records of a path: give a file of records that "
        "may be held out");
  }
  if (request.feature_count < 1 || request.feature_count > kMaxFeatureCount) {
    return absl::InvalidArgumentError(absl::StrCat(
        "DataRequest.feature_count: got ", request.feature_count, ", want a PUBLIC one in [1, ",
        kMaxFeatureCount, "]: the largest index in the file would tell of the record that has it"));
  }
  FoundFiles found;
  ASSIGN_OR_RETURN(ParsedRecords train, ReadWithFeatures(request.path, request.feature_count));
  found.train = std::move(train);
  ASSIGN_OR_RETURN(ParsedRecords test, ReadWithFeatures(request.test_path, request.feature_count));
  found.test = std::move(test);
  found.origin = "as given";
  found.scaling = "Features are taken as they are.";
  return Assemble(request.path, std::move(found), request.positive_class);
}

absl::StatusOr<LocatedData> FindName(const KnownData& known, const DataRequest& request,
                                     const DataPlaces& places) {
  std::vector<std::string> reasons;
  absl::StatusOr<Search> search = SearchDataDirectory(known, places);
  if (search.ok() && !search->found.has_value()) {
    reasons.push_back(search->reason);
    search = SearchOrigin(known, places);
  }
  if (search.ok() && !search->found.has_value()) {
    reasons.push_back(search->reason);
    search = SearchPackage(known, places);
  }
  if (!search.ok()) return search.status();
  if (search->found.has_value()) {
    return AssembleKnown(known, *std::move(search->found), request.positive_class);
  }
  reasons.push_back(search->reason);
  const std::string failure =
      absl::StrCat(known.name, " could not be had: ", absl::StrJoin(reasons, "; "), ".");
  if (known.name != "a9a") return absl::NotFoundError(failure);

  const KnownData& other = *FindKnownData("wdbc");
  search = SearchPackage(other, places);
  if (!search.ok()) return search.status();
  if (!search->found.has_value()) {
    return absl::NotFoundError(
        absl::StrCat(failure, " Nor could ", other.name, " in its place: ", search->reason, "."));
  }
  absl::StatusOr<LocatedData> data = AssembleKnown(other, *std::move(search->found), std::nullopt);
  if (data.ok()) {
    data->description = absl::StrCat(
        "This is NOT a9a but another, much smaller data set: ", failure, " ", data->description);
  }
  return data;
}

std::string KnownNames() {
  std::vector<std::string> names;
  for (const KnownData& each : AllKnownData()) names.push_back(each.name);
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<DataRequest> ParseDataArgument(const std::string& argument) {
  DataRequest request;
  if (FindKnownData(argument) != nullptr) {
    request.name = argument;
    return request;
  }
  std::error_code error;
  if (!std::filesystem::exists(argument, error)) {
    return absl::NotFoundError(absl::StrCat(
        "--data: got \"", argument, "\", want a file that is there or one of ", KnownNames()));
  }
  request.path = argument;
  return request;
}

DataPlaces DataPlaces::FromEnvironment() {
  const std::string cache_home = Environment("XDG_CACHE_HOME");
  const std::string home = Environment("HOME");
  DataPlaces places{.data_directory = Environment("EPSLEDGER_DATA_DIR"),
                    .cache_directory = {},
                    .package_directory = kPackageDirectory,
                    .download = Download};
  if (!cache_home.empty()) {
    places.cache_directory = absl::StrCat(cache_home, "/epsledger");
  } else if (!home.empty()) {
    places.cache_directory = absl::StrCat(home, "/.cache/epsledger");
  }
  return places;
}

absl::StatusOr<LocatedData> FindData(const DataRequest& request, const DataPlaces& places) {
  if (request.path.empty() == request.name.empty()) {
    return absl::InvalidArgumentError(
        "DataRequest: got both or neither of path and name, want exactly one");
  }
  if (!request.path.empty()) return FindPath(request);
  if (!request.test_path.empty() || request.feature_count != 0) {
    return absl::InvalidArgumentError(
        "DataRequest.test_path, feature_count: got one with a name, want it with a path only");
  }
  const KnownData* const known = FindKnownData(request.name);
  if (known == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("DataRequest.name: got \"", request.name, "\", want one of ", KnownNames()));
  }
  return FindName(*known, request, places);
}

}  // namespace epsledger::trainers
