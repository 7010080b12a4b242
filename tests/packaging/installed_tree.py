"""A build folder's `cmake --install` into a scratch prefix, and running what is in there."""
import os
import re
import subprocess
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def run(*command, expect=0, seconds=300, **more):
    """What it prints on standard output."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=more.pop("stdin", subprocess.DEVNULL),
                          timeout=seconds, **more)
    if done.returncode != expect:
        raise AssertionError("%s ended with %d, not %d:\n%s%s" % (" ".join(command), done.returncode, expect,
                                                                  done.stdout[-4000:], done.stderr[-4000:]))
    return done.stdout


def times_of_what_is_installed(build):
    """When each program and library of a build folder was written."""
    files = ["server/epsledgerd", "client/cli/epsctl", "client/trainers/istdp/epsledger-istdp",
             "client/cpp/libepsledger_client.a", "accounting/libepsledger_accounting.a"]
    return {file: os.stat(os.path.join(build, file)).st_mtime_ns for file in files}


class InstalledTree:
    """with InstalledTree(build) as tree: ... `prefix` holds what was installed."""

    def __init__(self, build):
        self.build = build

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="epsledger-installed.")
        self.scratch = self._folder.name
        self.prefix = os.path.join(self.scratch, "prefix")
        self.log = run("cmake", "--install", self.build, "--prefix", self.prefix)
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def files(self):
        return sorted(os.path.relpath(os.path.join(at, name), self.prefix)
                      for at, _, names in os.walk(self.prefix) for name in names)

    def build_project(self, source, target):
        """Configures and builds a project that knows the prefix and nothing of the tree; its program."""
        binary = tempfile.mkdtemp(prefix="project.", dir=self.scratch)
        environment = {name: value for name, value in os.environ.items() if not re.match("(CMAKE|CCACHE)_", name)}
        run("cmake", "-S", source, "-B", binary, "-G", "Ninja", "-D", "CMAKE_PREFIX_PATH=" + self.prefix,
            "-D", "CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF", env=environment)
        run("cmake", "--build", binary, "--parallel", "1", env=environment, seconds=600)
        return os.path.join(binary, target)
