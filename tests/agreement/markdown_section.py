"""Generated sections of Markdown files, between <!-- NAME:begin --> and <!-- NAME:end -->."""


def replace(path, name, section):
    """Puts `section` between the markers of the file. ValueError if they are not there once each."""
    begin, end = "<!-- %s:begin -->" % name, "<!-- %s:end -->" % name
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError("%s: want %s and then %s, once each" % (path, begin, end))
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("%s%s\n%s\n%s%s" % (head, begin, section.strip("\n"), end, tail))
