"""Whether those who ask for a form take it: export_checks.py FORM FILE STATEMENT REGISTRY OPENLINEAGE

FILE is the filled-in form of the saved STATEMENT. REGISTRY and OPENLINEAGE are clones of opendp/deployments-registry-data
and OpenLineage/OpenLineage. Prints what it was checked with; an error, and exit code 1, says why it is not accepted.
exports.py runs it with a Python that has the packages."""
import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import uuid


def commit_of(folder):
    return subprocess.run(["git", "-C", folder, "rev-parse", "--short=7", "HEAD"], text=True, capture_output=True,
                          check=True).stdout.strip()


def released(package):
    return "%s %s" % (package, importlib.metadata.version(package))


def same(got, want, what):
    if got != want:
        raise ValueError("%s: got %r, want %r" % (what, got, want))


def check_opendp_registry(file, _, registry, __):
    """The registry's own checker, whole. It asks for every URL in the form; the demo's has none."""
    done = subprocess.run([sys.executable, "-B", os.path.join(registry, "scripts", "check.py"), "--yaml_paths", file],
                          text=True, capture_output=True, timeout=600)
    if done.returncode or not done.stdout.rstrip().endswith("No errors!"):
        raise ValueError((done.stdout + done.stderr).strip())
    return "`scripts/check.py` of opendp/deployments-registry-data at %s, all of its checks" % commit_of(registry)


def check_openlineage(file, statement, _, openlineage):
    """The facet in a run event, by the schema that the facet names."""
    import jsonschema
    with open(file, encoding="utf-8") as stream:
        facets = json.load(stream)
    with open(os.path.join(openlineage, "spec", "OpenLineage.json"), encoding="utf-8") as stream:
        schema = json.load(stream)
    (facet,) = facets.values()
    same(facet["_schemaURL"], schema["$id"] + "#/$defs/RunFacet", "_schemaURL")
    event = {"eventType": "COMPLETE", "eventTime": "2026-01-01T00:00:00Z", "producer": "https://example.org/producer",
             "schemaURL": schema["$id"] + "#/$defs/RunEvent", "run": {"runId": str(uuid.uuid4()), "facets": facets},
             "job": {"namespace": "example", "name": "training"}}
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
    validator.validate(event)
    facet_schema = {"$ref": schema["$id"] + "#/$defs/RunFacet", "$defs": {"all": schema}}
    jsonschema.Draft202012Validator(facet_schema, format_checker=checker).validate(facet)
    same(facet["signed"]["statement"], statement["json"], "signed.statement")
    return "`spec/OpenLineage.json` (%s) of OpenLineage/OpenLineage at %s, in a run event" % (
        schema["$id"].split("/spec/")[1].split("/")[0], commit_of(openlineage))


def check_in_toto(file, statement, *_):
    """The published proto of the Statement, in which unknown fields are errors, and the package's own rules."""
    from google.protobuf import json_format
    from in_toto_attestation.v1 import statement_pb2
    from in_toto_attestation.v1.statement import Statement
    with open(file, encoding="utf-8") as stream:
        attested = json.load(stream)
    Statement.copy_from_pb(json_format.ParseDict(attested, statement_pb2.Statement())).validate()
    same(attested["subject"][0]["digest"]["sha256"], hashlib.sha256(statement["json"].encode()).hexdigest(), "subject")
    same(attested["predicate"]["signature"], statement["signature"], "predicate.signature")
    return "the proto of the Statement and `Statement.validate()` of %s" % released("in-toto-attestation")


def check_model_card(file, *_):
    """The Hub's validator is a service of the Hub; what it would be sent is read as the library reads it."""
    import huggingface_hub
    card = huggingface_hub.ModelCard.load(file)
    same(card.data.tags, ["differential-privacy"], "tags")
    how = "`ModelCard.load()` of %s" % released("huggingface_hub")
    try:
        card.validate()
    except ValueError:
        raise
    except Exception as error:  # no network: it is not the card's fault
        return how + "; `ModelCard.validate()` asks the Hub, which was out of reach (%s)" % type(error).__name__
    return how + ", and `ModelCard.validate()`, which asks the Hub"


def check_nist_800_226(file, *_):
    """NIST publishes no schema and no checker. The sheet has the topics of the publication, each answered or marked."""
    with open(file, encoding="utf-8") as stream:
        text = stream.read()
    for section in ("Guarantee and unit", "Parameters", "Composition", "Mechanisms", "Trust model",
                    "Side channels, access and security", "Data collection exposure", "Not covered by the guarantee"):
        body = text.split("\n## %s\n" % section)
        same(len(body), 2, "sections named " + section)
        if not body[1].split("\n## ")[0].strip():
            raise ValueError("%s: empty" % section)
    return "nobody: NIST publishes no schema; all sections are there, and what was not answered is marked"


CHECKS = {"opendp-registry": check_opendp_registry, "openlineage": check_openlineage, "in-toto": check_in_toto,
          "model-card": check_model_card, "nist-800-226": check_nist_800_226}


def main(form, file, statement, registry, openlineage):
    with open(statement, encoding="utf-8") as stream:
        saved = json.load(stream)
    print(CHECKS[form](file, saved, registry, openlineage))


if __name__ == "__main__":
    main(*sys.argv[1:])
