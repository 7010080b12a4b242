"""Pages of the Python client from its docstrings. The source is parsed and not imported: no dependency is needed."""
import ast
import os
import textwrap

# What client/python/README.md calls internal, and what adapters share.
HIDDEN = {"__main__", "address", "callers_words", "charging", "connection", "event_json", "event_stream",
          "grpc_transport", "html", "http_transport", "names", "process", "ranks", "readings", "relations", "rounded",
          "seen_heads", "steps", "transport"}


def docstring(node):
    return ast.get_docstring(node, clean=True) or ""


def markdown(text):
    """A docstring as Markdown: what looks like HTML is text, indented lines are code."""
    return text.replace("<", "&lt;").strip()


def signature(node):
    result = " -> " + ast.unparse(node.returns) if node.returns else ""
    return "%s(%s)%s" % (node.name, ast.unparse(node.args), result)


def is_public(name):
    return not name.startswith("_")


def functions(node):
    return [child for child in node.body if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))]


def fields(node):
    """[(name, type, comment)] of a data class."""
    return [(child.target.id, ast.unparse(child.annotation)) for child in node.body
            if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name) and is_public(child.target.id)]


def of_class(node):
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    yield "## %s" % node.name
    yield "```python\nclass %s%s\n```" % (node.name, "(%s)" % bases if bases else "")
    yield markdown(docstring(node))
    listed = fields(node)
    if listed:
        yield "| field | type |\n|---|---|\n" + "\n".join(
            "| `%s` | `%s` |" % (name, kind.replace("|", "\\|")) for name, kind in listed)
    for method in functions(node):
        if is_public(method.name) and docstring(method):
            yield "### %s.%s" % (node.name, method.name)
            yield "```python\n%s\n```" % "\n".join(textwrap.wrap(signature(method), 96, subsequent_indent="    "))
            yield markdown(docstring(method))


def page(path, module):
    """The Markdown of one module, or None if it has nothing public that is documented."""
    with open(path, encoding="utf-8") as stream:
        tree = ast.parse(stream.read())
    parts = ["# %s" % module, markdown(docstring(tree))]
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and is_public(node.name) and docstring(node):
            parts.extend(of_class(node))
        elif isinstance(node, ast.FunctionDef) and is_public(node.name) and docstring(node):
            parts.append("## %s" % node.name)
            parts.append("```python\n%s\n```" % "\n".join(textwrap.wrap(signature(node), 96, subsequent_indent="    ")))
            parts.append(markdown(docstring(node)))
    return "\n\n".join(part for part in parts if part) + "\n" if len(parts) > 2 else None


def write(root, output):
    """Writes a page for each module below client/python/epsledger, and returns their names without .md."""
    package = os.path.join(root, "client", "python")
    written = []
    for folder, folders, files in sorted(os.walk(os.path.join(package, "epsledger"))):
        folders[:] = [name for name in folders if not name.startswith("__")]
        for file in sorted(files):
            name, ending = os.path.splitext(file)
            if ending != ".py" or name in HIDDEN or (name.startswith("_") and name != "__init__"):
                continue
            path = os.path.join(folder, file)
            module = os.path.relpath(path, package)[:-3].replace(os.sep, ".").replace(".__init__", "")
            text = page(path, module)
            if text:
                os.makedirs(output, exist_ok=True)
                with open(os.path.join(output, module + ".md"), "w", encoding="utf-8") as stream:
                    stream.write(text)
                written.append(module)
    return written
