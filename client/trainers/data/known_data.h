#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_KNOWN_DATA_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_KNOWN_DATA_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace epsledger::trainers {

// One file of a known data set.
struct KnownFile {
  // Below a data directory, tried in this order, each also with ".gz".
  std::vector<std::string> file_names;
  // ContentSha256 of the parsed records.
  std::string content_sha256;
  // The public origin; empty if no origin serves this content.
  std::string url;
};

// A data set that users can request by name. Everything here is public and part of the program.
struct KnownData {
  std::string name;
  std::vector<std::string> aliases;
  int feature_count = 0;
  KnownFile train;
  std::optional<KnownFile> test;  // absent: every fourth record is held out
  // A table below scikit-learn's data folder; empty if the set has none.
  std::string package_file;
  // The table is raw: scale each feature to [-1, 1] by the sample's range, and class 0 is +1.
  bool package_file_is_raw_wdbc = false;
  // Features lie in [0, public_range] by the definition of the format and are divided by it.
  double public_range = 1;
  std::optional<double> positive_class;  // for sets of more than two classes
};

// Returns every known set: a9a, wdbc (breast-cancer), digits, german, w8a.
const std::vector<KnownData>& AllKnownData();

// Returns the set with this name or alias, or nullptr.
const KnownData* FindKnownData(std::string_view name);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_KNOWN_DATA_H_
