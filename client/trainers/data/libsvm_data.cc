#include "client/trainers/data/libsvm_data.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::trainers {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr size_t kMaxQuotedBytes = 40;

// Returns what a message quotes: never a whole line, which may be a private record of any length.
std::string Quoted(std::string_view text) {
  const bool cut = text.size() > kMaxQuotedBytes;
  return absl::StrCat("\"", std::string(text.substr(0, kMaxQuotedBytes)), cut ? "...\"" : "\"");
}

// Parses the whole token as a decimal number; a leading + is allowed, "inf" and "nan" are not.
bool ParseNumber(std::string_view token, double* number) {
  if (!token.empty() && token.front() == '+') {
    token.remove_prefix(1);
    if (!token.empty() && token.front() == '-') return false;
  }
  const char* const end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, *number);
  return error == std::errc() && stop == end && std::isfinite(*number);
}

class LineParser {
 public:
  LineParser(const std::string& name, int feature_count)
      : name_(name), limit_(feature_count == 0 ? kMaxFeatureCount : feature_count) {}

  absl::Status ParseLine(std::string_view line) {
    ++line_number_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::string_view label_token = NextToken(&line);
    double label = 0;
    if (label_token.empty()) return Error("got an empty line, want a label");
    if (!ParseNumber(label_token, &label)) {
      return Error(absl::StrCat("got label ", Quoted(label_token), ", want a finite number"));
    }
    const int row = static_cast<int>(labels_.size());
    int previous_index = 0;
    for (std::string_view token = NextToken(&line); !token.empty(); token = NextToken(&line)) {
      RETURN_IF_ERROR(ParseEntry(token, row, &previous_index));
    }
    labels_.push_back(label + 0.0);  // -0 becomes 0
    return absl::OkStatus();
  }

  absl::StatusOr<ParsedRecords> Finish(int feature_count) {
    if (labels_.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name_, ":1: got an empty file, want at least one record"));
    }
    ParsedRecords data;
    data.features.resize(static_cast<Eigen::Index>(labels_.size()),
                         feature_count == 0 ? largest_index_ : feature_count);
    data.features.setFromTriplets(entries_.begin(), entries_.end());
    data.features.makeCompressed();
    data.labels = Eigen::Map<const Eigen::VectorXd>(labels_.data(),
                                                    static_cast<Eigen::Index>(labels_.size()));
    data.name = name_;
    return data;
  }

 private:
  static std::string_view NextToken(std::string_view* rest) {
    const size_t begin = rest->find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) {
      *rest = {};
      return {};
    }
    const size_t end = std::min(rest->find_first_of(kBlanks, begin), rest->size());
    const std::string_view token = rest->substr(begin, end - begin);
    rest->remove_prefix(end);
    return token;
  }

  absl::Status ParseEntry(std::string_view token, int row, int* previous_index) {
    const size_t colon = token.find(':');
    if (colon == std::string_view::npos) {
      return Error(absl::StrCat("got ", Quoted(token), ", want index:value"));
    }
    const std::string_view index_token = token.substr(0, colon);
    const std::string_view value_token = token.substr(colon + 1);
    int64_t index = 0;
    const char* const end = index_token.data() + index_token.size();
    const auto [stop, error] = std::from_chars(index_token.data(), end, index);
    const bool whole = stop == end && !index_token.empty();
    if ((error == std::errc::result_out_of_range && whole) ||
        (error == std::errc() && whole && (index < 1 || index > limit_))) {
      return Error(
          absl::StrCat("got index ", Quoted(index_token), ", want one in [1, ", limit_, "]"));
    }
    if (error != std::errc() || !whole) {
      return Error(absl::StrCat("got index ", Quoted(index_token), ", want an integer"));
    }
    if (index <= *previous_index) {
      return Error(absl::StrCat("got index ", index, " after ", *previous_index,
                                ", want increasing indices"));
    }
    double value = 0;
    if (!ParseNumber(value_token, &value)) {
      return Error(absl::StrCat("got value ", Quoted(value_token), " at index ", index,
                                ", want a finite number"));
    }
    *previous_index = static_cast<int>(index);
    largest_index_ = std::max(largest_index_, *previous_index);
    if (value != 0) entries_.emplace_back(row, *previous_index - 1, value);
    return absl::OkStatus();
  }

  absl::Status Error(std::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ":", line_number_, ": ", std::string(what)));
  }

  const std::string& name_;
  const int limit_;
  int64_t line_number_ = 0;
  int largest_index_ = 0;
  std::vector<double> labels_;
  std::vector<Eigen::Triplet<double>> entries_;
};

}  // namespace

absl::StatusOr<ParsedRecords> ParseLibsvm(std::string_view text, const std::string& name,
                                          int feature_count) {
  if (feature_count < 0 || feature_count > kMaxFeatureCount) {
    return absl::InvalidArgumentError(absl::StrCat("feature_count: got ", feature_count,
                                                   ", want one in [0, ", kMaxFeatureCount, "]"));
  }
  LineParser parser(name, feature_count);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    RETURN_IF_ERROR(parser.ParseLine(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.Finish(feature_count);
}

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  errno = 0;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose_r);
  if (file == nullptr) {
    return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  std::string text;
  std::array<char, 1 << 16> buffer;
  int count = 0;
  while ((count = gzread(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<size_t>(count));
    if (static_cast<int64_t>(text.size()) > kMaxFileBytes) {
      return absl::OutOfRangeError(
          absl::StrCat(path, ": got more than ", kMaxFileBytes, " bytes of text"));
    }
  }
  // gzread also returns 0 at a premature end of a gzip stream; only the error number shows it.
  int error = Z_OK;
  const char* const message = gzerror(file.get(), &error);
  if (count < 0 || error != Z_OK) {
    return absl::DataLossError(
        absl::StrCat(path, ": ", error == Z_ERRNO ? std::strerror(errno) : message));
  }
  return text;
}

absl::StatusOr<ParsedRecords> ReadLibsvm(const std::string& path, int feature_count) {
  ASSIGN_OR_RETURN(std::string text, ReadTextFile(path));
  return ParseLibsvm(text, path, feature_count);
}

absl::StatusOr<LabeledRows> ToTwoClasses(const ParsedRecords& data,
                                         std::optional<double> positive_class) {
  LabeledRows rows{.features = data.features, .labels = Eigen::VectorXd(data.labels.size())};
  bool seen_minus_one = false;
  bool seen_zero = false;
  bool seen_positive = false;
  for (Eigen::Index row = 0; row < data.labels.size(); ++row) {
    const double label = data.labels[row];
    const bool positive = label == positive_class.value_or(1);
    rows.labels[row] = positive ? 1 : 0;
    seen_positive |= positive;
    if (positive_class.has_value() || positive) continue;
    seen_minus_one |= label == -1;
    seen_zero |= label == 0;
    if ((label != -1 && label != 0) || (seen_minus_one && seen_zero)) {
      return absl::InvalidArgumentError(absl::StrCat(
          data.name, ":", row + 1, ": got label ", label,
          ", want labels -1 and +1, or 0 and 1; for other labels say which is the positive class"));
    }
  }
  if (positive_class.has_value() && !seen_positive) {
    return absl::InvalidArgumentError(absl::StrCat(data.name, ": got no record with label ",
                                                   *positive_class,
                                                   ", want at least one of the positive class"));
  }
  return rows;
}

}  // namespace epsledger::trainers
