#ifndef EPSLEDGER_ACCOUNTING_EVENT_STATUS_MACROS_H_
#define EPSLEDGER_ACCOUNTING_EVENT_STATUS_MACROS_H_

// Errors that pass through a function unchanged. For .cc files only: the names are short.

#include <utility>

#include "absl/status/status.h"

// Returns the absl::Status of the expression from the enclosing function unless it is OK.
#define RETURN_IF_ERROR(...) EPSLEDGER_RETURN_IF_ERROR(EPSLEDGER_UNIQUE(status), __VA_ARGS__)

// Evaluates an absl::StatusOr<T>. Returns its status from the enclosing function if it holds no
// value; otherwise initializes `declaration` with the value:
//
//   ASSIGN_OR_RETURN(const std::string name, ParseName(text));
//
// `declaration` holds no comma outside parentheses.
#define ASSIGN_OR_RETURN(declaration, ...) \
  EPSLEDGER_ASSIGN_OR_RETURN(EPSLEDGER_UNIQUE(status_or), declaration, __VA_ARGS__)

#define EPSLEDGER_RETURN_IF_ERROR(result, ...) \
  do {                                         \
    absl::Status result = (__VA_ARGS__);       \
    if (!result.ok()) return result;           \
  } while (false)
#define EPSLEDGER_ASSIGN_OR_RETURN(result, declaration, ...) \
  auto result = (__VA_ARGS__);                               \
  if (!result.ok()) return std::move(result).status();       \
  declaration = *std::move(result)
#define EPSLEDGER_UNIQUE(name) EPSLEDGER_JOIN(name##_, __COUNTER__)
#define EPSLEDGER_JOIN(a, b) EPSLEDGER_JOIN_NOW(a, b)
#define EPSLEDGER_JOIN_NOW(a, b) a##b

#endif  // EPSLEDGER_ACCOUNTING_EVENT_STATUS_MACROS_H_
