"""Reading the CMakeLists.txt files: which are reached, which sources they name, what targets link.

An interpreter of the few commands that decide this (set, foreach, add_subdirectory and those that make
targets). Both branches of an if() count as reached; the bodies of functions are not looked into.
"""
import collections
import os
import re

Command = collections.namedtuple("Command", "name arguments line")
Target = collections.namedtuple("Target", "name folder file line links")

_TOKEN = re.compile(
    r'\#\[(?P<bc>=*)\[.*?\](?P=bc)\]|\#[^\n]*|\[(?P<ba>=*)\[(?P<bracket>.*?)\](?P=ba)\]'
    r'|"(?P<quoted>(?:\\.|[^"\\])*)"|(?P<paren>[()])|(?P<word>[^\s()"#]+)|(?P<space>\s+)', re.DOTALL)
_MAKES_TARGET = {"add_library", "add_executable", "epsledger_library", "epsledger_executable", "epsledger_test",
                 "epsledger_test_library", "epsledger_benchmark", "epsledger_fuzzer"}
_KEYWORDS = {"SOURCES", "LINKS", "LABELS", "TIMEOUT", "DEPENDS", "SERIAL", "SMOKE", "RPC", "LEDGER", "COMPUTES", "ALONE"}
_LINK_WORDS = {"PUBLIC", "PRIVATE", "INTERFACE", "debug", "optimized", "general"}


def commands(text):
    """The commands of a file, in order."""
    result, name, arguments, depth, start = [], None, [], 0, 0
    for token in _TOKEN.finditer(text):
        line = text.count("\n", 0, token.start()) + 1
        if token.group("paren") == "(":
            depth += 1
        elif token.group("paren") == ")":
            depth -= 1
            if depth == 0 and name:
                result.append(Command(name.lower(), arguments, start))
                name, arguments = None, []
        elif depth == 0 and token.group("word"):
            name, start = token.group("word"), line
        elif depth > 0:
            for group in ("quoted", "bracket", "word"):
                if token.group(group) is not None:
                    arguments.append((token.group(group), group))
    return result


def linked_name(link):
    """The library in a generator expression that is about where the target is used, as $<BUILD_INTERFACE:a::b>."""
    return re.sub(r"^\$<(?:BUILD_INTERFACE|LINK_ONLY):([\w:+-]+)>$", r"\1", link)


class Build:
    """What the build of a tree consists of, starting from the CMakeLists.txt in a folder, the tree's root unless said."""

    def __init__(self, repository, root=""):
        self.repository = repository
        self.reached = []         # CMakeLists.txt files
        self.absent = []          # (file, line, folder): added as a subdirectory, and not there
        self.sources = {}         # source file -> set of the commands that name it
        self.targets = {}         # name -> Target
        self._aliases = {}
        self._read_folder(root, {})

    def target(self, name):
        return self.targets.get(self._aliases.get(name, name))

    def _read_folder(self, folder, variables):
        file = os.path.join(folder, "CMakeLists.txt")
        self.reached.append(file)
        scope = dict(variables, CMAKE_CURRENT_SOURCE_DIR=self.repository.path(folder).rstrip("/"),
                     CMAKE_CURRENT_LIST_DIR=self.repository.path(folder).rstrip("/"),
                     PROJECT_SOURCE_DIR=self.repository.root, CMAKE_SOURCE_DIR=self.repository.root)
        self._run(commands(self.repository.text(file)), file, folder, scope)

    def _run(self, block, file, folder, scope):
        position = 0
        while position < len(block):
            command = block[position]
            if command.name in ("function", "macro", "foreach"):
                end = self._end_of(block, position)
                if command.name == "foreach":
                    self._loop(command, block[position + 1:end], file, folder, scope)
                position = end
            else:
                self._execute(command, file, folder, scope)
            position += 1

    @staticmethod
    def _end_of(block, position):
        opening, depth = block[position].name, 0
        for index in range(position, len(block)):
            depth += {opening: 1, "end" + opening: -1}.get(block[index].name, 0)
            if depth == 0:
                return index
        return len(block)

    def _loop(self, command, body, file, folder, scope):
        variable, *values = self._expand(command.arguments, scope)
        if values[:2] == ["IN", "LISTS"]:
            values = [item for name in values[2:] for item in scope.get(name, "").split(";") if item]
        elif values[:2] == ["IN", "ITEMS"]:
            values = values[2:]
        for value in values:
            scope[variable] = value
            self._run(body, file, folder, scope)

    @staticmethod
    def _expand(arguments, scope):
        result = []
        for text, kind in arguments:
            if kind != "bracket":
                for _ in range(5):
                    text = re.sub(r"\$\{(\w+)\}", lambda m: scope.get(m.group(1), m.group(0)), text)
            result.extend([text] if kind != "word" else [part for part in text.split(";") if part])
        return result

    def _execute(self, command, file, folder, scope):
        arguments = self._expand(command.arguments, scope)
        if not arguments:
            return
        if command.name == "set":
            scope[arguments[0]] = ";".join(a for a in arguments[1:] if a != "PARENT_SCOPE")
        elif command.name == "list" and arguments[0] == "APPEND" and len(arguments) > 2:
            scope[arguments[1]] = ";".join(filter(None, [scope.get(arguments[1], "")] + arguments[2:]))
        elif command.name == "add_subdirectory":
            below = os.path.normpath(os.path.join(folder, arguments[0]))
            if self.repository.exists(os.path.join(below, "CMakeLists.txt")):
                self._read_folder(below, scope)
            else:
                self.absent.append((file, command.line, below))
        elif command.name in _MAKES_TARGET:
            if "ALIAS" in arguments:
                self._aliases[arguments[0]] = arguments[arguments.index("ALIAS") + 1]
            else:
                self.targets[arguments[0]] = Target(arguments[0], folder, file, command.line,
                                                    [(linked_name(link), command.line, file)
                                                     for link in _section(arguments, "LINKS")])
        elif command.name == "target_link_libraries":
            target = self.target(arguments[0])
            if target:
                target.links.extend((linked_name(link), command.line, file) for link in arguments[1:]
                                    if link not in _LINK_WORDS)
        if command.name not in ("file", "message"):
            for argument in arguments:
                if argument.endswith(".cc") and not re.search(r"[*$]|\.pb\.cc$", argument):
                    absolute = os.path.normpath(os.path.join(self.repository.path(folder), argument))
                    self.sources.setdefault(os.path.relpath(absolute, self.repository.root), set()).add(command.name)


def _section(arguments, keyword):
    inside, result = False, []
    for argument in arguments:
        if argument in _KEYWORDS:
            inside = argument == keyword
        elif inside:
            result.append(argument)
    return result
