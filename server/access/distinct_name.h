#ifndef EPSLEDGER_SERVER_ACCESS_DISTINCT_NAME_H_
#define EPSLEDGER_SERVER_ACCESS_DISTINCT_NAME_H_

#include <string_view>

namespace epsledger::access {

// Returns true if no other such name of the same letters looks like this one: the name is not
// empty, and has no control, no character without width, no combining mark, no blank at an end and
// no two blanks in a row. Letters of several scripts that look alike are not found.
bool IsDistinctName(std::string_view name);

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_DISTINCT_NAME_H_
