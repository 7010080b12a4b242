#!/usr/bin/env python3
"""The exports of the demo's two budgets against what others publish: exports.py BUILD_DIR TOOLS_DIR [--write README]

Serves a ledger, creates the budgets of docker/compose.yaml and trains on them with its commands, then fills in every
form of `epsctl statement export` for both budgets and for a session of each, and lets export_checks.py judge them with
the checkers and schemas of those who ask for the forms. Those are fetched into TOOLS_DIR, from the package index and
from GitHub. Prints a table, or puts it between <!-- exports:begin --> and <!-- exports:end --> of a file. Ends with 1 if
a form is not accepted, or could not be checked."""
import argparse
import base64
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

from served_ledger import ServedLedger

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "agreement"))

import markdown_section

COMPOSE = os.path.join(HERE, "..", "..", "docker", "compose.yaml")
TRAINERS = {"adult": "istdp/epsledger-istdp", "digits": "fsdp/epsledger-fsdp"}
FORMS = ("opendp-registry", "nist-800-226", "model-card", "openlineage", "in-toto")
# What no checker accepted: nobody publishes one for the first, and that of the second is a service.
WORDS = {"nist-800-226": "filled in", "model-card": "read"}
PACKAGES = ["huggingface_hub", "in-toto-attestation", "jsonschema[format]", "pyyaml", "requests"]
# Repositories, and what is read of them.
SOURCES = {"opendp/deployments-registry-data": ["scripts", "schemas", "known_bad_urls.txt"],
           "OpenLineage/OpenLineage": ["spec/OpenLineage.json"]}
SECONDS = 1800
# What the registry asks of whoever files a form, and a ledger does not know.
ANSWERS = {"name": "Demo of epsledger, {budget}", "curators": ["epsledger"], "authors": ["epsledger"],
           "description": "A model that the demo trains on a public data set.", "intendedUse": "A demonstration.",
           "productType": "Machine learning model", "region": "None", "publicationDate": "2026-11-29",
           "deploymentModel": "Central"}


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, **options)


def checked(*command, **options):
    done = run(*command, **options)
    if done.returncode:
        raise RuntimeError("%s ended with %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()[-2000:]))
    return done.stdout


def fetched(name, folder):
    """The newest commit of a repository of GitHub, in `folder`."""
    if not os.path.exists(folder):
        checked("git", "clone", "--quiet", "--depth", "1", "--filter=blob:none", "--no-checkout",
                "https://github.com/" + name, folder)
    checked("git", "-C", folder, "fetch", "--quiet", "--depth", "1", "origin", "HEAD")
    checked("git", "-C", folder, "update-ref", "--no-deref", "HEAD", "FETCH_HEAD")
    checked("git", "-C", folder, "checkout", "--quiet", "HEAD", "--", *SOURCES[name])
    return folder


def prepare(tools):
    """(a Python with PACKAGES, {repository: its folder}), all of them the newest."""
    python = os.path.join(tools, "python", "bin", "python")
    if not os.path.exists(python):
        checked(sys.executable, "-m", "venv", os.path.join(tools, "python"))
    checked(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", *PACKAGES)
    return python, {name: fetched(name, os.path.join(tools, name.replace("/", "+"))) for name in SOURCES}


def demo_commands(budget):
    """(arguments of epsctl that create it, arguments of the trainer), as docker/compose.yaml has them."""
    with open(COMPOSE, encoding="utf-8") as stream:
        text = stream.read()
    (create,) = re.findall(r"epsctl (budget create %s [^;]*?)(?:;|\n +environment)" % budget, text)
    (train,) = re.findall(r'command: (\["--budget", "%s".*?\])' % budget, text, re.DOTALL)
    return create.split(), json.loads(train)


def save_statements(build, folder):
    """Runs the demo. {what is stated: file of its statement}, and the key in hex."""
    with ServedLedger(build) as server:
        saved = {}
        for budget, trainer in TRAINERS.items():
            create, train = demo_commands(budget)
            server.ctl(*create)
            checked(os.path.join(build, "client", "trainers", trainer), "--server", server.grpc, *train)
            (session,) = json.loads(server.ctl("session", "list", budget, "-o", "json"))
            of_session = "the session of `%s`" % budget
            for told, name in (("`%s`" % budget, budget), (of_session, session["name"])):
                saved[told] = os.path.join(folder, re.sub("[^a-z]+", "_", told).strip("_") + ".json")
                server.ctl("statement", "get", name, "--delta", "1e-5", "--save", saved[told])
        return saved, base64.b64decode(json.loads(server.ctl("server", "info", "-o", "json"))["statementPublicKey"]).hex()


def judge(build, folder, python, sources):
    """{form: {what is stated: (accepted, how it was checked, or why not)}}"""
    epsctl = os.path.join(build, "client", "cli", "epsctl")
    saved, key = save_statements(build, folder)
    verdicts = {form: {} for form in FORMS}
    for told, statement in saved.items():
        answers = os.path.join(folder, "answers")
        with open(answers, "w", encoding="utf-8") as stream:
            json.dump({**ANSWERS, "name": ANSWERS["name"].format(budget=told)}, stream)
        for form in FORMS:
            # The registry checks names of files too.
            file = statement[:-len(".json")] + "_%s.%s" % (form.replace("-", "_"), "yaml" if form == FORMS[0] else "out")
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(checked(epsctl, "statement", "export", statement, "--public-key", key, "--format", form,
                                     "--answers", answers))
            done = run(python, "-B", os.path.join(HERE, "export_checks.py"), form, file, statement,
                       *(sources[name] for name in SOURCES))
            says = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines() or ["it says nothing"]
            verdicts[form][told] = done.returncode == 0, says[-1]
            if done.returncode:
                print("%s of %s: %s" % (form, told, done.stderr), file=sys.stderr, flush=True)
    return verdicts


def table(verdicts):
    resources = list(verdicts[FORMS[0]])
    lines = ["%s:" % datetime.date.today(), "", "| form | checked by | %s |" % " | ".join(resources),
             "|---|---|" + "---|" * len(resources)]
    for form, found in verdicts.items():
        how = {told for accepted, told in found.values() if accepted} or {"nobody"}
        lines.append("| `%s` | %s | %s |" % (form, "; ".join(sorted(how)), " | ".join(
            WORDS.get(form, "accepted") if accepted else "**refused**: " + told for accepted, told in found.values())))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("tools")
    parser.add_argument("--write", metavar="README")
    arguments = parser.parse_args()
    python, sources = prepare(os.path.abspath(arguments.tools))
    with tempfile.TemporaryDirectory(prefix="epsledger-exports.") as folder:
        verdicts = judge(os.path.abspath(arguments.build), folder, python, sources)
    if arguments.write:
        markdown_section.replace(arguments.write, "exports", table(verdicts))
    print(table(verdicts))
    return 0 if all(accepted for found in verdicts.values() for accepted, _ in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
