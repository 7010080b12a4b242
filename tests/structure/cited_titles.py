"""A comment that cites a page by a title, (README, "The contour"), finds that title there: a heading or words in bold."""
import os
import re

from repository import Violation

# accounting/pld/README.md, "The contour"   or   README, "The contour" of the nearest page up the tree
CITED = re.compile(r'((?:[\w.]+/)*README(?:\.md)?),? \\?"([^"\\]+?)\\?"')
TITLE = re.compile(r"^#+ +(.*)$|\*\*([^*]+?)\*\*", re.M)
COMMENT_BREAK = re.compile(r"\n\s*(?://+ ?|\* )")


def titles(text):
    for heading, bold in TITLE.findall(text):
        yield " ".join((heading or bold).split()).rstrip(".:,")


def nearest_page(repository, file):
    folder = os.path.dirname(file)
    while folder and not repository.exists(folder + "/README.md"):
        folder = os.path.dirname(folder)
    return (folder + "/" if folder else "") + "README.md"


def check(repository):
    for file in repository.sources():
        text = repository.text(file)
        joined = COMMENT_BREAK.sub(lambda broken: " ", text)
        for found in CITED.finditer(joined):
            page, title = found[1], " ".join(found[2].split())
            page = page if page.endswith(".md") else page + ".md"
            if "/" not in page:
                page = nearest_page(repository, file)
            there = repository.exists(page) and list(titles(repository.text(page)))
            if not there or title not in there:
                at = text.find(found[2].split()[0])
                line = text.count("\n", 0, max(at, 0)) + 1
                yield Violation(file, line, "cited-title", '%s has no "%s"' % (page, title))
