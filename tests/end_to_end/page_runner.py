"""Runs the blocks of a Markdown page in their order, and compares what they print with what the page shows.

    with Reader(build) as reader:              # a new machine: an empty home, no server, no variables
        page = reader.read("client/guide/TUTORIAL.md")
        page.problems                          # sentences; empty if the page does what it says
        page.steps                             # Step(where, prompt, seconds), every prompt in its order

What a block is follows from the words after its fence:

    console    lines that begin with "$ " are typed into one bash, which lives as long as the reader; the lines
               below are what it prints, errors too. A line "..." stands for any lines, "..." in a line for any text,
               and a line that ends with a backslash goes on in the next one.
               A command must succeed, unless `echo $?` comes next.
    sh         commands that must succeed; what they print is not shown.
    python     run in one Python, which lives as long as the reader. If a block `text` comes next, it is the output.
               `python NAME` needs the package NAME: run by the Python of EPSLEDGER_PEERS_PYTHON, each alone, with
               epsledger beside it. Their accountants need neither torch nor tensorflow, and run without them.
    by hand    what only a reader can do (an installation): not run, and counted in page.by_hand.

Everything else (json, cpp, blocks without a word) is not run. Addresses of the pages become free ones, and the folder
/var/tmp/epsledger becomes one of the reader.
"""
import ast
import collections
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback

from served_ledger import HeldPort

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
GRPC_ADDRESS, HTTP_ADDRESS, FOLDER = "127.0.0.1:50551", "127.0.0.1:8080", "/var/tmp/epsledger"
HANGS_SECONDS = 300

# Before a block that needs another library: what leaves out the parts of it that need a framework.
PRELUDES = {
    "opacus": """
import sys
sys.path.append({agreement!r})
import peers
peers.import_opacus_accountants()
""",
    "tensorflow_privacy": """
import importlib.util, sys, types
folder, = importlib.util.find_spec("tensorflow_privacy").submodule_search_locations
if importlib.util.find_spec("tensorflow") is None:
    for name in ("tensorflow_privacy", "tensorflow_privacy.privacy", "tensorflow_privacy.privacy.analysis"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [folder + "/" + "/".join(name.split(".")[1:])]
"""}

Block = collections.namedtuple("Block", "line kind text")
Step = collections.namedtuple("Step", "where prompt seconds")


def blocks(markdown):
    """The fenced blocks; `line` is where the first line of the text stands."""
    found, kind, begin, lines = [], None, 0, []
    for number, line in enumerate(markdown.split("\n"), 1):
        fence = re.match(r"```(.*)$", line)
        if fence and kind is None:
            kind, begin, lines = fence.group(1).strip(), number + 1, []
        elif fence:
            found.append(Block(begin, kind, "\n".join(lines)))
            kind = None
        elif kind is not None:
            lines.append(line)
    return found


def prompts(text):
    """[(offset of the line, command, expected output)] of a console block."""
    found = []
    for offset, line in enumerate(text.split("\n")):
        if line.startswith("$ "):
            found.append([offset, line[2:], []])
        elif found and found[-1][1].endswith("\\") and not found[-1][2]:
            found[-1][1] += "\n" + line
        elif found:
            found[-1][2].append(line)
    return [(offset, command, "\n".join(output)) for offset, command, output in found]


def matches(expected, printed):
    """Whether the page shows what was printed. Spaces at the ends of lines do not count, and a line that ends with a
    backslash goes on after the spaces of the next one."""
    expected = re.sub(r" \\\n *", " ", expected)
    lines = [line.rstrip() for line in expected.strip("\n").split("\n")]
    pattern = "".join(r"(?:[^\n]*\n)*?" if line == "..." else
                      r"[^\n]*?".join(map(re.escape, line.split("..."))) + r"\n" for line in lines)
    shown = "".join(line.rstrip() + "\n" for line in printed.strip("\n").split("\n"))
    return re.fullmatch(pattern, shown) is not None


class Shell:
    """One bash. run() returns (exit code, what was printed)."""

    END = "that was all of it"

    def __init__(self, environment, folder):
        self._bash = subprocess.Popen(["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, env=environment, cwd=folder,
                                      start_new_session=True)

    def run(self, command):
        # The exit code is kept for an `echo $?` that comes next. Programs do not read what comes after them.
        self._bash.stdin.write("{ %s\n} </dev/null; code=$?; printf '\\n%s %%d\\n' $code; (exit $code)\n"
                               % (command, self.END))
        self._bash.stdin.flush()
        printed = []
        for line in self._bash.stdout:
            end = re.fullmatch(re.escape(self.END) + r" (\d+)\n", line)
            if end:
                return int(end.group(1)), "".join(printed)[:-1]
            # What bash says of a server that a page killed, before or after the next line is read.
            if not re.fullmatch(r"bash: line \d+: +\d+ (Killed|Terminated) .*\n", line):
                printed.append(line)
        raise AssertionError("bash ended at: " + command)

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._bash.pid, 15)  # the servers that the page started, too
        self._bash.stdin.close()
        self._bash.stdout.close()
        self._bash.wait()


class Page:
    """What happened while a page was read."""

    def __init__(self, name):
        self.name, self.problems, self.steps, self.by_hand, self.skipped = name, [], [], [], []

    def problem(self, line, command, expected, printed):
        self.problems.append("%s:%d: %s\n--- the page shows\n%s\n--- there was\n%s"
                             % (self.name, line, command, expected, printed))


class Reader:
    """Somebody with the built programs on PATH, and nothing else."""

    def __init__(self, build, peers=os.environ.get("EPSLEDGER_PEERS_PYTHON")):
        self._build, self._peers = os.path.abspath(build), peers

    def __enter__(self):
        self._ports = [HeldPort(), HeldPort()]
        self._folder = tempfile.TemporaryDirectory(prefix="epsledger-reader.")
        home = os.path.join(self._folder.name, "home")
        os.mkdir(home)
        self._addresses = {GRPC_ADDRESS: self._ports[0].address, HTTP_ADDRESS: self._ports[1].address,
                           FOLDER: os.path.join(self._folder.name, "ledger")}
        search = [os.path.join(self._build, name) for name in ("server", "client/cli")]
        self._packages = [os.path.join(ROOT, "client", "python"), os.path.join(self._build, "client/python/accounting")]
        self._environment = {
            "PATH": os.pathsep.join(search + [os.environ.get("PATH", os.defpath)]), "HOME": home, "LC_ALL": "C.UTF-8",
            "EPSLEDGER_SERVER": self._ports[0].address, "EPSLEDGER_HTTP": "http://" + self._ports[1].address,
            "EPSLEDGER_OUTPUT": "table", "EPSLEDGER_TIMEOUT": str(HANGS_SECONDS), "no_proxy": "*",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(self._packages + ["/usr/lib/python3/dist-packages"])}
        self._shell = Shell(self._environment, home)
        self._names = {"__name__": "__main__"}
        self.typed = []
        return self

    def __exit__(self, *_):
        self._shell.close()
        for port in self._ports:
            port.close()
        self._folder.cleanup()

    def read(self, name, section=None):
        """Runs the blocks of a page, or of one of its sections ("## ...")."""
        with open(os.path.join(ROOT, name), encoding="utf-8") as stream:
            text = stream.read()
        if section is not None:
            start = text.index("\n## %s\n" % section)
            end = text.find("\n## ", start + 1)
            # Line numbers stay those of the page.
            text = "\n" * text[:start].count("\n") + text[start:end if end >= 0 else len(text)]
        page = Page(name)
        found = blocks(text)
        for block, after in zip(found, found[1:] + [Block(0, "", "")]):
            words = block.kind.split()
            if block.kind == "console":
                self._type(page, block)
            elif block.kind == "sh":
                self._type(page, Block(block.line, "sh", "\n".join(self._as_prompts(block.text))))
            elif words[:1] == ["python"]:
                self._python(page, block, after.text if after.kind == "text" else None, words[1:])
            elif block.kind == "by hand":
                page.by_hand.append(block.text)
        return page

    @staticmethod
    def _as_prompts(text):
        going_on = False
        for line in text.split("\n"):
            if line.strip():
                yield line if going_on or line.startswith("#") else "$ " + line
            going_on = line.endswith("\\")

    def here(self, text):
        for there, address in self._addresses.items():
            text = text.replace(there, address)
        # The page leaves the default address out; here it is another one.
        return re.sub(r"\bepsledgerd (?=--data-dir)", "epsledgerd --listen %s " % self._ports[0].address, text)

    def there(self, text):
        for there, address in self._addresses.items():
            text = text.replace(address, there)
        return text

    def type(self, where, command):
        """(exit code, what was printed) of one command that a page shows; recorded in `typed`."""
        begin = time.monotonic()
        # A server that was started with & would keep the pipe, and what it logs is no answer.
        command = re.sub(r"^(epsledgerd .*) &$", r"\1 2>ledger.log &", command)
        code, printed = self._shell.run(self.here(command))
        self.typed.append(Step(where, command, time.monotonic() - begin))
        return code, self.there(printed)

    def _type(self, page, block):
        found = prompts(block.text)
        for number, (offset, command, expected) in enumerate(found):
            line = block.line + offset
            begin = time.monotonic()
            code, printed = self._shell.run(self.here(command))
            page.steps.append(Step("%s:%d" % (page.name, line), command, time.monotonic() - begin))
            printed = self.there(printed)
            asked = number + 1 < len(found) and found[number + 1][1] == "echo $?"
            if code and not asked:
                page.problem(line, command, "success", "exit code %d: %s" % (code, printed))
            elif block.kind == "console" and not matches(expected, printed):
                page.problem(line, command, expected, printed)

    def _python(self, page, block, expected, needs):
        begin = time.monotonic()
        if needs:
            code = PRELUDES.get(needs[0], "").format(agreement=os.path.join(ROOT, "tests", "agreement"))
            if not self._peer_has(needs[0]):
                page.skipped.append("%s:%d needs %s (EPSLEDGER_PEERS_PYTHON)" % (page.name, block.line, needs[0]))
                return
            run = subprocess.run([self._peers, "-W", "ignore", "-B", "-c", code + self.here(block.text)],
                                 capture_output=True, text=True, timeout=HANGS_SECONDS,
                                 env={**self._environment, "PYTHONPATH": self._packages[0]})
            failed, printed = run.returncode, run.stdout + (run.stderr if run.returncode else "")
        else:
            failed, printed = self._here_in_python(page, block)
        page.steps.append(Step("%s:%d" % (page.name, block.line), block.text, time.monotonic() - begin))
        if failed:
            page.problem(block.line, block.text, "success", printed)
        elif expected is not None and not matches(expected, self.there(printed)):
            page.problem(block.line, block.text, expected, printed)

    def _peer_has(self, package):
        found = "import importlib.util, sys; sys.exit(importlib.util.find_spec(%r) is None)" % package
        return self._peers and not subprocess.run([self._peers, "-c", found], capture_output=True).returncode

    def _here_in_python(self, page, block):
        """As `python3` at a prompt does: an error is printed, and is one unless the block catches it."""
        printed = io.StringIO()
        kept_environment, kept_path = dict(os.environ), list(sys.path)
        os.environ.update({k: v for k, v in self._environment.items() if k.startswith("EPSLEDGER_")})
        sys.path[:0] = self._packages
        try:
            with contextlib.redirect_stdout(printed):
                tree = ast.parse(self.here(block.text), "%s:%d" % (page.name, block.line))
                exec(compile(tree, page.name, "exec"), self._names)
            return 0, printed.getvalue()
        except Exception:  # whatever it is, the page does not do what it says
            return 1, printed.getvalue() + traceback.format_exc()
        finally:
            os.environ.clear()
            os.environ.update(kept_environment)
            sys.path[:] = kept_path
