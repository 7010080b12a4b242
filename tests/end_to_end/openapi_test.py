"""/openapi.json of a real server: openapi_test.py BUILD_DIR

The document is linted. Then every path of it is read, with every parameter that it names, from a ledger
in which something has happened; every answer, refusals included, must fit the schema that the document
has for its status and media type, with no property that is not documented.
"""
import csv
import io
import json
import re
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

import json_schema
from openapi_lint import lint
from served_ledger import ServedLedger

PATH_PARAMETERS = [{"budget": "people", "session": "first-run"}, {"budget": "people", "session": "capped"},
                   {"budget": "people", "session": "planned"}]
PROPOSAL = "done"  # of the first of the budgets
BUDGETS = ("people", "frozen", "old", "new", "closed")
# What a path wants besides, by its last word.
WANTED = {"guarantees": {"delta": "1e-5"}, "statement": {"delta": "1e-5"}, "series": {"delta": "1e-5"},
          "profile": {"epsilons": "1"}, "trade-off-curve": {"typeOneErrors": "0.01"},
          "budget-readings": {"delta": "1e-5"}, "session-readings": {"delta": "1e-5"}}
# What is asked for by several parameters together.
RANGES = {"epsilonRange": {"first": "0.1", "last": "4", "count": "5", "logarithmic": "true"},
          "typeOneErrorRange": {"first": "0.01", "last": "0.5", "count": "5", "logarithmic": "true"}}
# A value of every other query parameter. pageToken comes from the page before.
VALUES = {"pageSize": "1", "delta": "1e-6", "group": "search", "typeOneError": "0.05", "afterSequence": "2",
          "atSequence": "12", "accountant": "RENYI", "pointCount": "5", "epsilons": "2", "typeOneErrors": "0.1",
          "window": "3600s", "format": "csv", "pendingOnly": "true",
          "atDeltaOfCap": "true", "includeDescendants": "true", "renyiOrder": "8", "text": "s", "order": "STEP_COUNT",
          "descending": "true"}


def targets(path, operation):
    """The path with real names, and every parameter of its query once."""
    def target(names, query):
        filled = re.sub(r"\{(\w+)\}", lambda match: names[match[1]], path)
        return filled + ("?" + urllib.parse.urlencode(query) if query else "")
    wanted = WANTED.get(path.rsplit("/", 1)[-1], {})
    if "{session}" in path:
        names = PATH_PARAMETERS
    elif "{proposal}" in path:
        names = [{"budget": BUDGETS[0], "proposal": PROPOSAL}]
    elif "{budget}" in path:
        names = [{"budget": budget} for budget in BUDGETS]
    else:
        names = [{}]
    for one in names:
        yield target(one, wanted)
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        outer, _, inner = name.partition(".")
        if parameter["in"] != "query" or name == "pageToken":
            continue
        if outer in RANGES:
            if inner == next(iter(RANGES[outer])):  # all of it at once
                yield target(names[0], {"%s.%s" % (outer, n): value for n, value in RANGES[outer].items()})
        else:
            yield target(names[0], dict(wanted, **{name: VALUES[name]}))


class OpenApiTest(unittest.TestCase):
    build = None

    @classmethod
    def setUpClass(cls):
        cls.server = ServedLedger(cls.build)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        cls.server.spend()
        cls.server.ctl("proposal", "close", BUDGETS[0], "--id", PROPOSAL, "--reason", "a test")
        status, kind, text = cls.server.get("/openapi.json")
        assert (status, kind.split(";")[0]) == (200, "application/json"), (status, kind)
        cls.document = json.loads(text)
        cls.reads = {path: item["get"] for path, item in cls.document["paths"].items()
                     if "get" in item and path != "/v1/events"}

    def fits(self, operation, status, kind, body):
        """The answer is one that the operation documents. What JSON it is, or None."""
        responses = operation["responses"]
        response = responses.get(str(status), responses.get("default"))
        self.assertIsNotNone(response, "the status %d is not documented" % status)
        if "$ref" in response:
            response = json_schema.resolve(self.document, response["$ref"])
        kind = kind.split(";")[0].strip()
        self.assertIn(kind, response["content"], "status %d: %s" % (status, body[:300]))
        if kind != "application/json":
            return None
        value = json.loads(body)
        schema = response["content"][kind]["schema"]
        self.assertEqual(list(json_schema.mistakes(self.document, schema, value)), [])
        return value

    def test_the_lint_finds_nothing(self):
        self.assertEqual(list(lint(self.document)), [])

    def test_every_read_answers_as_documented(self):
        self.assertGreater(len(self.reads), 20)
        for path, operation in self.reads.items():
            for target in targets(path, operation):
                with self.subTest(target):
                    status, kind, body = self.server.get(target)
                    self.assertEqual(status, 200, body[:500])
                    answer = self.fits(operation, status, kind, body)
                    if "format=csv" in target:
                        table = list(csv.reader(io.StringIO(body)))
                        self.assertLessEqual(len({len(row) for row in table}), 1)
                    elif answer and answer.get("nextPageToken"):
                        token = urllib.parse.quote(answer["nextPageToken"])
                        status, kind, body = self.server.get("%s&pageToken=%s" % (target, token))
                        self.assertEqual(status, 200, body[:500])
                        self.assertNotEqual(self.fits(operation, status, kind, body), answer)

    def test_something_of_everything_was_read(self):
        """The answers that the schemas were held to are not empty."""
        for target, word in (("/v1/budgets", '"FROZEN"'), ("/v1/budgets", '"SUPERSEDED"'),
                             ("/v1/budgets/people/refusals", '"BUDGET_EXHAUSTED"'),
                             ("/v1/budgets/people/tree", "one-country"),
                             ("/v1/budgets/people/sessions", '"DECLARED"'),
                             ("/v1/budgets/people/sessions/first-run", '"openLeases":[{'),
                             ("/v1/budgets/people/sessions/first-run", '"audits":[{'),
                             ("/v1/budgets/people/sessions/first-run/history", '"poissonSampled"')):
            with self.subTest(target + " " + word):
                self.assertIn(word, self.server.get(target)[2])

    def test_every_error_is_as_documented(self):
        for path, operation in self.reads.items():
            if not path.startswith("/v1/"):
                continue
            filled = re.sub(r"\{\w+\}", "people", path)
            errors = [(400, filled + "?imagined=1"), (400, filled + "?format=xml"), (400, filled + "?%zz=1")]
            if path.rsplit("/", 1)[-1] in WANTED:
                errors.append((400, re.sub(r"\{\w+\}", "first-run", path.replace("{budget}", "people"))))
            if "{" in path:
                wanted = urllib.parse.urlencode(WANTED.get(path.rsplit("/", 1)[-1], {}))
                errors.append((404, re.sub(r"\{\w+\}", "none", path) + "?" + wanted))
            for want, target in errors:
                with self.subTest(target):
                    status, kind, body = self.server.get(target)
                    self.assertEqual(status, want, body[:300])
                    self.assertTrue(self.fits(operation, status, kind, body)["message"])

    def test_the_events_are_a_stream(self):
        operation = self.document["paths"]["/v1/events"]["get"]
        target = "http://%s/v1/events?after=0&budget=people" % self.server.http
        with urllib.request.urlopen(target, timeout=20) as stream:
            self.assertIn(stream.headers["content-type"].split(";")[0], operation["responses"]["200"]["content"])
            told = []
            while len(told) < 12:
                line = stream.readline().decode()
                if line.startswith("data: ") and line != "data: {}\n":  # that is a bookmark
                    told.append(json.loads(line[len("data: "):]))
        schema = operation["responses"]["200"]["content"]["text/event-stream"]["x-event-data"]
        for change in told:
            self.assertEqual(change["watched"], "budgets/people")
            self.assertEqual(list(json_schema.mistakes(self.document, schema, change)), [])
        self.assertEqual({"budget", "session", "attempt", "charge"} - set().union(*told), set())

    def test_every_call_refuses_or_answers_an_empty_request_as_documented(self):
        calls = {path: item["post"] for path, item in self.document["paths"].items() if "post" in item}
        self.assertGreater(len(calls), 35)
        for path, operation in calls.items():
            with self.subTest(path):
                request = urllib.request.Request("http://%s%s" % (self.server.http, path), data=b"{}",
                                                 headers={"content-type": "application/json"})
                try:
                    answer = urllib.request.urlopen(request, timeout=60)
                except urllib.error.HTTPError as error:
                    answer = error
                with answer:
                    self.fits(operation, answer.status, answer.headers["content-type"], answer.read().decode())

    def test_a_broken_document_is_found(self):
        def broken(change):
            copy = json.loads(json.dumps(self.document))
            change(copy)
            return list(lint(copy))
        budget = "/v1/budgets/{budget}"
        for change, said in (
                (lambda d: d["paths"][budget]["get"].pop("summary"), "summary"),
                (lambda d: d["paths"][budget]["get"].update(operationId="getHealth"), "operationId of"),
                (lambda d: d["paths"][budget]["get"]["parameters"].pop(0), "not those of the path"),
                (lambda d: d["paths"][budget]["get"]["parameters"][0].pop("schema"), "no type"),
                (lambda d: d["components"]["schemas"].pop("Cap"), "leads nowhere"),
                (lambda d: d["components"]["schemas"].update(Idle={"type": "object"}), "nothing refers"),
                (lambda d: d["components"]["schemas"]["Cap"].update(type="thing"), "is no type")):
            self.assertIn(said, " ".join(broken(change)))

    def test_an_answer_that_does_not_fit_is_found(self):
        answer = json.loads(self.server.get("/v1/budgets/people")[2])
        schema = {"$ref": "#/components/schemas/Budget"}
        for change in ({"imagined": 1}, {"state": "HAPPY"}, {"spentFraction": "0.5"}, {"createTime": "yesterday"},
                       {"acceptedChargeCount": 1}, {"cells": {}}, {"labels": {"team": 1}}):
            found = list(json_schema.mistakes(self.document, schema, dict(answer, **change)))
            self.assertEqual(len(found), 1, found)


if __name__ == "__main__":
    OpenApiTest.build = sys.argv.pop(1)
    unittest.main()
