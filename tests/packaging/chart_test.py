"""docker/helm, rendered and looked into: chart_test.py [BUILD_DIR]; `./dev chart`

helm (EPSLEDGER_HELM, or in the path) renders it. PyPI's kubernetes-validate, in the Python of
EPSLEDGER_KUBERNETES_PYTHON, validates the objects by Kubernetes' own schemas; kubeconform (EPSLEDGER_KUBECONFORM, or in
the path) does by the standalone schemas in the folder EPSLEDGER_KUBERNETES_SCHEMAS, where that is given.
Ends with 77 without helm; without the others their test is skipped.
"""
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CHART = os.path.join(ROOT, "docker", "helm")
HELM = os.environ.get("EPSLEDGER_HELM") or shutil.which("helm")
KUBECONFORM = os.environ.get("EPSLEDGER_KUBECONFORM") or shutil.which("kubeconform")
SCHEMAS = os.environ.get("EPSLEDGER_KUBERNETES_SCHEMAS")
OLDEST = ("--kube-version", "1.29.0")  # that the chart says it runs on
EMBEDDED = {"mode": "embedded"}
POSTGRES = {"mode": "postgres", "postgres": {
    "connection": "host=db dbname=epsledger user=epsledger sslmode=verify-full sslrootcert=/etc/epsledger/database/ca.crt",
    "passwordSecret": {"name": "database", "key": "password"},
    "authoritySecret": {"name": "database", "key": "ca.crt"},
    "statementKeySecret": {"name": "statement-key", "key": "statement.key"},
    "peers": [{"ipBlock": {"cidr": "10.0.0.0/24"}}]}}
WATCHED = {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
           "networkPolicy": {"monitoring": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}]}}


VALIDATE = """
import json, sys
import kubernetes_validate as validator
wrong = []
for thing in json.load(sys.stdin):
    try:
        validator.validate(thing, validator.latest_version(), strict=True)
    except validator.ValidationError as error:
        wrong.append([thing["kind"], thing["metadata"]["name"], error.message])
print(json.dumps(wrong))
"""


def with_values(base, **changes):
    values = copy.deepcopy(base)
    for path, value in changes.items():
        place = values
        *folders, last = path.split("__")
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return values


def helm(values, *arguments):
    """(exit code, what it rendered, what it said)"""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(values, file)
        file.flush()
        run = subprocess.run([HELM, "template", "epsledger", CHART, "--namespace", "privacy", "--values", file.name,
                              *OLDEST, *arguments], capture_output=True, text=True, timeout=120)
    return run.returncode, run.stdout, run.stderr


def rendered(values):
    import yaml  # Debian's python3-yaml
    code, text, said = helm(values)
    if code:
        raise AssertionError(said)
    return {(thing["kind"], thing["metadata"]["name"]): thing for thing in yaml.safe_load_all(text) if thing}


def pod_of(things):
    owner = next(thing for (kind, _), thing in things.items() if kind in ("StatefulSet", "Deployment"))
    return owner["spec"]["template"]["spec"]


def server_of(things):
    return pod_of(things)["containers"][0]


class Chart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.embedded, cls.postgres = rendered(EMBEDDED), rendered(dict(POSTGRES, **WATCHED))
        cls.both = (cls.embedded, cls.postgres)

    def kinds(self, things):
        return sorted({kind for kind, _ in things})

    def refused(self, values, *words):
        code, text, said = helm(values)
        self.assertNotEqual(code, 0, text[:200])
        for word in words:
            self.assertIn(word, said)

    def test_an_embedded_ledger_has_one_writer(self):
        self.assertNotIn("Deployment", self.kinds(self.embedded))
        ledger = self.embedded["StatefulSet", "epsledger"]["spec"]
        self.assertEqual(ledger["replicas"], 1)
        self.assertEqual(ledger["updateStrategy"], {"type": "OnDelete"})
        self.assertEqual(ledger["persistentVolumeClaimRetentionPolicy"], {"whenDeleted": "Retain", "whenScaled": "Retain"})
        claim, = ledger["volumeClaimTemplates"]
        self.assertEqual(claim["spec"]["accessModes"], ["ReadWriteOncePod"])
        mounts = {mount["mountPath"]: mount for mount in server_of(self.embedded)["volumeMounts"]}
        self.assertEqual(mounts["/var/lib/epsledger"]["name"], claim["metadata"]["name"])
        self.assertIn("--data-dir=/var/lib/epsledger", server_of(self.embedded)["args"])
        for values in (with_values(EMBEDDED, replicas=2), with_values(EMBEDDED, persistence__accessMode="ReadWriteMany")):
            self.refused(values)
        # The number of servers of the other mode changes nothing here.
        self.assertEqual(rendered(with_values(EMBEDDED, postgres__replicas=5))["StatefulSet", "epsledger"]["spec"]["replicas"], 1)

    def test_servers_on_a_database_are_several_and_hold_no_volume(self):
        self.assertNotIn("StatefulSet", self.kinds(self.postgres))
        servers = self.postgres["Deployment", "epsledger"]["spec"]
        self.assertGreaterEqual(servers["replicas"], 2)
        self.assertEqual(servers["strategy"], {"type": "Recreate"})
        rolling = rendered(with_values(POSTGRES, postgres__rollingUpdate=True))["Deployment", "epsledger"]["spec"]
        self.assertEqual(rolling["strategy"]["type"], "RollingUpdate")
        budget = self.postgres["PodDisruptionBudget", "epsledger"]["spec"]
        self.assertEqual(budget["minAvailable"], 1)
        self.assertEqual(budget["selector"], servers["selector"])
        self.assertNotIn("persistentVolumeClaim", json.dumps(servers))
        self.refused(with_values(POSTGRES, postgres__replicas=1), "replicas")

    def test_nothing_is_served_without_tls_and_tokens(self):
        for things in self.both:
            server = server_of(things)
            for word in ("--tls-cert=/etc/epsledger/tls/tls.crt", "--tls-key=/etc/epsledger/tls/tls.key", "--require-tokens"):
                self.assertIn(word, server["args"])
            self.assertNotIn("insecure", json.dumps(list(things.values())).lower())
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                self.assertEqual(server[probe]["httpGet"]["scheme"], "HTTPS")
        monitor = self.postgres["ServiceMonitor", "epsledger"]["spec"]["endpoints"][0]
        self.assertEqual((monitor["scheme"], monitor["path"]), ("https", "/metrics"))
        self.assertNotIn("insecureSkipVerify", monitor["tlsConfig"])
        for flag in ("insecure-plaintext", "insecure-no-access-control", "tls-cert", "listen", "http-listen", "data-dir",
                     "require-tokens", "operations-listen", "postgres-without-standby"):
            self.refused(with_values(EMBEDDED, settings={flag: "x"}), flag)
        self.refused(with_values(EMBEDDED, tls__secretName=""), "secretName")

    def test_every_container_is_confined(self):
        for things in self.both:
            pod = pod_of(things)
            self.assertEqual(pod["securityContext"]["runAsNonRoot"], True)
            self.assertEqual(pod["securityContext"]["runAsUser"], 10001)
            self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
            self.assertIs(pod["automountServiceAccountToken"], False)
            for container in pod["containers"] + pod["initContainers"]:
                with self.subTest(container["name"]):
                    self.assertEqual(container["securityContext"], {
                        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
                    self.assertIn("memory", container["resources"]["limits"])
                    self.assertEqual(set(container["resources"]["requests"]), {"cpu", "memory"})
            # What it may write: its ledger, and memory.
            for volume in pod["volumes"]:
                self.assertTrue(set(volume) & {"secret", "projected", "emptyDir"}, volume)
                self.assertTrue("emptyDir" not in volume or volume["emptyDir"]["medium"] == "Memory")
            for field in ("hostNetwork", "hostPID", "hostIPC"):
                self.assertNotIn(field, pod)

    def test_secrets_are_referred_to(self):
        for things in self.both:
            self.assertNotIn("Secret", self.kinds(things))
            for entry in server_of(things).get("env", []):
                self.assertNotRegex(str(entry.get("value")), "password *=")
        environment = {entry["name"]: entry["value"] for entry in server_of(self.postgres)["env"]}
        self.assertEqual(environment["EPSLEDGERD_POSTGRES_PASSWORD_FILE"], "/etc/epsledger/database/password")
        self.refused(with_values(POSTGRES, postgres__connection="host=db password=letmein"), "connection")
        self.refused(with_values(POSTGRES, postgres__connection="postgresql://epsledger:letmein@db/epsledger"), "connection")
        self.refused({"mode": "postgres"}, "connection")
        self.refused(with_values(POSTGRES, postgres__statementKeySecret={"name": "", "key": "k"}), "statementKeySecret")

    def test_the_signing_key_is_the_servers_own_file(self):
        copying, = pod_of(self.postgres)["initContainers"]
        self.assertIn("umask 077; cp /etc/epsledger/statement/statement.key /run/epsledger/statement.key", copying["args"])
        self.assertIn("--statement-key=/run/epsledger/statement.key", server_of(self.postgres)["args"])

    def test_the_probes_ask_what_the_server_answers(self):
        with open(os.path.join(ROOT, "server/transport/http/operations_routes.cc"), encoding="utf-8") as stream:
            routes = stream.read()
        for things in self.both:
            server = server_of(things)
            ports = {port["name"]: port["containerPort"] for port in server["ports"]}
            for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
                self.assertEqual(server[probe]["httpGet"]["path"], path)
                self.assertIn('"%s"' % path, routes)
                self.assertIn("--operations-listen=0.0.0.0:%d" % ports[server[probe]["httpGet"]["port"]], server["args"])

    def test_the_network_lets_in_whom_it_names(self):
        for things in self.both:
            policy = things["NetworkPolicy", "epsledger"]["spec"]
            self.assertEqual(set(policy["policyTypes"]), {"Ingress", "Egress"})
            for rule in policy["ingress"]:
                self.assertTrue(rule["from"])
        ports = [port["port"] for rule in self.embedded["NetworkPolicy", "epsledger"]["spec"]["ingress"]
                 for port in rule["ports"]]
        self.assertEqual(ports, [50551, 8443])  # and not that of the operators
        out = self.postgres["NetworkPolicy", "epsledger"]["spec"]["egress"]
        self.assertIn({"ports": [{"protocol": "TCP", "port": 5432}], "to": [{"ipBlock": {"cidr": "10.0.0.0/24"}}]}, out)
        nobody = rendered(with_values(EMBEDDED, networkPolicy={"clients": [], "monitoring": []}))
        self.assertEqual(nobody["NetworkPolicy", "epsledger"]["spec"]["ingress"], [])

    def test_services_and_budgets_select_the_pods(self):
        for things in self.both:
            owner = next(thing for (kind, _), thing in things.items() if kind in ("StatefulSet", "Deployment"))
            labels = owner["spec"]["template"]["metadata"]["labels"]
            for (kind, _), thing in things.items():
                spec = thing.get("spec", {})
                selector = {"Service": spec.get("selector"), "NetworkPolicy": (spec.get("podSelector") or {}).get("matchLabels"),
                            "PodDisruptionBudget": (spec.get("selector") or {}).get("matchLabels")}.get(kind)
                if selector is not None:
                    self.assertTrue(selector and selector.items() <= labels.items(), kind)
        operations = self.postgres["Service", "epsledger-operations"]["metadata"]["labels"]
        wanted = self.postgres["ServiceMonitor", "epsledger"]["spec"]["selector"]["matchLabels"]
        self.assertLessEqual(wanted.items(), operations.items())
        self.assertFalse(wanted.items() <= self.postgres["Service", "epsledger"]["metadata"]["labels"].items())

    def test_unknown_settings_are_refused(self):
        for values in (with_values(EMBEDDED, replica=3), with_values(EMBEDDED, tls__enabled=False),
                       with_values(EMBEDDED, image__tga="1"), with_values(EMBEDDED, persistence__sise="1Gi"),
                       with_values(EMBEDDED, mode="both"), with_values(EMBEDDED, image__tag="latest")):
            self.refused(values)

    def test_settings_become_flags_that_the_server_knows(self):
        flags = server_of(rendered(with_values(EMBEDDED, settings={"server-name": "https://a.example.org",
                                                                     "max-queue": 100})))["args"]
        self.assertIn("--server-name=https://a.example.org", flags)
        self.assertIn("--max-queue=100", flags)
        program = os.path.join(BUILD or "", "server", "epsledgerd")
        if os.path.exists(program):
            known = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
            for things in self.both:
                for argument in server_of(things)["args"]:
                    self.assertIn(argument.split("=")[0], known)

    def test_the_image_is_of_a_release(self):
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as stream:
            version = re.search(r"project\(epsledger VERSION (\S+)", stream.read())[1]
        self.assertEqual(server_of(self.embedded)["image"], "epsledger/server:" + version)
        digest = "sha256:" + "0" * 64
        self.assertEqual(server_of(rendered(with_values(EMBEDDED, image__digest=digest)))["image"],
                         "epsledger/server@" + digest)

    def test_helm_lint_is_content(self):
        run = subprocess.run([HELM, "lint", "--strict", CHART, *OLDEST], capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_the_objects_are_those_of_kubernetes(self):
        python = os.environ.get("EPSLEDGER_KUBERNETES_PYTHON", sys.executable)
        if subprocess.run([python, "-I", "-c", "import kubernetes_validate"], capture_output=True).returncode:
            self.skipTest("PyPI's kubernetes-validate is not installed; EPSLEDGER_KUBERNETES_PYTHON may name a Python that "
                          "has it")
        # A ServiceMonitor is of an operator, which brings its own schema.
        things = [thing for values in (EMBEDDED, POSTGRES) for (kind, _), thing in
                  rendered(dict(values, **WATCHED)).items() if kind != "ServiceMonitor"]
        self.assertEqual(self.invalid(python, things), [])
        # The schemas are read: a field that Kubernetes does not know is found in each.
        for thing in things:
            thing["imagined"] = 1
        self.assertEqual(len(self.invalid(python, things)), len(things))

    def invalid(self, python, things):
        """What is wrong with which object, by the schemas of the newest Kubernetes that the validator knows."""
        run = subprocess.run([python, "-I", "-c", VALIDATE], input=json.dumps(things), capture_output=True, text=True,
                             timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_kubeconform_is_content(self):
        if not KUBECONFORM or not SCHEMAS:
            self.skipTest("kubeconform, or EPSLEDGER_KUBERNETES_SCHEMAS for its schemas, is not there")
        for values in (EMBEDDED, POSTGRES):
            _, text, _ = helm(values)
            run = subprocess.run([KUBECONFORM, "-strict", "-schema-location",
                                  os.path.join(SCHEMAS, "{{.ResourceKind}}{{.KindSuffix}}.json")],
                                 input=text, capture_output=True, text=True, timeout=300)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


BUILD = None
if __name__ == "__main__":
    if not HELM:
        print("skipped: helm is not installed (./dev chart builds it where go is)")
        sys.exit(77)
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
