#include "client/trainers/istdp/problem.h"

#include <numeric>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/data/data_source.h"
#include "client/trainers/data/libsvm_data.h"
#include "client/trainers/istdp/feature_scaling.h"
#include "client/trainers/istdp/sparse_problem.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kSyntheticRecords = 20000;
constexpr int kSyntheticHeldOut = 5000;

// Returns --record-count if given, else the published number of training records of a known set. It
// is public, and used whatever the number of records in the file is.
absl::StatusOr<int64_t> PublicRecordCount(const CommandLine& options,
                                          const std::string& data_name) {
  if (options.record_count.has_value()) return *options.record_count;
  const struct {
    const char* name;
    int64_t count;
  } published[] = {
      {"a9a", 32561}, {"wdbc", 426}, {"digits", 1347}, {"german", 750}, {"w8a", 49749}};
  for (const auto& set : published) {
    if (data_name == set.name) return set.count;
  }
  return absl::InvalidArgumentError(
      "--record-count: not given; sums are divided by it, and the exact number of records is "
      "private: give a public number near it");
}

absl::StatusOr<Problem> Synthetic(const CommandLine& options, const std::string& seed_text) {
  uint64_t seed = 0;
  if (!absl::SimpleAtoi(seed_text, &seed)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--data: got synthetic:", seed_text, ", want a seed >= 0 behind the colon"));
  }
  const SparseProblem all =
      MakeSparseProblem({.record_count = kSyntheticRecords + kSyntheticHeldOut, .seed = seed});
  std::vector<int> numbers(kSyntheticRecords + kSyntheticHeldOut);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<int> train(numbers.begin(), numbers.begin() + kSyntheticRecords);
  const std::vector<int> held_out(numbers.begin() + kSyntheticRecords, numbers.end());
  return Problem{
      .train = SelectRows(all.rows, train),
      .held_out = {SelectRows(all.rows, held_out)},
      .public_record_count = options.record_count.value_or(kSyntheticRecords),
      .feature_names = {},
      .description = absl::StrCat("Synthetic records, seed ", seed, ": ", kSyntheticRecords,
                                  " to train on, ", kSyntheticHeldOut, " held out.")};
}

absl::StatusOr<Problem> Real(const CommandLine& options) {
  ASSIGN_OR_RETURN(DataRequest parsed, ParseDataArgument(options.data));
  DataRequest request = std::move(parsed);
  if (!request.path.empty() && (options.test_data.empty() || options.feature_count == 0)) {
    return absl::InvalidArgumentError(
        "--data: a path needs --test-data, records to evaluate on that are not private, and "
        "--feature-count, a PUBLIC number: the largest index in the file would tell of the record "
        "that has it");
  }
  request.test_path = options.test_data;
  request.feature_count = options.feature_count;
  request.positive_class = options.positive_class;
  ASSIGN_OR_RETURN(LocatedData data, FindData(request, DataPlaces::FromEnvironment()));
  ASSIGN_OR_RETURN(const int64_t count, PublicRecordCount(options, data.name));
  Problem problem{.train = std::move(data.train),
                  .held_out = std::move(data.held_out),
                  .public_record_count = count,
                  .feature_names = {},
                  .description = std::move(data.description)};
  if (!options.scale.empty()) {
    ASSIGN_OR_RETURN(const FeatureBounds bounds,
                     ReadFeatureBounds(options.scale, problem.train.features.cols()));
    ScaleFeatures(bounds, &problem.train);
    ScaleFeatures(bounds, &problem.held_out.rows);
  }
  problem.train = WithBiasColumn(problem.train);
  problem.held_out.rows = WithBiasColumn(problem.held_out.rows);
  return problem;
}

absl::Status NameFeatures(const CommandLine& options, bool has_bias, Problem* problem) {
  const auto columns = static_cast<size_t>(problem->train.features.cols());
  std::vector<std::string>& names = problem->feature_names;
  const size_t features = has_bias ? columns - 1 : columns;
  if (options.feature_names.empty()) {
    for (size_t j = 1; j <= features; ++j) names.push_back(absl::StrCat(j));
  } else {
    ASSIGN_OR_RETURN(const std::string text, ReadTextFile(options.feature_names));
    names = absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
    if (names.size() != features) {
      return absl::InvalidArgumentError(absl::StrCat("--feature-names: got ", names.size(),
                                                     " lines, want one for each of ", features,
                                                     " features"));
    }
  }
  if (has_bias) names.push_back("bias");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Problem> PrepareProblem(const CommandLine& options) {
  constexpr std::string_view kSynthetic = "synthetic:";
  const bool synthetic = options.data.compare(0, kSynthetic.size(), kSynthetic) == 0;
  absl::StatusOr<Problem> problem =
      synthetic ? Synthetic(options, options.data.substr(kSynthetic.size())) : Real(options);
  if (!problem.ok()) return problem;
  for (LabeledRows* rows : {&problem->train, &problem->held_out.rows}) {
    RETURN_IF_ERROR(ClipRowNorms(options.row_norm_bound, rows));
  }
  RETURN_IF_ERROR(NameFeatures(options, !synthetic, &*problem));
  return problem;
}

}  // namespace epsledger::trainers::istdp
