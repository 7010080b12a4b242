#ifndef EPSLEDGER_CLIENT_CLI_PRINT_CHART_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_CHART_H_

// Charts of one line, for terminals. They are ASCII where Unicode is not understood.

#include <string>
#include <vector>

namespace epsledger::cli {

inline constexpr int kBarWidth = 20;

// Returns a bar of kBarWidth characters: what is spent, with the part that open leases hold drawn
// lighter, and what is left. The arguments are shares of the cap. A character that is partly spent
// is drawn as spent, so that no bar is emptier than the truth; a share that is NaN or above 1 fills
// the bar.
std::string Bar(double spent, double leased, bool unicode);

// Returns a character for each value: its height between 0 and `top`, rounded up; values above
// `top`, infinities and NaN have the full height. REQUIRES: top > 0.
std::string Sparkline(const std::vector<double>& values, double top, bool unicode);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_CHART_H_
