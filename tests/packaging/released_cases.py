"""Cases of packages_test.py about what is released beside the Debian packages: the Python packages, installed into an
environment of their own and used against the packaged server over TLS, and the list of what is in everything."""
import atexit
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from installed_tree import ROOT, run
from served_ledger import ServedLedger

FIRST_CHARGE = """
import os
import epsledger
from epsledger.events import Gaussian, PoissonSampled
event = PoissonSampled(sampling_probability=0.01, event=Gaussian(noise_multiplier=1.1))
with epsledger.connect(address="https://" + os.environ["ADDRESS"]).open(session="first-run", budget="people").step(event):
    print("charged")
"""
_made = {}


def made_packages(build):
    """The folder of what `./dev package BUILD` makes; made once."""
    if build not in _made:
        folder = tempfile.TemporaryDirectory(prefix="epsledger-packages.")
        atexit.register(folder.cleanup)
        run(os.path.join(ROOT, "cmake", "package", "make_packages.sh"), build, folder.name, seconds=550)
        _made[build] = folder.name
    return _made[build]


def as_a_build_folder(unpacked, folder):
    """The programs of unpacked packages in the folders that a build has them in."""
    for below, program in (("server", "epsledgerd"), ("client/cli", "epsctl")):
        os.makedirs(os.path.join(folder, below))
        os.symlink(os.path.join(unpacked, "usr/bin", program), os.path.join(folder, below, program))
    return folder


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as stream:
        return re.search(r"project\(epsledger VERSION (\S+)", stream.read())[1]


class TlsLedger(ServedLedger):
    """A server with a certificate, which knows callers by their tokens; `secrets` has the authority and a token."""

    def __init__(self, build, secrets):
        self.secrets = secrets
        run(os.path.join(ROOT, "docker", "certificates.sh"), secrets)
        super().__init__(build, ["--tls-cert", os.path.join(secrets, "server.pem"), "--tls-key",
                                 os.path.join(secrets, "server.key"), "--require-tokens"])

    def _prepare(self, data_dir):
        token = run(self.epsledgerd, "token", "create", "--data-dir", data_dir, "--role", "admin", "--days", "1")
        with open(os.path.join(self.secrets, "token"), "w", encoding="ascii") as stream:
            stream.write(token)

    def environment(self):
        return {"EPSLEDGER_SERVER": self.grpc, "EPSLEDGER_TLS_CA": os.path.join(self.secrets, "ca.pem"),
                "EPSLEDGER_TOKEN_FILE": os.path.join(self.secrets, "token"), "ADDRESS": self.http,
                "PATH": os.environ["PATH"]}


class Released(unittest.TestCase):
    build = None

    @classmethod
    def setUpClass(cls):
        cls.folder = made_packages(cls.build)
        scratch = tempfile.TemporaryDirectory(prefix="epsledger-released.")
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = scratch.name

    def files(self, pattern):
        return sorted(name for name in os.listdir(self.folder) if re.fullmatch(pattern, name))

    def document(self):
        with open(os.path.join(self.folder, "sbom.cdx.json"), encoding="utf-8") as stream:
            return json.load(stream)

    def test_all_of_it_has_one_version_and_its_sum(self):
        wheels = self.files(r".*\.whl")
        self.assertEqual(wheels[0], "epsledger-%s-py3-none-any.whl" % version())
        self.assertIn("epsledger-%s.tar.gz" % version(), self.files(r".*\.tar\.gz"))
        with open(os.path.join(self.folder, "SHA256SUMS"), encoding="ascii") as stream:
            sums = dict(reversed(line.split()) for line in stream)
        self.assertEqual(set(sums) | {"SHA256SUMS"}, set(os.listdir(self.folder)))
        for name, digest in sums.items():
            with open(os.path.join(self.folder, name), "rb") as stream:
                self.assertEqual(hashlib.sha256(stream.read()).hexdigest(), digest, name)

    def test_the_source_distribution_holds_what_the_wheel_holds(self):
        with zipfile.ZipFile(os.path.join(self.folder, self.files(r"epsledger-.*\.whl")[0])) as wheel:
            held = {name for name in wheel.namelist() if name.startswith("epsledger/")}
            self.assertTrue(any(name.endswith(".dist-info/LICENSE") for name in wheel.namelist()))
        with tarfile.open(os.path.join(self.folder, self.files(r"epsledger-.*\.tar\.gz")[0])) as source:
            there = {name.partition("/")[2] for name in source.getnames()}
        self.assertLessEqual(held | {"LICENSE", "README.md", "pyproject.toml"}, there)

    def test_the_wheel_in_a_fresh_environment_charges_over_tls(self):
        environment = os.path.join(self.scratch, "environment")
        made = subprocess.run(["/usr/bin/python3", "-m", "venv", environment], capture_output=True, text=True)
        if made.returncode:
            self.skipTest("python3-venv is not installed: " + made.stdout.strip()[-200:])
        python = os.path.join(environment, "bin", "python")
        wheels = [os.path.join(self.folder, name) for name in self.files(r".*\.whl")]
        run(python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", *wheels)
        command = os.path.join(environment, "bin", "epsledger")
        self.assertIn("usage: epsledger", run(command, "--help", env={}))
        self.assertIn(version(), run(command, "version", env={}))
        unpacked = os.path.join(self.scratch, "unpacked")
        for name in self.files(r"epsledger-(server|cli)_.*\.deb"):
            run("dpkg-deb", "-x", os.path.join(self.folder, name), unpacked)
        programs = as_a_build_folder(unpacked, os.path.join(self.scratch, "programs"))
        with TlsLedger(programs, os.path.join(self.scratch, "secrets")) as server:
            known = server.environment()
            run(server.epsctl, "budget", "create", "people", "--epsilon", "3", "--delta", "1e-5", "--relation",
                "add-or-remove-one", "--privacy-unit", "person", env=known)
            self.assertEqual(run(python, "-I", "-c", FIRST_CHARGE, env=known), "charged\n")
            budget = json.loads(run(server.epsctl, "-o", "json", "budget", "get", "people", env=known))
            self.assertEqual(budget["acceptedChargeCount"], "1")
            # The same call without the authority, and without the token.
            for missing in ("EPSLEDGER_TLS_CA", "EPSLEDGER_TOKEN_FILE"):
                less = {name: value for name, value in known.items() if name != missing}
                refused = subprocess.run([python, "-I", "-c", FIRST_CHARGE], env=less, capture_output=True, text=True)
                self.assertNotEqual(refused.returncode, 0, missing)
        if len(wheels) > 1:
            self.assertIn("epsledger_accounting", run(python, "-I", "-c", "import epsledger_accounting as a; print(a.__name__)"))

    def test_the_list_names_every_package_with_its_digest(self):
        document = self.document()
        self.assertEqual((document["bomFormat"], document["specVersion"]), ("CycloneDX", "1.6"))
        self.assertEqual(document["metadata"]["component"]["version"], version())
        listed = {component["name"]: component["hashes"][0]["content"] for component in document["components"]
                  if component["bom-ref"].startswith("epsledger:")}
        packages = self.files(r".*\.(deb|whl|tar\.gz)")
        self.assertEqual(sorted(listed), packages)
        for name in packages:
            with open(os.path.join(self.folder, name), "rb") as stream:
                self.assertEqual(hashlib.sha256(stream.read()).hexdigest(), listed[name], name)

    def test_the_list_has_what_each_debian_package_asks_for_in_the_version_that_is_here(self):
        document = self.document()
        components = {component["bom-ref"]: component for component in document["components"]}
        depends = {entry["ref"]: entry["dependsOn"] for entry in document["dependencies"]}
        self.assertEqual(len(components), len(document["components"]))
        self.assertLessEqual({other for others in depends.values() for other in others}, set(components))
        for name in self.files(r".*\.deb"):
            below = {components[other]["name"]: components[other] for other in depends["epsledger:" + name]}
            asked = run("dpkg-deb", "-f", os.path.join(self.folder, name), "Depends")
            for package in {entry.split("(")[0].split("|")[0].strip() for entry in asked.split(",")}:
                here = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
                if here.returncode == 0 and here.stdout:
                    self.assertEqual(below[package]["version"], here.stdout, package)
                    self.assertIn("pkg:deb/debian/", below[package]["purl"])

    def test_the_list_has_every_part_of_the_dashboard(self):
        with open(os.path.join(ROOT, "client/dashboard/package-lock.json"), encoding="utf-8") as stream:
            locked = {(place.rpartition("node_modules/")[2], entry["version"], not entry.get("dev"))
                      for place, entry in json.load(stream)["packages"].items() if place}
        listed = {("/".join(filter(None, (component.get("group"), component["name"]))), component["version"],
                   component.get("scope") != "excluded")
                  for component in self.document()["components"] if component.get("purl", "").startswith("pkg:npm/")}
        self.assertEqual(listed, locked)

    def test_the_list_is_valid_by_the_published_schema(self):
        # The schemas are in PyPI's cyclonedx-python-lib[json-validation].
        python = os.environ.get("EPSLEDGER_CYCLONEDX_PYTHON", sys.executable)
        check = ("import sys; from cyclonedx.validation.json import JsonStrictValidator as V; "
                 "from cyclonedx.schema import SchemaVersion as S; error = V(S.V1_6).validate_str(sys.stdin.read()); "
                 "sys.exit(str(error) if error else 0)")
        if subprocess.run([python, "-I", "-c", "import cyclonedx.validation.json, jsonschema"], capture_output=True).returncode:
            self.skipTest("cyclonedx-python-lib[json-validation] is not installed; EPSLEDGER_CYCLONEDX_PYTHON may name a "
                          "Python that has it")
        with open(os.path.join(self.folder, "sbom.cdx.json"), encoding="utf-8") as stream:
            run(python, "-I", "-c", check, stdin=stream)
