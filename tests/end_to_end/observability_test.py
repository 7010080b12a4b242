"""docker/prometheus and docker/grafana: observability_test.py BUILD_DIR

promtool reads the configuration, runs the tests of the rules, and parses every query of the dashboard.
Every metric and label that a rule or a panel names must be in the /metrics of a real server: a name
with a typing error is valid PromQL that never fires. Ends with 77 where promtool is missing.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from served_ledger import ServedLedger

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROMETHEUS = os.path.join(ROOT, "docker", "prometheus")
GRAFANA = os.path.join(ROOT, "docker", "grafana")
# What Grafana puts in before Prometheus sees a query.
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*", "$budget": ".*"}
# What Prometheus itself adds to what it scrapes.
SCRAPE_LABELS = {"instance", "job"}
# Metrics that have a series for every value of their labels before anything happens. Others get one when
# it happens first: overload_test.cc brings about the reason OVERLOADED.
ALL_SERIES_FROM_THE_START = {"epsledger_charges_total", "epsledger_refusals_total", "epsledger_command_errors_total",
                             "epsledger_command_seconds_bucket"}


def promtool(*arguments):
    run = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=120)
    return run.returncode, run.stdout + run.stderr


def read_yaml(*path):
    import yaml  # Debian's python3-yaml
    with open(os.path.join(*path), encoding="utf-8") as stream:
        return yaml.safe_load(stream)


def rules():
    return [rule for group in read_yaml(PROMETHEUS, "rules.yml")["groups"] for rule in group["rules"]]


def dashboard():
    with open(os.path.join(GRAFANA, "dashboards", "epsledger.json"), encoding="utf-8") as stream:
        return json.load(stream)


def dashboard_queries():
    """(where, PromQL) of every panel, variable and annotation."""
    board = dashboard()
    found = [("panel " + panel["title"], target["expr"]) for panel in board["panels"]
             for target in panel.get("targets", [])]
    found += [("annotation " + a["name"], a["expr"]) for a in board["annotations"]["list"]]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            selector = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
            found.append(("variable " + variable["name"], "count by (%s) (%s)" % (selector[2], selector[1])))
    for name, value in VARIABLES.items():
        found = [(where, query.replace(name, value)) for where, query in found]
    return found


def label_values_of(text):
    """(metric, label) -> its values."""
    values = {}
    for metric, labels in re.findall(r"^(\w+)\{(.*)\} ", text, re.MULTILINE):
        for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
            values.setdefault((metric, label), set()).add(value)
    return values


def unknown_values(query, values):
    """Words of matchers, as "refused" in {decision="refused"}, that none of the metric's series has."""
    for metric, matchers in re.findall(r"(?<![\w:])(epsledger_\w+)\s*\{([^}]*)\}", query):
        for label, words in re.findall(r'(\w+)\s*=~?\s*"([^"]*)"', matchers):
            if metric in ALL_SERIES_FROM_THE_START and label not in SCRAPE_LABELS and words != ".*":
                for word in words.split("|"):
                    if word not in values.get((metric, label), ()):
                        yield '%s{%s="%s"}' % (metric, label, word)


def metrics_of(text):
    """metric -> names of its labels, of Prometheus' text format."""
    metrics = {}
    for line in text.split("\n"):
        sample = re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ", line)
        if sample and not line.startswith("#"):
            metrics.setdefault(sample[1], set()).update(re.findall(r'(\w+)="', sample[2] or ""))
    return metrics


def unknown_names(query, metrics):
    """Metrics and labels of the query that the server does not have."""
    query = re.sub(r'"(?:\\.|[^"\\])*"', '""', query)
    selectors = re.findall(r"(?<![\w:])(epsledger_\w+)(?![\w:])(?:\s*\{([^}]*)\})?", query)
    for metric, matchers in selectors:
        if metric not in metrics:
            yield metric
            continue
        for label in re.findall(r"(\w+)\s*(?:=|!)", matchers):
            if label not in metrics[metric] | SCRAPE_LABELS:
                yield "%s{%s}" % (metric, label)
    labels = SCRAPE_LABELS.union(*(metrics[metric] for metric, _ in selectors if metric in metrics))
    for names in re.findall(r"\b(?:by|on)\s*\(([^)]*)\)", query) if selectors else []:
        yield from ("by (%s)" % name for name in re.findall(r"\w+", names) if name not in labels)


class ObservabilityTest(unittest.TestCase):
    build = None

    @classmethod
    def setUpClass(cls):
        with ServedLedger(cls.build) as server:
            server.spend()
            status, _, text = server.get("/metrics")
        if status != 200:
            raise AssertionError("/metrics: %d" % status)
        cls.metrics = metrics_of(text)
        cls.values = label_values_of(text)

    def test_the_log_names_a_session_that_is_not_proven(self):
        with ServedLedger(self.build) as server:
            server.ctl("budget", "create", "people", "--rho", "1", "--relation", "add-or-remove-one",
                       "--privacy-unit", "person")
            for name, claim in (("sound", ()), ("printed", ("--claim", "counterexample-known", "--claimed-epsilon", "1",
                                                            "--claimed-delta", "1e-5", "--claim-source", "a paper"))):
                server.ctl("session", "create", "people/" + name, "--relation", "add-or-remove-one", "--no-own-cap",
                           *claim)
            with open(server.log, encoding="utf-8") as stream:
                lines = [line for line in stream if "budgets/people/sessions/" in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("warn", lines[0])
        self.assertIn("budgets/people/sessions/printed: as published; claimed guarantee not proven "
                      "(counterexample_known)", lines[0])

    def test_promtool_takes_the_configuration_and_the_rules(self):
        for arguments in (("check", "config", "--syntax-only", os.path.join(PROMETHEUS, "prometheus.yml")),
                          ("check", "config", "--syntax-only", os.path.join(PROMETHEUS, "postgres.yml")),
                          ("check", "rules", os.path.join(PROMETHEUS, "rules.yml")),
                          ("test", "rules", os.path.join(PROMETHEUS, "rules_test.yml"))):
            code, words = promtool(*arguments)
            self.assertEqual(code, 0, words)

    def test_every_alert_says_what_to_do_and_is_tested(self):
        with open(os.path.join(PROMETHEUS, "rules_test.yml"), encoding="utf-8") as stream:
            tests = stream.read()
        for alert in (rule for rule in rules() if "alert" in rule):
            with self.subTest(alert["alert"]):
                self.assertIn(alert["labels"]["severity"], ("warning", "critical"))
                self.assertRegex(alert["annotations"]["summary"], r"\{\{ \$labels\.\w+ \}\}")
                self.assertGreater(len(alert["annotations"]["description"].split()), 20)
                self.assertIn('"%s"' % alert["alert"], tests)

    def test_rules_name_what_the_server_exports(self):
        recorded = {rule["record"] for rule in rules() if "record" in rule}
        for rule in rules():
            with self.subTest(rule.get("alert", rule.get("record"))):
                self.assertEqual(list(unknown_names(rule["expr"], self.metrics)), [])
                self.assertEqual(list(unknown_values(rule["expr"], self.values)), [])
                self.assertLessEqual(set(re.findall(r"\w+:\w+:\w+", rule["expr"])), recorded)

    def test_the_dashboard_asks_for_what_the_server_exports(self):
        queries = dashboard_queries()
        self.assertGreater(len(queries), 15)
        for where, query in queries:
            with self.subTest(where):
                self.assertEqual(list(unknown_names(query, self.metrics)), [])
                self.assertEqual(list(unknown_values(query, self.values)), [])

    def test_every_metric_of_the_server_is_on_the_dashboard(self):
        shown = set(re.findall(r"epsledger_\w+", " ".join(query for _, query in dashboard_queries())))
        exported = {re.sub(r"_(sum|count)$", "_bucket", metric) for metric in self.metrics}
        self.assertEqual({m for m in exported if m.startswith("epsledger_")} - shown, set())

    def test_promtool_takes_every_query_of_the_dashboard(self):
        def check(queries):
            with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
                json.dump({"groups": [{"name": "dashboard", "rules": [
                    {"record": "query:%d" % number, "expr": query} for number, query in enumerate(queries)]}]}, file)
                file.flush()  # JSON is YAML
                return promtool("check", "rules", file.name)
        queries = [query for _, query in dashboard_queries()]
        code, words = check(queries)
        self.assertEqual(code, 0, words)
        self.assertIn("%d rules found" % len(queries), words)
        self.assertNotEqual(check(["rate(epsledger_charges_total)"])[0], 0)  # it would tell

    def test_the_dashboard_has_no_two_panels_in_one_place(self):
        taken, ids = {}, set()
        for panel in dashboard()["panels"]:
            self.assertNotIn(panel["id"], ids)
            ids.add(panel["id"])
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24)
            for cell in ((x, y) for x in range(place["x"], place["x"] + place["w"])
                         for y in range(place["y"], place["y"] + place["h"])):
                self.assertEqual(taken.setdefault(cell, panel["title"]), panel["title"])

    def test_provisioning_fits(self):
        source = read_yaml(GRAFANA, "provisioning", "datasources", "prometheus.yaml")["datasources"][0]
        self.assertEqual((source["type"], source["url"]), ("prometheus", "http://prometheus:9090"))
        provider = read_yaml(GRAFANA, "provisioning", "dashboards", "epsledger.yaml")["providers"][0]
        self.assertEqual(provider["options"]["path"], "/var/lib/grafana/dashboards")
        for file in ("prometheus.yml", "postgres.yml"):
            jobs = {config["job_name"] for config in read_yaml(PROMETHEUS, file)["scrape_configs"]}
            for query in [rule["expr"] for rule in rules()] + [query for _, query in dashboard_queries()]:
                self.assertLessEqual(set(re.findall(r'job="(\w+)"', query)), jobs)

    def test_a_name_with_a_typing_error_is_found(self):
        for query in ("rate(epsledger_charge_total[5m])", 'epsledger_charges_total{decison="refused"}',
                      "sum by (reasons) (epsledger_refusals_total)"):
            self.assertEqual(len(list(unknown_names(query, self.metrics))), 1, query)
        query = 'epsledger_command_errors_total{code=~"INTERNAL|DATALOSS"}'
        self.assertEqual(list(unknown_values(query, self.values)),
                         ['epsledger_command_errors_total{code="DATALOSS"}'])


if __name__ == "__main__":
    if not shutil.which("promtool"):
        print("skipped: promtool is not installed (package prometheus of docker/packages/test.txt)")
        sys.exit(77)
    try:
        import yaml  # noqa: F401
    except ImportError:
        print("skipped: python3-yaml is not installed (docker/packages/test.txt)")
        sys.exit(77)
    ObservabilityTest.build = sys.argv.pop(1)
    unittest.main()
