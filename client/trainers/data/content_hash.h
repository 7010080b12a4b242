#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_CONTENT_HASH_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_CONTENT_HASH_H_

#include <string>
#include <string_view>

#include "client/trainers/data/libsvm_data.h"

namespace epsledger::trainers {

// Returns the SHA-256 of the canonical text of `records`, in lower-case hexadecimal.
//
// The canonical text has one line a record, ended by "\n": the label, then " index:value" for each
// entry that is not zero, indices from 1 and increasing; numbers are the shortest decimal text that
// reads back as the same double. So the hash identifies the CONTENT: trailing blanks, "+1" for "1",
// explicit zeros, line ends and compression do not change it, and a changed, missing or reordered
// record does. Copies of one data set differ in exactly those details, so a hash of the bytes of
// one copy would refuse the others. The number of columns is not part of the hash.
//
// O(non-zeros). REQUIRES: features is compressed.
std::string ContentSha256(const ParsedRecords& records);

// Returns the SHA-256 of the bytes, in lower-case hexadecimal.
std::string BytesSha256(std::string_view bytes);

std::string CanonicalText(const ParsedRecords& records);

// Returns the line of one record in the canonical text. REQUIRES: row in [0, features.rows()).
std::string CanonicalLine(const ParsedRecords& records, Eigen::Index row);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_CONTENT_HASH_H_
