#!/usr/bin/python3 -B
"""sbom.py --packages FOLDER --output FILE: what the packages in FOLDER are made of, as a CycloneDX 1.6 document.

Nothing in it is guessed. The packages have their SHA-256. A Debian library has the version that is installed where the
build was made: those that a package asks for, and those of docker/packages/build.txt, whose headers are compiled in.
The dashboard's parts are those of its package-lock.json, with the digests there. What the Python packages can use is
what their pyproject.toml names. The times are those of SOURCE_DATE_EPOCH, so that the same packages have the same
document.
"""
import argparse
import base64
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # of URLs, RFC 4122 appendix C
PACKAGED = (".deb", ".whl", ".tar.gz")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as stream:
        return stream.read()


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def epsledger_version():
    return re.search(r"^project\(epsledger VERSION (\S+)", read("CMakeLists.txt"), re.MULTILINE)[1]


def quoted(text):
    return re.sub(r"[^A-Za-z0-9.~_-]", lambda match: "%%%02X" % ord(match[0]), text)


def property_of(name, value):
    return {"name": "epsledger:" + name, "value": value}


class Document:
    def __init__(self):
        self.components, self.dependencies = {}, {}

    def add(self, reference, component, roles=()):
        """Adds it once. `roles`: what it is here for; a component may have several."""
        kept = self.components.setdefault(reference, dict(component, **{"bom-ref": reference}))
        for role in roles:
            entry = property_of("role", role)
            if entry not in kept.setdefault("properties", []):
                kept["properties"].append(entry)
        self.dependencies.setdefault(reference, set())
        return reference

    def depends(self, reference, others):
        self.dependencies.setdefault(reference, set()).update(others)

    def json(self, version, time):
        root = "pkg:generic/epsledger@" + version
        content = {
            "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
            "metadata": {
                "timestamp": time,
                "component": {"type": "application", "bom-ref": root, "name": "epsledger", "version": version,
                              "description": "A privacy accounting service", "purl": root,
                              "licenses": [{"license": {"id": "Apache-2.0"}}]},
            },
            "components": [self.components[key] for key in sorted(self.components)],
            "dependencies": [{"ref": key, "dependsOn": sorted(self.dependencies[key])} for key in sorted(self.dependencies)],
        }
        serial = uuid.uuid5(NAMESPACE, json.dumps(content, sort_keys=True))
        return dict({"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "serialNumber": "urn:uuid:%s" % serial},
                    **content)


def debian_release():
    with open("/etc/os-release", encoding="utf-8") as stream:
        fields = dict(line.rstrip("\n").split("=", 1) for line in stream if "=" in line)
    return "%s-%s" % (fields.get("ID", "debian").strip('"'), fields.get("VERSION_ID", "").strip('"'))


class Installed:
    """The Debian packages of this machine, by name."""

    def __init__(self):
        self.release = debian_release()
        self._of = {}
        for line in output_of("dpkg-query", "--show", "--showformat",
                              "${db:Status-Status} ${Package} ${Version} ${Architecture}\\n").splitlines():
            status, name, version, architecture = line.split(" ")
            if status == "installed":
                self._of[name] = (version, architecture)

    def add(self, document, name, role):
        """None if it is not installed here: an alternative that was not taken, or a library of another machine."""
        if name not in self._of:
            return None
        version, architecture = self._of[name]
        purl = "pkg:deb/debian/%s@%s?arch=%s&distro=%s" % (quoted(name), quoted(version), architecture, self.release)
        return document.add(purl, {"type": "library", "name": name, "version": version, "purl": purl}, [role])


def sha256(file):
    with open(file, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def names_of(field):
    return [re.split(r"[\s(|:]", entry.strip())[0] for entry in field.split(",") if entry.strip()]


def add_artefacts(document, folder, version):
    """reference -> file of what is in the folder."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(PACKAGED):
            file = os.path.join(folder, name)
            reference = document.add("epsledger:" + name, {
                "type": "application", "name": name, "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "hashes": [{"alg": "SHA-256", "content": sha256(file)}]}, ["package"])
            found[reference] = file
    return found


def add_debian(document, artefacts):
    installed = Installed()
    headers = [line.split("#")[0].strip() for line in read("docker", "packages", "build.txt").splitlines()]
    build = [installed.add(document, name, "build") for name in headers if name]
    for reference, file in artefacts.items():
        if file.endswith(".deb"):
            asked = names_of(output_of("dpkg-deb", "--field", file, "Depends"))
            document.depends(reference, filter(None, (installed.add(document, name, "runtime") for name in asked)))
            document.depends(reference, filter(None, build))
        elif "-abi3-" in os.path.basename(file):
            document.depends(reference, filter(None, build))


def add_dashboard(document, artefacts):
    """What is packed into the server has the role runtime; the tools that pack it, build."""
    packed = set()
    for place, package in json.loads(read("client", "dashboard", "package-lock.json"))["packages"].items():
        if not place:
            continue
        name = place.rpartition("node_modules/")[2]
        group, _, short = name.rpartition("/")
        purl = "pkg:npm/%s%s@%s" % (quoted(group) + "/" if group else "", short, package["version"])
        component = {"type": "library", "name": short, "version": package["version"], "purl": purl}
        if group:
            component["group"] = group
        if package.get("license"):
            component["licenses"] = [{"expression": package["license"]}]
        algorithm, _, digest = package.get("integrity", "").partition("-")
        if algorithm == "sha512":
            component["hashes"] = [{"alg": "SHA-512", "content": base64.b64decode(digest).hex()}]
        if package.get("dev"):
            component["scope"] = "excluded"
            document.add(purl, component, ["build"])
        else:
            packed.add(document.add(purl, component, ["runtime"]))
    for reference, file in artefacts.items():
        if os.path.basename(file).startswith("epsledger-server_"):
            document.depends(reference, packed)


def add_python(document, artefacts):
    """What the Python package can use, none of which it installs by itself: a range of versions is a property."""
    table = re.search(r"^\[project.optional-dependencies\]\n(.*?)\n\n", read("client", "python", "pyproject.toml"),
                      re.MULTILINE | re.DOTALL)[1]
    wanted = set()
    for extra, requirements in re.findall(r"^(\w+) = \[(.*)\]$", table, re.MULTILINE):
        for name, versions in re.findall(r'"([\w-]+)([^"]*)"', requirements):
            if name.startswith("epsledger"):
                continue
            purl = "pkg:pypi/" + quoted(name.lower())
            component = {"type": "library", "name": name, "purl": purl, "scope": "optional",
                         "properties": [property_of("extra", extra), property_of("versions", versions or "any")]}
            wanted.add(document.add(purl, component, ["optional"]))
    for reference, file in artefacts.items():
        if re.match(r"epsledger-\d.*(\.whl|\.tar\.gz)$", os.path.basename(file)):
            document.depends(reference, wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", required=True, help="the folder of the packages")
    parser.add_argument("--output", required=True, help="the document to write")
    options = parser.parse_args()
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp())
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    version = epsledger_version()
    document = Document()
    artefacts = add_artefacts(document, options.packages, version)
    if not artefacts:
        sys.exit("sbom.py: --packages: %s has no package (%s)" % (options.packages, ", ".join(PACKAGED)))
    document.depends("pkg:generic/epsledger@" + version, artefacts)
    add_debian(document, artefacts)
    add_dashboard(document, artefacts)
    add_python(document, artefacts)
    with open(options.output + ".unfinished", "w", encoding="utf-8") as stream:
        json.dump(document.json(version, time), stream, indent=1, sort_keys=True)
        stream.write("\n")
    os.replace(options.output + ".unfinished", options.output)


if __name__ == "__main__":
    main()
