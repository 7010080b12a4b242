#include "client/trainers/data/content_hash.h"

#include <openssl/sha.h>

#include <array>
#include <charconv>

namespace epsledger::trainers {
namespace {

template <class Number>
void AppendNumber(Number number, std::string* text) {
  std::array<char, 32> buffer;  // the shortest text of a double has at most 24 characters
  const char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  text->append(buffer.data(), static_cast<size_t>(end - buffer.data()));
}

}  // namespace

std::string CanonicalLine(const ParsedRecords& records, Eigen::Index row) {
  std::string text;
  AppendNumber(records.labels[row] + 0.0, &text);  // -0 becomes 0
  for (SparseRows::InnerIterator entry(records.features, row); entry; ++entry) {
    if (entry.value() == 0) continue;
    text.push_back(' ');
    AppendNumber(entry.col() + 1, &text);
    text.push_back(':');
    AppendNumber(entry.value(), &text);
  }
  text.push_back('\n');
  return text;
}

std::string CanonicalText(const ParsedRecords& records) {
  std::string text;
  for (Eigen::Index row = 0; row < records.features.rows(); ++row) {
    text += CanonicalLine(records, row);
  }
  return text;
}

std::string BytesSha256(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hexadecimal;
  for (const unsigned char byte : digest) {
    hexadecimal.push_back(kDigits[byte >> 4]);
    hexadecimal.push_back(kDigits[byte & 15]);
  }
  return hexadecimal;
}

std::string ContentSha256(const ParsedRecords& records) {
  return BytesSha256(CanonicalText(records));
}

}  // namespace epsledger::trainers
