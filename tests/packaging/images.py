"""images.py [--work DIR] [--programs BUILD_DIR]: `./dev images`, as root.

Builds the images of docker/Dockerfile without a Docker engine, by buildah with chroot isolation on a base that
debootstrap makes, and runs the services of docker/compose.yaml from them: the server becomes healthy, both trainers
train against it over TLS with no other network, a second run is refused, a stop and a start forget nothing, and nobody
is answered without a token; then the plaintext of its profile. Compiling takes as long as it takes (about an hour on
two cores); the second time it is cached in DIR.

--programs makes the packages of `./dev package` from a build folder, and the images take their programs from these
instead of compiling. The packages are then installed on the base, too, and removed again.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

from confined_service import Compose, Storage

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
BASE = "localhost/epsledger-base:bookworm"
COMPOSE = os.path.join(ROOT, "docker", "compose.yaml")
DCLINT = "dclint@3.1.0"
PACKAGES = os.path.join(ROOT, "build", "packages")  # where docker/Dockerfile looks for them
MIRROR = os.environ.get("EPSLEDGER_MIRROR", "http://deb.debian.org/debian")
SECURITY = os.environ.get("EPSLEDGER_SECURITY_MIRROR", "http://deb.debian.org/debian-security")
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
TARGETS = ("server", "cli", "trainer")
REFUSED = 3
with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as project:
    VERSION = re.search(r"project\(epsledger VERSION (\S+)", project.read())[1]


def say(text):
    print("==> " + text, flush=True)


def check(condition, text, output=""):
    if not condition:
        sys.exit("images: FAILED: %s\n%s" % (text, output[-6000:]))
    say(text)


class Images:
    def __init__(self, work):
        self.work = work
        self.policy = os.path.join(work, "policy.json")
        os.makedirs(work, exist_ok=True)
        with open(self.policy, "w", encoding="ascii") as stream:
            stream.write('{"default": [{"type": "insecureAcceptAnything"}]}\n')
        self.driver = os.environ.get("STORAGE_DRIVER") or self.driver_that_works()

    def driver_that_works(self):
        """overlay keeps one copy of each layer; vfs, which works everywhere, one of each whole image."""
        probe = self.command("overlay", "from", "scratch")
        done = subprocess.run(probe, capture_output=True, text=True)
        if done.returncode == 0:
            container = done.stdout.strip()
            mounted = subprocess.run(self.command("overlay", "mount", container), capture_output=True)
            subprocess.run(self.command("overlay", "rm", container), capture_output=True)
            if mounted.returncode == 0:
                return "overlay"
        return "vfs"

    def command(self, driver, *arguments):
        storage = os.path.join(self.work, "storage-" + driver)
        return ["buildah", "--storage-driver", driver, "--root", storage, "--runroot", storage + ".run", *arguments]

    def close(self):
        """Leaves no mount behind, so that the folder can be deleted. Containers of builds that failed go."""
        subprocess.run(self.command(self.driver, "rm", "--all"), stdout=subprocess.DEVNULL)
        storage = os.path.join(self.work, "storage-" + self.driver, self.driver)
        if os.path.ismount(storage):
            subprocess.run(["umount", storage])

    def buildah(self, *arguments):
        done = subprocess.run(self.command(self.driver, *arguments), stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit("images: buildah %s ended with %d" % (" ".join(arguments), done.returncode))
        return done.stdout

    def has(self, image):
        return subprocess.run(self.command(self.driver, "inspect", "--type", "image", image),
                              capture_output=True).returncode == 0

    def from_folder(self, folder, image):
        container = self.buildah("from", "scratch").strip()
        self.buildah("add", "--quiet", container, folder, "/")
        self.buildah("config", "--cmd", "/bin/bash", container)
        self.buildah("commit", "--quiet", "--rm", "--format", "docker", "--signature-policy", self.policy, container, image)

    def check_current_schema(self):
        """What the current compose takes; docker-compose 1.29 is asked by the structure tests."""
        done = subprocess.run(["npm", "exec", "--yes", "--package", DCLINT, "--", "dclint", "--quiet", COMPOSE,
                               "--disable-rule", "no-build-and-image"], capture_output=True, text=True) \
            if shutil.which("npm") else None
        if done is None or "npm ERR" in done.stderr or "npm error" in done.stderr:
            return say("skipped: %s by the current schema; it wants npm and its package index" % COMPOSE)
        check(done.returncode == 0, "compose.yaml is valid by the current schema", done.stdout)

    def make_base(self):
        if self.has(BASE):
            return say("the base image is there: " + BASE)
        say("debootstrap makes the base image (a minute or two)")
        folder = os.path.join(self.work, "base")
        shutil.rmtree(folder, ignore_errors=True)
        with open(os.path.join(self.work, "debootstrap.log"), "wb") as log:
            if subprocess.run(["debootstrap", "--variant=minbase", "bookworm", folder, MIRROR], stdout=log,
                              stderr=subprocess.STDOUT).returncode:
                sys.exit("images: debootstrap failed; see " + log.name)
        with open(os.path.join(folder, "etc", "apt", "sources.list"), "w", encoding="ascii") as stream:
            stream.write("deb %s bookworm main\ndeb %s bookworm-updates main\ndeb %s bookworm-security main\n"
                         % (MIRROR, MIRROR, SECURITY))
        for below in ("var/cache/apt/archives", "var/lib/apt/lists"):
            shutil.rmtree(os.path.join(folder, below))
            os.makedirs(os.path.join(folder, below, "partial"))
        self.from_folder(folder, BASE)
        shutil.rmtree(folder)

    def build(self, build_folder):
        if build_folder:
            subprocess.run([os.path.join(ROOT, "cmake", "package", "make_packages.sh"), build_folder, PACKAGES], check=True)
        mounts = [word for mount in self.mounts_of_builds() for word in ("--volume", mount)]
        for target in TARGETS:
            say("building epsledger/%s" % target)
            done = subprocess.run(self.command(
                self.driver, "bud", "--layers", "--force-rm", "--pull-never", "--format", "docker", "--isolation", "chroot", "--network",
                "host", "--signature-policy", self.policy, *mounts, "--build-arg", "BASE=" + BASE,
                "--build-arg", "JOBS=" + os.environ.get("JOBS", ""),
                "--build-arg", "PROGRAMS=" + ("packages" if build_folder else "build"), "--target", target,
                "--tag", "epsledger/%s:%s" % (target, VERSION), "--file", os.path.join(ROOT, "docker", "Dockerfile"), ROOT))
            check(done.returncode == 0, "built epsledger/%s" % target)

    def mounts_of_builds(self):
        """The compiler's cache, and for npm the authorities that this machine trusts: they may be more than Debian's."""
        cache = os.path.join(self.work, "ccache")
        os.makedirs(cache, exist_ok=True)
        yield cache + ":/root/.cache/ccache"
        if os.path.exists(AUTHORITIES):
            npmrc = os.path.join(self.work, "npmrc")
            with open(npmrc, "w", encoding="ascii") as stream:
                stream.write("cafile=/authorities.pem\n")
            yield AUTHORITIES + ":/authorities.pem:ro"
            yield npmrc + ":/root/.npmrc:ro"

    def try_packages(self):
        folder = os.path.join(self.work, "packages")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(PACKAGES, folder)
        shutil.copy(os.path.join(HERE, "installed_packages.sh"), folder)
        shutil.copy(os.path.join(ROOT, "docker", "certificates.sh"), folder)
        container = self.buildah("from", "--pull-never", BASE).strip()
        done = subprocess.run(self.command(
            self.driver, "run", "--isolation", "chroot", "--network", "host", "--volume", folder + ":/packages:ro", container,
            "--", "/packages/installed_packages.sh", "/packages"), capture_output=True, text=True)
        self.buildah("rm", container)
        check(done.returncode == 0, "the Debian packages: " + "".join(done.stdout.splitlines()[-1:]), done.stdout + done.stderr)


def spent(compose):
    """What is spent of both budgets, as the ledger says it."""
    return [compose.run("demo-budgets", ["epsctl", "-o", "json", "budget", "get", name])[1] for name in ("adult", "digits")]


def run_demo(compose, secrets):
    subprocess.run([os.path.join(ROOT, "docker", "certificates.sh"), secrets], check=True, stdout=subprocess.DEVNULL)
    for what in ("the first token is made", "and not made twice"):
        code, output = compose.run("token")
        check(code == 0, what, output)
    compose.up("server")
    check(True, "the server with TLS and tokens, on a read-only root, is healthy by compose.yaml's check")
    code, output = compose.run("server", ["sh", "-c", "id -u; grep -E 'CapEff|NoNewPrivs' /proc/self/status; touch /usr/x"])
    check(output.split()[:5] == ["10001", "CapEff:", "0" * 16, "NoNewPrivs:", "1"] and code != 0,
          "as nobody in particular, without capabilities, and with nothing to write but its volume", output)
    code, output = compose.run("client")
    check(code == 0 and "ADMIN" in output, "the client is known by its token", output)
    code, output = compose.run("client", ["env", "-u", "EPSLEDGER_TOKEN_FILE", "epsctl", "server", "whoami"])
    check(code == 1, "and nobody without one", output)
    code, output = compose.run("client", ["env", "-u", "EPSLEDGER_TLS_CA", "EPSLEDGER_ALLOW_INSECURE=true",
                                          "epsctl", "--timeout", "10s", "server", "whoami"])
    check(code != 0 and "ADMIN" not in output, "nor in plaintext", output)
    code, output = compose.run("demo-budgets")
    check(code == 0, "epsctl made the budgets", output)
    for service in ("demo", "demo-fsdp"):
        code, output = compose.run(service)
        check(code == 0 and "accuracy" in output, "%s trained, with no network but the server" % service, output)
    before = spent(compose)
    code, output = compose.run("demo-fsdp")
    check(code == REFUSED and "BUDGET_EXHAUSTED" in output, "a second run is refused", output)
    check(compose.down("server") == 0, "the server ends by SIGTERM as the container's first process", compose.log("server"))
    compose.up("server")
    after = spent(compose)
    check([re.findall(r'"spent": *[^,]*', text) for text in after] == [re.findall(r'"spent": *[^,]*', text) for text in before]
          and "spent" in before[0], "started again, it knows what is spent", "%s\n%s" % (before, after))
    compose.down("server")


def run_plaintext(compose):
    compose.up("server-plaintext")
    code, output = compose.run("client", ["env", "-u", "EPSLEDGER_TLS_CA", "-u", "EPSLEDGER_TOKEN_FILE",
                                          "EPSLEDGER_ALLOW_INSECURE=true", "epsctl", "--server", "server-plaintext:50551",
                                          "budget", "list"])
    check(code == 0, "the profile plaintext serves without a certificate and without tokens", output)
    check(compose.down("server-plaintext") == 0, "and ends in order", compose.log("server-plaintext"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "images"), help="where everything is kept")
    parser.add_argument("--programs", metavar="BUILD_DIR", help="take the programs from there instead of compiling")
    options = parser.parse_args()
    if os.getuid() != 0:
        sys.exit("images: mounts file systems and makes users: run it as root")
    images = Images(os.path.abspath(options.work))
    say("images are kept in %s, by the storage driver %s" % (images.work, images.driver))
    try:
        images.check_current_schema()
        images.make_base()
        images.build(options.programs)
        if options.programs:
            images.try_packages()
        run_services(images)
    finally:
        images.close()
    say("the images of %s work: %s" % (ROOT, ", ".join("epsledger/%s:%s" % (target, VERSION) for target in TARGETS)))


def run_services(images):
    run = os.path.join(images.work, "run")
    shutil.rmtree(run, ignore_errors=True)
    secrets = os.path.join(run, "secrets")
    os.makedirs(secrets)
    with open(COMPOSE, encoding="utf-8") as stream:
        text = stream.read()
    storage = Storage(images.buildah)
    try:
        with Compose(text, storage, run) as compose:
            run_demo(compose, secrets)
            run_plaintext(compose)
    finally:
        storage.close()


if __name__ == "__main__":
    main()
