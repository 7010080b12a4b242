"""Reading C++ just well enough: includes, and code without its comments and literals."""
import re

_COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]')
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.DOTALL)


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def includes(text):
    """(line, path) of each include directive."""
    for number, line in enumerate(_COMMENT.sub(_blank, text).split("\n"), 1):
        match = _INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def code_lines(text):
    """(line, code) with comments, strings, characters and include directives blanked out."""
    # A digit separator (1'000) is not the start of a character literal.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", text)
    for number, line in enumerate(_COMMENT_OR_LITERAL.sub(_blank, text).split("\n"), 1):
        yield number, "" if _INCLUDE.match(line) else line
