"""Markdown tables and their places in a file."""
import textwrap

COLUMNS = 100


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def wrapped(text):
    """Returns `text` with each paragraph filled to COLUMNS. Tables and links to pictures stay as they are."""
    paragraphs = text.strip("\n").split("\n\n")
    return "\n\n".join(each if each.startswith(("|", "![")) else textwrap.fill(each, COLUMNS, break_on_hyphens=False)
                       for each in paragraphs)


def put(text, name, content):
    """Returns `text` with the lines between the markers of `name` replaced by `content`:
        <!-- experiment NAME -->
        <!-- end of NAME -->
    New markers go to the end."""
    begin, end = "<!-- experiment %s -->" % name, "<!-- end of %s -->" % name
    block = "%s\n%s\n%s" % (begin, content.strip("\n"), end)
    if begin not in text:
        return text.rstrip("\n") + "\n\n" + block + "\n"
    before, rest = text.split(begin, 1)
    if end not in rest:
        raise SystemExit("experiments: the marker '%s' has no '%s'" % (begin, end))
    return before + block + rest.split(end, 1)[1]
