"""What is wrong with an OpenAPI 3 document, one line each. No linter of OpenAPI is packaged for Debian 12."""
import re

import json_schema

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
PLACES = {"path", "query", "header", "cookie"}
TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}


def lint(document):
    if not re.match(r"3\.[01]\.\d+$", document.get("openapi", "")):
        yield "openapi: is not a version 3.0.x or 3.1.x"
    for name in ("title", "version"):
        if not document.get("info", {}).get(name):
            yield "info.%s: is missing" % name
    yield from _references(document, document, "#")
    yield from _unused(document)
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        yield from _schema(schema, "schemas." + name)
    ids = {}
    for path, item in document.get("paths", {}).items():
        if not path.startswith("/"):
            yield path + ": does not begin with /"
        for method in set(item) - METHODS:
            yield "%s: %s is no method" % (path, method)
        for method in set(item) & METHODS:
            where = "%s %s" % (method.upper(), path)
            operation = item[method]
            yield from _operation(document, operation, path, where)
            known = ids.setdefault(operation.get("operationId"), where)
            if known != where:
                yield "%s: has the operationId of %s" % (where, known)


def _references(document, at, where):
    if isinstance(at, list):
        for index, inner in enumerate(at):
            yield from _references(document, inner, "%s/%d" % (where, index))
    if isinstance(at, dict):
        if isinstance(at.get("$ref"), str):
            try:
                json_schema.resolve(document, at["$ref"])
            except (KeyError, TypeError):
                yield "%s: %s leads nowhere" % (where, at["$ref"])
        for name, inner in at.items():
            yield from _references(document, inner, "%s/%s" % (where, name))


def _unused(document):
    """Components to which nothing refers that is reached from the paths."""
    reached, waiting = set(), [document.get("paths", {})]
    while waiting:
        at = waiting.pop()
        if isinstance(at, list):
            waiting += at
        elif isinstance(at, dict):
            reference = at.get("$ref")
            if isinstance(reference, str) and reference not in reached:
                reached.add(reference)
                try:
                    waiting.append(json_schema.resolve(document, reference))
                except (KeyError, TypeError):
                    pass  # _references() says it
            waiting += [inner for name, inner in at.items() if name != "$ref"]
    for kind in ("schemas", "responses"):
        for name in document.get("components", {}).get(kind, {}):
            if "#/components/%s/%s" % (kind, name) not in reached:
                yield "components.%s.%s: nothing refers to it" % (kind, name)


def _schema(schema, where):
    if "$ref" in schema:
        return
    if "type" not in schema and "oneOf" not in schema:
        yield where + ": has no type"
    if "type" in schema and schema["type"] not in TYPES:
        yield "%s: %s is no type" % (where, schema["type"])
    if schema.get("type") == "array" and "items" not in schema:
        yield where + ": an array of what?"
    if len(set(schema.get("enum", []))) != len(schema.get("enum", [])) or schema.get("enum") == []:
        yield where + ": an enum with nothing in it, or twice the same"
    for name in schema.get("required", []):
        if name not in schema.get("properties", {}):
            yield "%s: requires %s, which is no property" % (where, name)
    try:
        re.compile(schema.get("pattern", ""))
    except re.error as error:
        yield "%s: pattern: %s" % (where, error)
    inner = list(schema.get("properties", {}).items()) + [("oneOf", one) for one in schema.get("oneOf", [])]
    inner += [(name, schema[name]) for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict)]
    for name, one in inner:
        yield from _schema(one, "%s.%s" % (where, name))


def _content(content, where):
    if not content:
        yield where + ": has no content"
    for kind, body in content.items():
        if not re.match(r"[a-z]+/[a-z0-9.+-]+$", kind):
            yield "%s: %s is no media type" % (where, kind)
        if "schema" not in body:
            yield "%s: %s has no schema" % (where, kind)
        else:
            yield from _schema(body["schema"], "%s: %s" % (where, kind))


def _operation(document, operation, path, where):
    for name in ("operationId", "summary", "responses"):
        if not operation.get(name):
            yield "%s: has no %s" % (where, name)
    if not re.match(r"[A-Za-z]\w*$", operation.get("operationId", "x")):
        yield "%s: %s is no name for a function" % (where, operation["operationId"])
    seen = set()
    for parameter in operation.get("parameters", []):
        name, place = parameter.get("name"), parameter.get("in")
        if not name or place not in PLACES:
            yield "%s: a parameter %s in %s" % (where, name, place)
        if (name, place) in seen:
            yield "%s: the parameter %s stands there twice" % (where, name)
        seen.add((name, place))
        if place == "path" and parameter.get("required") is not True:
            yield "%s: the path parameter %s must be required" % (where, name)
        if "schema" not in parameter:
            yield "%s: the parameter %s has no type" % (where, name)
        else:
            yield from _schema(parameter["schema"], "%s: %s" % (where, name))
    if {name for name, place in seen if place == "path"} != set(re.findall(r"\{([^}]*)\}", path)):
        yield where + ": the parameters are not those of the path"
    if "requestBody" in operation:
        yield from _content(operation["requestBody"].get("content", {}), where + " requestBody")
    for status, response in operation.get("responses", {}).items():
        at = "%s %s" % (where, status)
        if not re.match(r"[1-5]\d\d$|default$", status):
            yield at + ": is no status"
        if "$ref" in response:
            try:
                response = json_schema.resolve(document, response["$ref"])
            except (KeyError, TypeError):
                continue  # _references() says it
        if not response.get("description"):
            yield at + ": has no description"
        yield from _content(response.get("content", {}), at)
    if not any(re.match("2", status) for status in operation.get("responses", {})):
        yield where + ": no answer means that it went well"
    schemes = document.get("components", {}).get("securitySchemes", {})
    for choice in operation.get("security", document.get("security", [])):
        for name in set(choice) - set(schemes):
            yield "%s: the security scheme %s is not there" % (where, name)
