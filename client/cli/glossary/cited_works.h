#ifndef EPSLEDGER_CLIENT_CLI_GLOSSARY_CITED_WORKS_H_
#define EPSLEDGER_CLIENT_CLI_GLOSSARY_CITED_WORKS_H_

#include <vector>

#include "client/cli/glossary/glossary.h"

namespace epsledger::cli {

// Returns an entry for each work that theorems are cited from: "CKS20" for [CKS20]. Its text names
// the authors, the title and where it appeared.
std::vector<GlossaryEntry> CitedWorks();

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_GLOSSARY_CITED_WORKS_H_
