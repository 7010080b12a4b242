"""Pages of the API from the comments of proto/epsledger/v1, as protoc's descriptors carry them."""
import glob
import os
import subprocess
import tempfile

from google.protobuf import descriptor_pb2

FieldType = descriptor_pb2.FieldDescriptorProto
FOLDER = "epsledger/v1"


def described(root):
    """The files of the API with the places of their comments."""
    proto = os.path.join(root, "proto")
    files = sorted(os.path.relpath(file, proto) for file in glob.glob(os.path.join(proto, FOLDER, "*.proto")))
    with tempfile.NamedTemporaryFile() as output:
        subprocess.run(["protoc", "--proto_path=.", "--include_imports", "--include_source_info",
                        "--descriptor_set_out=" + output.name, *files], cwd=proto, check=True)
        found = descriptor_pb2.FileDescriptorSet.FromString(output.read())
    return [file for file in found.file if file.name.startswith(FOLDER)]


class Comments:
    """The comment that stands before, or behind, the thing at a path of numbers."""

    def __init__(self, file):
        self._of = {tuple(place.path): place for place in file.source_code_info.location}

    def __call__(self, *path):
        place = self._of.get(path)
        if place is None:
            return ""
        text = (place.leading_comments or place.trailing_comments).strip("\n")
        return "\n".join(line[1:] if line.startswith(" ") else line for line in text.split("\n")).replace("<", "&lt;")

    def cell(self, *path):
        """The same on one line of a table."""
        return " ".join(self(*path).split()).replace("|", "\\|")


def type_of(field):
    name = field.type_name.rsplit(".", 1)[-1] if field.type_name else FieldType.Type.Name(field.type)[5:].lower()
    return "repeated " + name if field.label == FieldType.LABEL_REPEATED else name


def messages(comments, declared, path, level):
    for number, message in enumerate(declared):
        here = path + (number,)
        if message.options.map_entry:
            continue
        yield "%s %s" % ("#" * level, message.name)
        yield comments(*here)
        if message.field:
            yield "| field | type | |\n|---|---|---|\n" + "\n".join(
                "| `%s` | %s | %s |" % (field.name, type_of(field), comments.cell(*here, 2, n))
                for n, field in enumerate(message.field))
        yield from enums(comments, message.enum_type, here + (4,), min(level + 1, 6))
        yield from messages(comments, message.nested_type, here + (3,), min(level + 1, 6))


def enums(comments, declared, path, level):
    for number, enum in enumerate(declared):
        here = path + (number,)
        yield "%s %s" % ("#" * level, enum.name)
        yield comments(*here)
        yield "| value | |\n|---|---|\n" + "\n".join(
            "| `%s` | %s |" % (value.name, comments.cell(*here, 2, n)) for n, value in enumerate(enum.value))


def page(file):
    comments = Comments(file)
    parts = ["# %s" % os.path.basename(file.name), comments(2)]
    for number, service in enumerate(file.service):
        parts += ["## %s" % service.name, comments(6, number)]
        for n, method in enumerate(service.method):
            stream = "stream " if method.server_streaming else ""
            parts += ["### %s.%s" % (service.name, method.name), "`%s` to `%s%s`" % (
                method.input_type.rsplit(".", 1)[-1], stream, method.output_type.rsplit(".", 1)[-1]),
                      comments(6, number, 2, n)]
    parts += messages(comments, file.message_type, (4,), 2)
    parts += enums(comments, file.enum_type, (5,), 2)
    return "\n\n".join(part for part in parts if part) + "\n"


def write(root, output):
    """Writes a page for each file of the API, and returns their names without .md."""
    os.makedirs(output, exist_ok=True)
    written = []
    for file in described(root):
        name = os.path.basename(file.name)[:-len(".proto")]
        with open(os.path.join(output, name + ".md"), "w", encoding="utf-8") as stream:
            stream.write(page(file))
        written.append(name)
    return written
