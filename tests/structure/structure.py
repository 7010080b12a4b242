"""structure.py [--root DIR] [--list] CHECK...

Checks the shape of the source tree. Prints one line a violation (file:line: rule: reason) and ends with
1 when there is one, with 77 when a part was skipped because a tool is missing, and with 0 otherwise.
"""
import argparse
import os
import sys

import arrows
import built_sources
import called_functions
import circles
import cited_titles
import containers
import file_shape
import formatting
import links
import machine_paths
import shell_scripts
import type_names
import used_headers
import vendored_files
import versions
from repository import Repository

CHECKS = {
    "arrows": arrows.check,
    "circles": circles.check,
    "links": links.check,
    "sources_are_built": built_sources.check,
    "headers_are_used": used_headers.check,
    "functions_are_called": called_functions.check,
    "cited_titles": cited_titles.check,
    "type_names": type_names.check,
    "file_shape": file_shape.check,
    "vendored_files": vendored_files.check,
    "machine_paths": machine_paths.check,
    "shell_scripts": shell_scripts.check,
    "containers": containers.check,
    "versions": versions.check,
    "format": formatting.check,
}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.join(here, "..", ".."), help="the source tree")
    parser.add_argument("--list", action="store_true", help="print the names of the checks")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="default: all of them")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CHECKS))
        return 0
    unknown = [name for name in options.checks if name not in CHECKS]
    if unknown:
        parser.error("no check %s (there are: %s)" % (", ".join(unknown), ", ".join(CHECKS)))

    repository = Repository(options.root)
    violations = 0
    for name in options.checks or CHECKS:
        for violation in CHECKS[name](repository):
            violations += 1
            print(violation)
    for reason in repository.skipped:
        print("skipped: " + reason)
    print("%d violations" % violations)
    return 1 if violations else 77 if repository.skipped else 0


if __name__ == "__main__":
    sys.exit(main())
