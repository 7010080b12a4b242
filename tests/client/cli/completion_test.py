"""What bash, zsh and fish complete with the scripts of epsctl: completion_test.py BUILD_DIR

The scripts are asked in the shells themselves and held against the commands and options of --help. A
shell that is not installed is left out, and the last line says so: then the test ends with 77.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from command_tree import walk

SHELLS = ("bash", "zsh", "fish")

# Reads the words of a command line, one in a line, END at its end; the last word is the one
# that is being typed. Prints what may stand there, one in a line, and END.
ASK_BASH = r"""
source "$1"
[[ $(complete -p epsctl) == 'complete -F _epsctl epsctl' ]] || exit 9
COMP_WORDS=()
while IFS= read -r word; do
  if [[ $word != END ]]; then COMP_WORDS+=("$word"); continue; fi
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _epsctl
  printf '%s\n' "${COMPREPLY[@]}" END
  COMP_WORDS=()
done
"""

# The functions of zsh's completion system print what they are given: what fits the word, as they do.
ASK_ZSH = r"""
compdef() { }
compset() { words[CURRENT]=${words[CURRENT]#*=} }
compadd() { shift; for one; do [[ $one == ${words[CURRENT]}* ]] && print -r -- $one; done }
_describe() { for one in ${(P)2}; do compadd -- ${one%%:*}; done }
_files() { for one in ${words[CURRENT]}*(N); do print -r -- $one; done }
source $1
words=()
while IFS= read -r word; do
  if [[ $word != END ]]; then words+=("$word"); continue; fi
  CURRENT=${#words}
  _epsctl
  print END
  words=()
done
"""

ASK_FISH = r"""
source $argv[1]
set -l words
while read -l word
    if test "$word" != END
        set -a words "$word"
        continue
    end
    complete -C (string join ' ' -- $words) | string replace -r '\t.*' ''
    echo END
    set words
end
"""


class CompletionTest(unittest.TestCase):
    epsctl = None

    @classmethod
    def setUpClass(cls):
        cls.commands = walk(cls.epsctl)
        cls.by_path = {command.path: command for command in cls.commands}
        scratch = tempfile.TemporaryDirectory(prefix="epsledger-completion.")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        open(os.path.join(cls.folder, "scores.csv"), "wb").close()
        for shell in SHELLS:
            with open(cls.script(shell), "wb") as file:
                subprocess.run([cls.epsctl, "completion", shell], stdout=file, check=True, timeout=60)

    @classmethod
    def script(cls, shell):
        return os.path.join(cls.folder, "epsctl." + shell)

    def for_each_shell(self, check):
        for shell in SHELLS:
            if shutil.which(shell):
                with self.subTest(shell):
                    check(shell)

    def ask(self, shell, lines, programs=()):
        """What may stand for the last word of each line, sorted. `programs` are folders where the shell looks first."""
        program = {"bash": ["bash", "--norc", "-c", ASK_BASH, "bash"], "zsh": ["zsh", "-f", "-c", ASK_ZSH, "zsh"],
                   "fish": ["fish", "--no-config", "-c", ASK_FISH]}[shell]
        asked = "".join("".join(word + "\n" for word in line) + "END\n" for line in lines)
        run = subprocess.run([*program, self.script(shell)], input=asked, capture_output=True, text=True,
                             cwd=self.folder, timeout=120,
                             env={"PATH": os.pathsep.join((*programs, os.environ.get("PATH", os.defpath))),
                                  "HOME": self.folder, "LC_ALL": "C.UTF-8"})
        self.assertEqual((run.returncode, run.stderr), (0, ""), shell)
        answers = run.stdout.split("END\n")
        self.assertEqual(len(answers), len(lines) + 1)
        return [sorted(set(answer.split("\n")) - {""}) for answer in answers[:-1]]

    def test_the_scripts_parse(self):
        def check(shell):
            run = subprocess.run([shell, "-n", self.script(shell)], capture_output=True, text=True, timeout=60)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.for_each_shell(check)

    def test_every_command_completes_to_its_verbs(self):
        nouns = [command for command in self.commands if command.verbs]
        self.assertGreater(len(nouns), 10)
        def check(shell):
            answers = self.ask(shell, [("epsctl", *noun.path, "") for noun in nouns])
            for noun, answer in zip(nouns, answers):
                self.assertEqual(answer, sorted(noun.verbs), noun.path)
        self.for_each_shell(check)

    def test_every_command_completes_to_its_options_and_the_global_ones(self):
        everywhere = self.by_path[()].options()
        self.assertIn("--server", everywhere)
        def check(shell):
            answers = self.ask(shell, [("epsctl", *command.path, "--") for command in self.commands])
            for command, answer in zip(self.commands, answers):
                offered = {name for name in answer if name.startswith("--")}
                self.assertEqual(offered, command.options() | everywhere, command.path)
        self.for_each_shell(check)

    def test_values_options_before_verbs_and_beginnings(self):
        expected = [
            (("budget", "cr"), ["create"]),
            (("-o", "json", "budget", "cr"), ["create"]),
            (("--server", "budget", "session", "cl"), ["close"]),
            (("-o", "js"), ["json", "jsonl"]),
            (("budget", "get", "adult", "--output", "c"), ["csv"]),
            (("budget", "create", "--relation", "replace-"), ["replace-one", "replace-special"]),
            (("token", "create", "--role", ""), ["admin", "trainer", "viewer"]),
            (("token", "create", "--days", ""), []),
            (("explain", "budget-ex"), ["budget-exhausted"]),
            (("audit", "--scores", "sc"), ["scores.csv"]),
            (("statement", "verify", "sc"), ["scores.csv"]),
            (("no-such", "budget", "li"), ["list"]),
        ]
        def check(shell):
            answers = self.ask(shell, [("epsctl", *line) for line, _ in expected])
            for (line, wanted), answer in zip(expected, answers):
                self.assertEqual(answer, wanted, line)
        self.for_each_shell(check)
        self.assertEqual(self.ask("bash", [("epsctl", "--output", "=", "ta"), ("epsctl", "--output", "=")]),
                         [["table"], ["csv", "json", "jsonl", "table", "text", "wide"]])
        if shutil.which("zsh"):
            self.assertEqual(self.ask("zsh", [("epsctl", "--output=ta")]), [["table"]])


    def test_names_come_from_the_server(self):
        # In place of a server: an epsctl that knows the names of one.
        with tempfile.TemporaryDirectory(prefix="epsledger-completion.") as programs:
            path = os.path.join(programs, "epsctl")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\ncase $* in\n  'completion names budget') printf 'adult\\ndigits\\n' ;;\n"
                           "  'completion names session') echo adult/run-1 ;;\n  *) exit 2 ;;\nesac\n")
            os.chmod(path, 0o755)
            expected = [
                (("budget", "get", ""), ["adult", "digits"]),
                (("budget", "get", "di"), ["digits"]),
                (("budget", "create", "x", "--parent", ""), ["adult", "digits"]),
                (("session", "get", "ad"), ["adult/run-1"]),
                (("session", "list", "ad"), ["adult"]),
            ]
            def check(shell):
                answers = self.ask(shell, [("epsctl", *line) for line, _ in expected], (programs,))
                for (line, wanted), answer in zip(expected, answers):
                    self.assertEqual(answer, wanted, line)
            self.for_each_shell(check)


if __name__ == "__main__":
    CompletionTest.epsctl = os.path.join(os.path.abspath(sys.argv.pop(1)), "client", "cli", "epsctl")
    result = unittest.main(exit=False).result
    missing = [shell for shell in SHELLS if not shutil.which(shell)]
    if result.wasSuccessful() and missing:
        print("skipped: %s not installed (docker/packages/test.txt)" % " and ".join(missing))
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
