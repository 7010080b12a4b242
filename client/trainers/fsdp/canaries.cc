#include "client/trainers/fsdp/canaries.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <openssl/rand.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/fsdp/exact_sum.h"
#include "client/trainers/network/cross_entropy.h"
#include "client/trainers/run/canary_scores.h"

namespace epsledger::trainers::fsdp {
namespace {

constexpr Eigen::Index kChunk = 500;

absl::Status CheckRequest(const CanaryRequest& request) {
  if (request.count < 1 || request.count > kMaxRecords) {
    return absl::InvalidArgumentError(
        absl::StrCat("canaries: got ", request.count, ", want in [1, ", kMaxRecords, "]"));
  }
  if (request.input_size < 1 || request.class_count < 1) {
    return absl::InvalidArgumentError(absl::StrCat("canaries of ", request.input_size,
                                                   " numbers and ", request.class_count,
                                                   " classes, want at least 1 of each"));
  }
  if (!(std::isfinite(request.magnitude) && request.magnitude > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "canaries: got entries of magnitude ", request.magnitude, ", want a finite number > 0"));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t Canaries::member_count() const {
  return std::count(is_member.begin(), is_member.end(), true);
}

absl::StatusOr<Canaries> DrawCanaries(const CanaryRequest& request) {
  RETURN_IF_ERROR(CheckRequest(request));
  Canaries canaries;
  canaries.records.inputs.resize(request.input_size, request.count);
  // One random bit for each entry, and one word for the label.
  uint64_t word = 0;
  std::vector<unsigned char> bytes(sizeof(word) +
                                   (static_cast<size_t>(request.input_size) + 7) / 8);
  for (Eigen::Index canary = 0; canary < request.count; ++canary) {
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
      return absl::InternalError("the operating system gave no randomness for canaries");
    }
    std::memcpy(&word, bytes.data(), sizeof(word));
    canaries.records.labels.push_back(
        static_cast<int>(word % static_cast<uint64_t>(request.class_count)));
    for (Eigen::Index i = 0; i < request.input_size; ++i) {
      const unsigned char eight = bytes[sizeof(word) + static_cast<size_t>(i / 8)];
      canaries.records.inputs(i, canary) =
          (eight >> (i % 8)) % 2 == 1 ? request.magnitude : -request.magnitude;
    }
  }
  ASSIGN_OR_RETURN(std::vector<bool> members, DrawMembers(request.count));
  canaries.is_member = std::move(members);
  return canaries;
}

void AddMembers(const Canaries& canaries, LabeledColumns& train) {
  const Eigen::Index first = train.inputs.cols();
  Eigen::Index column = first;
  // Columns are appended in place if possible: the records may use most of the memory.
  train.inputs.conservativeResize(Eigen::NoChange, column + canaries.member_count());
  for (size_t canary = 0; canary < canaries.is_member.size(); ++canary) {
    if (!canaries.is_member[canary]) continue;
    train.inputs.col(column++) = canaries.records.inputs.col(static_cast<Eigen::Index>(canary));
    train.labels.push_back(canaries.records.labels[canary]);
  }
  // A canary is no image: all its views are the same.
  for (network::Matrix<float>& more : train.more_views) {
    more.conservativeResize(Eigen::NoChange, train.inputs.cols());
    more.rightCols(canaries.member_count()) = train.inputs.rightCols(canaries.member_count());
  }
}

absl::StatusOr<std::vector<double>> ScoreCanaries(const network::Network<float>& network,
                                                  const Canaries& canaries) {
  const LabeledColumns& records = canaries.records;
  const Eigen::Index count = records.inputs.cols();
  std::vector<double> scores;
  for (Eigen::Index begin = 0; begin < count; begin += kChunk) {
    const Eigen::Index size = std::min(kChunk, count - begin);
    ASSIGN_OR_RETURN(const auto tape, network.Forward(records.inputs.middleCols(begin, size)));
    const std::vector<int> labels(records.labels.begin() + begin,
                                  records.labels.begin() + begin + size);
    ASSIGN_OR_RETURN(const auto found,
                     network::CrossEntropy<float>(tape.activations.back(), labels));
    for (const double loss : found.losses) scores.push_back(-loss);
  }
  return scores;
}

}  // namespace epsledger::trainers::fsdp
