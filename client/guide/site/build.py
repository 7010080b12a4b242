#!/usr/bin/env python3
"""Makes the documentation as a site: build.py [--links] OUTPUT

Every Markdown page of the tree, the reference of the Python client from its docstrings, and that of the API from the
protos, in OUTPUT/html, to open with a browser and without a network: no font, script or picture comes from elsewhere.
OUTPUT/source is what Sphinx reads. A link to a page, a file or a title that is not there ends this with 1. With --links
only links to pages, titles and files are checked, without Sphinx.
"""
import os
import re
import shutil
import subprocess
import sys

import api_reference
import python_reference

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
SKIPPED = {".git", "build", "node_modules", "__pycache__", ".cache"}
GUIDE = ["README", "client/guide/TUTORIAL", "client/guide/CONCEPTS", "client/guide/CHOOSING",
         "client/guide/QUESTIONS", "client/guide/FROM_OTHER_LIBRARIES", "client/guide/COMPARISON", "client/README"]
PARTS = [("The clients", "client/"), ("Running it", "docker/"), ("The mathematics", "accounting/"),
         ("The server", "server/"), ("The API", "proto/"), ("Tests", "tests/"), ("The project", "")]
LINK = re.compile(r"(?<!\\)\]\(([^)\s#:]*)(#[^)\s]*)?\)|^\[[^\]]+\]: ([^\s#:]+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(?:(python) \w+|(by hand))$", re.MULTILINE)


def pages():
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        found += [os.path.relpath(os.path.join(folder, file), ROOT) for file in files if file.endswith(".md")]
    return sorted(found)


def copy(page, source, dead):
    """One page. Links to folders become links to their README or to a list of their files; files that are no pages are
    copied, so that the site has them."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as stream:
        text = stream.read()
    folder = os.path.dirname(page)
    code = [block.span() for block in CODE.finditer(text)]

    def here(match):
        if any(begin <= match.start() < end for begin, end in code):
            return match.group(0)
        link = match.group(1) or match.group(3) or ""
        target = os.path.normpath(os.path.join(folder, link)) if link else page
        if target.startswith("..") or not os.path.exists(os.path.join(ROOT, target)):
            dead.append("%s:%d: %s is not there" % (page, text[:match.start()].count("\n") + 1, link))
            return match.group(0)
        if os.path.isdir(os.path.join(ROOT, target)):
            return match.group(0).replace(link, os.path.relpath(of_folder(target, source), folder or "."))
        if match.group(2) and match.group(2)[1:] not in anchors(target):
            line = text[:match.start()].count("\n") + 1
            dead.append("%s:%d: %s has no title %s" % (page, line, link, match.group(2)))
        if not target.endswith(".md"):
            put(os.path.join(source, target), None, os.path.join(ROOT, target))
        return match.group(0)

    put(os.path.join(source, page), FENCE.sub(lambda m: "```" + (m.group(1) or "sh"), LINK.sub(here, text)))


def anchors(page):
    """What the titles of a page are called in links."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as stream:
        titles = re.findall(r"^#+ (.*)$", CODE.sub("", stream.read()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def of_folder(folder, source):
    if os.path.exists(os.path.join(ROOT, folder, "README.md")):
        return folder + "/README.md"
    files = sorted(os.listdir(os.path.join(ROOT, folder)))
    put(os.path.join(source, folder, "FILES.md"),
        "# %s\n\nThe files of this folder:\n\n%s\n" % (folder, "\n".join("* `%s`" % file for file in files)))
    return folder + "/FILES.md"


def put(path, text, original=None):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if original:
        shutil.copyfile(original, path)
        return
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def contents(caption, entries):
    return "```{toctree}\n:caption: %s\n:maxdepth: 1\n\n%s\n```\n" % (caption, "\n".join(entries))


def index(source, python, api):
    names = [os.path.relpath(os.path.join(folder, file), source)[:-3] for folder, _, files in os.walk(source)
             for file in files if file.endswith(".md")]
    left = sorted(set(names) - set(GUIDE) - {name for name in names if name.startswith("reference/")})
    parts = [contents("Guide", GUIDE)]
    for caption, begin in PARTS:
        entries = [name for name in left if name.startswith(begin)]
        left = [name for name in left if name not in entries]
        if entries:
            parts.append(contents(caption, entries))
    parts.append(contents("Reference: Python", ["reference/python/" + name for name in python]))
    parts.append(contents("Reference: API", ["reference/api/" + name for name in api]))
    put(os.path.join(source, "index.md"), "# epsledger\n\n" + "\n".join(parts))


def main(output, only_links=False):
    source, site = os.path.join(output, "source"), os.path.join(output, "html")
    shutil.rmtree(source, ignore_errors=True)
    dead = []
    for page in pages():
        copy(page, source, dead)
    if dead:
        print("\n".join(dead), file=sys.stderr)
        return 1
    if only_links:
        return 0
    python = python_reference.write(ROOT, os.path.join(source, "reference", "python"))
    api = api_reference.write(ROOT, os.path.join(source, "reference", "api"))
    index(source, python, api)
    shutil.copyfile(os.path.join(HERE, "conf.py"), os.path.join(source, "conf.py"))
    # What Sphinx warns of is shown; dead links ended this above.
    made = subprocess.run(["/usr/bin/python3", "-B", "-m", "sphinx", "-q", "-b", "html", source, site])
    if made.returncode:
        return 1
    print("made: open %s in a browser" % os.path.join(site, "index.html"))
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[-1]), "--links" in sys.argv))
