"""Services of docker/compose.yaml, run as root without an engine.

Each has its image's file system read-only, its user, no capabilities, no new privileges, its volumes and secrets, and
a network that reaches nothing but the other services. Not kept to: the limits of memory and processes.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

HEALTHY_SECONDS = 120
RUN_SECONDS = 1800

# A network of its own, with its loopback up, for as long as standard input is open.
NETWORK = """
import fcntl, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    SIOCSIFFLAGS, IFF_UP = 0x8914, 1
    fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
print("up", flush=True)
sys.stdin.read()
"""

# ROOT USER [FROM TO MODE]... -- PROGRAM...: becomes the program, as the first process of its own.
ENTER = """
root=$1 user=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
  if [ "$1" = tmpfs ]; then
    mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root$2"
  else
    mount --bind "$1" "$root$2"
    [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
  fi
  shift 3
done
shift
exec chroot "$root" /usr/bin/setpriv --reuid "${user%%:*}" --regid "${user##*:}" --clear-groups --no-new-privs \
  --bounding-set=-all --inh-caps=-all "$@"
"""


def filled_in(value):
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(value))


def words(value):
    return [value] if isinstance(value, str) else [str(word) for word in value or []]


class Compose:
    """with Compose(text, storage, folder) as compose: ... `storage` mounts images and knows their configuration; volumes
    are kept in `folder`, and secrets are files of folder/secrets."""

    def __init__(self, text, storage, folder):
        import yaml  # Debian's python3-yaml
        document = yaml.safe_load(text)
        self.services, self.secrets = document["services"], document.get("secrets") or {}
        self._storage, self._folder = storage, folder
        self._running = {}

    def __enter__(self):
        self._hosts = os.path.join(self._folder, "hosts")
        with open(self._hosts, "w", encoding="ascii") as stream:
            stream.write("127.0.0.1 localhost %s\n" % " ".join(self.services))
        self._network = subprocess.Popen(["unshare", "--net", sys.executable, "-c", NETWORK], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        if self._network.stdout.readline() != "up\n":
            raise RuntimeError("no network namespace could be made")
        return self

    def __exit__(self, *_):
        for process in self._running.values():
            process.kill()
            process.wait()
        self._network.stdin.close()
        self._network.stdout.close()
        self._network.wait()

    def _mounts(self, service, root, user):
        yield self._hosts, "/etc/hosts", "ro"
        for where in words(service.get("tmpfs")):
            yield "tmpfs", where, "rw"
        for volume in service.get("volumes", []):
            name, where, *mode = filled_in(volume).split(":")
            source = os.path.join(self._folder, "volumes", name)
            if not os.path.exists(source):
                # As an engine fills a new volume: with the owner and mode of what the image has there.
                os.makedirs(source)
                if os.path.exists(root + where):
                    about = os.stat(root + where)
                    os.chown(source, about.st_uid, about.st_gid)
                    os.chmod(source, about.st_mode & 0o7777)
            yield source, where, mode[0] if mode else "rw"
        for secret in service.get("secrets", []):
            file = os.path.basename(self.secrets[secret]["file"])
            yield os.path.join(self._folder, "secrets", file), "/run/secrets/" + secret, "ro"

    def _start(self, name, program=None, **streams):
        """The service's process, or another program in a container like it."""
        service = self.services[name]
        root, image = self._storage.mounted(service["image"])
        user = str(service.get("user") or image["User"])
        if program is None:
            entrypoint = words(service.get("entrypoint")) or image["Entrypoint"] or []
            program = entrypoint + (words(service.get("command")) or ([] if "entrypoint" in service else image["Cmd"] or []))
        mounts = [word for mount in self._mounts(service, root, user) for word in mount]
        for source, where in zip(mounts[0::3], mounts[1::3]):
            self._make_mount_point(root + where, os.path.isfile(source))
        environment = dict(entry.split("=", 1) for entry in image["Env"])
        environment.update({key: filled_in(value) for key, value in (service.get("environment") or {}).items()})
        return subprocess.Popen(
            ["nsenter", "--net=/proc/%d/ns/net" % self._network.pid,
             "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", ENTER, "enter", root, user, *mounts, "--",
             "env", "-i", "--chdir=" + (image["WorkingDir"] or "/"), *("%s=%s" % entry for entry in environment.items()),
             *program], stdin=subprocess.DEVNULL, **streams)

    @staticmethod
    def _make_mount_point(path, is_file):
        if os.path.exists(path):
            return
        os.makedirs(os.path.dirname(path) if is_file else path, exist_ok=True)
        if is_file:
            open(path, "a", encoding="ascii").close()

    def run(self, name, program=None):
        """(exit code, what it said) of a service that ends by itself."""
        process = self._start(name, program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            output, _ = process.communicate(timeout=RUN_SECONDS)
        finally:
            process.kill()
            process.wait()
        return process.returncode, output

    def log(self, name):
        with open(os.path.join(self._folder, name + ".log"), encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def up(self, name):
        """Starts a service that stays, and waits until its health check passes."""
        with open(os.path.join(self._folder, name + ".log"), "ab") as log:
            self._running[name] = self._start(name, stdout=log, stderr=subprocess.STDOUT)
        check = (self.services[name].get("healthcheck") or {}).get("test")
        if not check:
            _, image = self._storage.mounted(self.services[name]["image"])
            check = image["Healthcheck"]["Test"]
        if check[0] != "CMD":
            raise RuntimeError("%s: a health check without CMD: %s" % (name, check))
        deadline = time.monotonic() + HEALTHY_SECONDS
        while True:
            code, output = self.run(name, check[1:])
            if code == 0:
                return
            if self._running[name].poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("%s is not healthy (%s); its log:\n%s" % (name, output.strip(), self.log(name)[-4000:]))
            time.sleep(0.2)

    def down(self, name):
        """As an engine stops it: SIGTERM to its first process. Its exit code."""
        process = self._running.pop(name)
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid), encoding="ascii") as stream:
            first = int(stream.read().split()[0])
        os.kill(first, signal.SIGTERM)
        try:
            return process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


class Storage:
    """Images of buildah."""

    def __init__(self, buildah):
        self._buildah = buildah  # runs it, with what it prints
        self._mounted = {}

    def mounted(self, image):
        """(root folder of a container of it, its configuration)"""
        if image not in self._mounted:
            about = json.loads(self._buildah("inspect", "--type", "image", image))
            container = self._buildah("from", "--pull-never", image).strip()
            root = self._buildah("mount", container).strip()
            self._mounted[image] = (root, about["Docker"]["config"], container)
        return self._mounted[image][:2]

    def close(self):
        for _, _, container in self._mounted.values():
            self._buildah("rm", container)
        self._mounted = {}
