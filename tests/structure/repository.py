"""The source tree as the checks see it: its files, their text, and the form of a violation."""
import collections
import os
import subprocess

GENERATED_FOLDERS = {"build", ".git", ".cache", "__pycache__", "node_modules"}


class Violation(collections.namedtuple("Violation", "file line rule reason")):
    def __str__(self):
        return "%s:%d: %s: %s" % (self.file, self.line, self.rule, self.reason)


class Repository:
    """Files that are committed or about to be (git's own list), or all of them where git is not at hand."""

    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.skipped = []  # reasons why a part of a check did not run
        self._files = None

    def files(self):
        if self._files is None:
            listed = self._files_of_git() if os.path.exists(os.path.join(self.root, ".git")) else None
            names = self._files_of_walk() if listed is None else listed
            self._files = sorted(f for f in names if os.path.isfile(os.path.join(self.root, f)))
        return self._files

    def _files_of_git(self):
        try:
            run = subprocess.run(
                ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return [name for name in run.stdout.decode().split("\0") if name]

    def _files_of_walk(self):
        for folder, subfolders, names in os.walk(self.root):
            subfolders[:] = [s for s in subfolders if s not in GENERATED_FOLDERS]
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.root)

    def path(self, file):
        return os.path.join(self.root, file)

    def exists(self, file):
        return os.path.exists(self.path(file))

    def text(self, file):
        with open(self.path(file), encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def sources(self, *folders):
        """C++ files below the folders (all of them when none is given)."""
        for file in self.files():
            if file.endswith((".cc", ".h")) and (not folders or is_below(file, *folders)):
                yield file


def is_below(file, *folders):
    return any(file.startswith(folder + "/") for folder in folders)
