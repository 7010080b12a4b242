"""Whether a value fits a JSON Schema, for the part of JSON Schema that /openapi.json uses.

Stricter than the standard in one thing: an object whose schema names its properties has no others,
also where additionalProperties is not said. An unknown keyword is an error, never passed over.
"""
import base64
import binascii
import re

KNOWN = {"type", "properties", "required", "additionalProperties", "items", "enum", "pattern", "format",
         "contentEncoding", "oneOf", "$ref", "description"}
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")


def resolve(document, reference):
    """What "#/components/schemas/Budget" stands for. KeyError if there is nothing of that name."""
    at = document
    if not reference.startswith("#/"):
        raise KeyError(reference)
    for step in reference[2:].split("/"):
        at = at[step.replace("~1", "/").replace("~0", "~")]
    return at


def _is(kind, value):
    if kind in ("integer", "number"):
        right = int if kind == "integer" else (int, float)
        return isinstance(value, right) and not isinstance(value, bool)
    return isinstance(value, {"object": dict, "array": list, "string": str, "boolean": bool}[kind])


def mistakes(document, schema, value, where="$"):
    """One line for everything in value that does not fit the schema."""
    if "$ref" in schema:
        yield from mistakes(document, resolve(document, schema["$ref"]), value, where)
        return
    for keyword in set(schema) - KNOWN:
        yield "%s: the keyword %s is not known here" % (where, keyword)
    if "oneOf" in schema:
        fits = sum(not any(mistakes(document, one, value, where)) for one in schema["oneOf"])
        if fits != 1:
            yield "%s: %r fits %d of oneOf" % (where, value, fits)
    if "type" in schema and not _is(schema["type"], value):
        yield "%s: %r is no %s" % (where, value, schema["type"])
        return
    if "enum" in schema and value not in schema["enum"]:
        yield "%s: %r is none of %s" % (where, value, schema["enum"])
    if isinstance(value, str):
        yield from _mistakes_of_text(schema, value, where)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from mistakes(document, schema["items"], item, "%s[%d]" % (where, index))
    if isinstance(value, dict):
        yield from _mistakes_of_object(document, schema, value, where)


def _mistakes_of_text(schema, value, where):
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield "%s: %r does not match %s" % (where, value, schema["pattern"])
    if schema.get("format") == "date-time" and not _DATE_TIME.match(value):
        yield "%s: %r is no time" % (where, value)
    if schema.get("contentEncoding") == "base64":
        try:
            base64.b64decode(value, validate=True)
        except binascii.Error:
            yield "%s: %r is not base64" % (where, value)


def _mistakes_of_object(document, schema, value, where):
    for name in schema.get("required", []):
        if name not in value:
            yield "%s: has no %s" % (where, name)
    rest = schema.get("additionalProperties", "properties" not in schema)
    for name, inner in value.items():
        at = "%s.%s" % (where, name)
        if name in schema.get("properties", {}):
            yield from mistakes(document, schema["properties"][name], inner, at)
        elif isinstance(rest, dict):
            yield from mistakes(document, rest, inner, at)
        elif not rest:
            yield at + ": is not documented"
