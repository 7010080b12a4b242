#include "client/cli/print/sentence.h"

#include <ostream>

#include "proto/bridge/printable.h"

namespace epsledger::cli {

void PrintSentence(std::ostream& err, std::string_view text) {
  err << "epsctl: " << bridge::Printable(text) << "\n" << std::flush;
}

}  // namespace epsledger::cli
