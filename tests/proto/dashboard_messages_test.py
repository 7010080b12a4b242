"""The dashboard's types of messages against the protos: dashboard_messages_test.py

client/dashboard/src/api/messages.ts writes out the fields that pages read. A field that no message has, or that
has another JSON type, would be `undefined` on a page and no error anywhere.
"""
import os
import re
import sys
import unittest

from google.protobuf import descriptor_pb2, descriptor_pool

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
MESSAGES = os.path.join(ROOT, "client", "dashboard", "src", "api", "messages.ts")
DESCRIPTORS = os.path.join(ROOT, "client", "python", "epsledger", "descriptor_set.binpb")
PACKAGE = "epsledger.v1."
# Interfaces and aliases whose message has another name.
NAMED = {
    "BudgetGuarantees": "GetBudgetGuaranteesResponse",
    "SessionGuarantees": "GetSessionGuaranteesResponse",
    "EpsilonSeries": "GetSessionSeriesResponse",
    "SeriesAttempt": "AttemptStart",
    "AccountantKind": "Accountant.Kind",
    "RelationKind": "NeighboringRelation.Kind",
    "BudgetState": "Budget.State",
    "Quantity": "CellBalance.Quantity",
}
# What /v1/events adds to a message.
ADDED = {"LedgerChange.watched"}
# Types of TypeScript that are one JSON type.
ALIASES = {"Int64", "Double", "Timestamp", "Bytes", "MechanismEvent"}


def load_pool():
    with open(DESCRIPTORS, "rb") as stream:
        files = descriptor_pb2.FileDescriptorSet.FromString(stream.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


class Parser:
    """Reads the types of a TypeScript file that holds declarations of data alone."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
        self.tokens = re.findall(r"'[^']*'|\w+|[{}\[\]()<>|;:,?=]", text)
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted):
        token = self.peek()
        if wanted and token not in wanted:
            raise ValueError("got %r, want %s, after %s" % (token, wanted, self.tokens[self.at - 8:self.at]))
        self.at += 1
        return token

    def declarations(self):
        found = {}
        while self.at < len(self.tokens):
            token = self.take()
            if token == "interface":
                name = self.take()
                found[name] = self.fields()
            elif token == "type":
                name = self.take()
                self.take("=")
                found[name] = self.union()
                self.take(";")
            elif token == "function":
                while self.take() not in (";", "{"):
                    pass
                if self.tokens[self.at - 1] == "{":
                    while self.take() != "}":
                        pass
        return found

    def fields(self):
        self.take("{")
        fields = {}
        while self.peek() != "}":
            name = self.take()
            if self.peek() == "?":
                self.take()
            self.take(":")
            fields[name] = self.union()
            if self.peek() == ";":
                self.take()
        self.take("}")
        return fields

    def union(self):
        if self.peek() == "|":
            self.take()
        options = [self.one()]
        while self.peek() == "|":
            self.take()
            options.append(self.one())
        return options[0] if len(options) == 1 else ("union", options)

    def one(self):
        if self.peek() == "{":
            kind = self.fields()
        else:
            kind = self.take()
            if kind == "Record":
                self.take("<")
                key = self.union()
                self.take(",")
                kind = ("record", key, self.union())
                self.take(">")
            elif self.peek() == "[" and self.tokens[self.at + 1].startswith("'"):
                self.take("[")
                kind = ("member", kind, self.take().strip("'"))
                self.take("]")
        while self.peek() == "[":
            self.take("[")
            self.take("]")
            kind = ("list", kind)
        return kind


class Checker:
    def __init__(self, declared, pool):
        self.declared = declared
        self.pool = pool
        self.problems = []
        self.checked = 0

    def message(self, name):
        return self.pool.FindMessageTypeByName(PACKAGE + NAMED.get(name, name))

    def check(self):
        for name, kind in self.declared.items():
            if name in ALIASES:
                continue
            if isinstance(kind, dict):
                try:
                    self.check_fields(name, kind, self.message(name))
                except KeyError:
                    self.problems.append("%s: there is no such message" % name)
            else:
                self.check_names(name, kind, self.pool.FindEnumTypeByName(PACKAGE + NAMED[name]))
        return self.problems

    def check_fields(self, path, fields, message):
        known = {field.json_name: field for field in message.fields}
        for name, kind in fields.items():
            where = "%s.%s" % (path, name)
            self.checked += 1
            if where in ADDED:
                continue
            if name not in known:
                self.problems.append("%s: %s has no such field" % (where, message.full_name))
            else:
                self.check_field(where, kind, known[name])

    def check_field(self, where, kind, field):
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if is_map:
            if not (isinstance(kind, tuple) and kind[0] == "record"):
                self.problems.append("%s: is a map" % where)
            return
        is_list = isinstance(kind, tuple) and kind[0] == "list"
        if is_list != (field.label == field.LABEL_REPEATED):
            self.problems.append("%s: is %sa list" % (where, "no list and not " if is_list else ""))
            return
        self.check_type(where, kind[1] if is_list else kind, field)

    def check_type(self, where, kind, field):
        if isinstance(kind, tuple) and kind[0] == "member":
            kind = self.declared[kind[1]][kind[2]]
        if isinstance(kind, dict):
            if field.message_type is None:
                self.problems.append("%s: is no message" % where)
            else:
                self.check_fields(where, kind, field.message_type)
            return
        if field.enum_type is not None:
            if isinstance(kind, str) and isinstance(self.declared.get(kind), tuple):
                if field.enum_type is not self.pool.FindEnumTypeByName(PACKAGE + NAMED[kind]):
                    self.problems.append("%s: is a %s" % (where, field.enum_type.full_name))
            elif kind != "string":
                self.check_names(where, kind, field.enum_type)
            return
        want = self.wanted(field)
        is_empty = field.message_type is not None and not field.message_type.fields
        if kind not in want and not (is_empty and (kind == "object" or isinstance(kind, tuple))):
            self.problems.append("%s: got %s, want %s" % (where, kind, " or ".join(sorted(want))))

    def wanted(self, field):
        if field.message_type is not None:
            full = field.message_type.full_name
            if full in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
                return {"Timestamp", "string"}
            return {name for name in self.declared
                    if full == PACKAGE + NAMED.get(name, name)} or {"a type of its own for " + full}
        return {
            field.TYPE_BOOL: {"boolean"}, field.TYPE_STRING: {"string"}, field.TYPE_BYTES: {"Bytes"},
            field.TYPE_DOUBLE: {"Double", "number"}, field.TYPE_INT64: {"Int64", "string"},
            field.TYPE_UINT64: {"Int64", "string"}, field.TYPE_INT32: {"number"}, field.TYPE_UINT32: {"number"},
        }[field.type]

    def check_names(self, where, kind, enum):
        names = [name.strip("'") for name in (kind[1] if isinstance(kind, tuple) else [kind])]
        known = {value.name for value in enum.values}
        for name in names:
            self.checked += 1
            if name not in known:
                self.problems.append("%s: %s has no %s" % (where, enum.full_name, name))


class DashboardMessagesTest(unittest.TestCase):
    def problems_of(self, text):
        checker = Checker(Parser(text).declarations(), load_pool())
        return checker.check(), checker.checked

    def test_every_field_is_one_of_the_message_with_its_json_type(self):
        with open(MESSAGES, encoding="utf-8") as stream:
            problems, checked = self.problems_of(stream.read())
        self.assertEqual(problems, [])
        self.assertGreater(checked, 300)

    def test_what_is_wrong_is_found(self):
        for text, problem in (
                ("export interface Budget { nome: string }", "no such field"),
                ("export interface Budget { name: number }", "got number, want string"),
                ("export interface Budgets { name: string }", "there is no such message"),
                ("export interface Budget { acceptedChargeCount?: number }", "got number, want Int64"),
                ("export interface Budget { cells?: string }", "is a list"),
                ("export interface Budget { labels?: string }", "is a map"),
                ("export interface Budget { cap?: { zcdp?: { rhoo?: number } } }", "no such field"),
                ("export type BudgetState = 'ACTIVE' | 'GONE';", "has no GONE"),
                ("export interface Session { mode?: 'DECLARED' | 'FREE' }", "has no FREE")):
            with self.subTest(text):
                problems, _ = self.problems_of(text)
                self.assertEqual(len(problems), 1, problems)
                self.assertIn(problem, problems[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
