#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_WAITING_NOTICE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_WAITING_NOTICE_H_

#include <functional>
#include <ostream>
#include <string>

#include "epsledger/client.h"

namespace epsledger::trainers {

// Returns a function that reports on `out` that a call waits for an unreachable server: after one
// second, then every ten seconds while the wait lasts. For RetryOptions::on_wait of a program that
// makes one call at a time. `out` must outlive the function.
std::function<void(const RetryWait&)> WaitingNotice(const std::string& program,
                                                    const std::string& address, std::ostream& out);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_WAITING_NOTICE_H_
