"""docker/compose.yaml keeps what docker/README.md promises of it: confined containers, pinned images, ports on
loopback, secrets in files, TLS and tokens, and every profile validates by `docker-compose config`, which needs no engine."""
import os
import re
import shlex
import shutil
import subprocess

from repository import Violation

COMPOSE = "docker/compose.yaml"
EXAMPLE = "docker/.env.example"
SHIPPED = {"server", "cli", "trainer"}
PROFILES = {"alerts", "client", "demo", "postgres", "plaintext", "observability"}
# Made from docker/Dockerfile, or one of these by its release.
OF_OTHERS = {"postgres", "prom/prometheus", "grafana/grafana"}
SECRET = re.compile(r"password|secret|token|private|credential|(^|_)key($|_)", re.IGNORECASE)
NAMES_A_FILE = re.compile(r"FILE$")


def violation(rule, reason):
    return Violation(COMPOSE, 1, rule, reason)


def defaults_filled_in(text):
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(text))


def check_confinement(name, service):
    if service.get("read_only") is not True or service.get("cap_drop") != ["ALL"]:
        yield violation("confinement", "service '%s' needs read_only: true and cap_drop: [ALL]" % name)
    if "no-new-privileges:true" not in service.get("security_opt", []):
        yield violation("confinement", "service '%s' needs no-new-privileges" % name)
    for limit in ("pids_limit", "mem_limit"):
        if not service.get(limit):
            yield violation("limits", "service '%s' has no %s: one container must not starve the others" % (name, limit))
    for word in ("privileged", "cap_add", "devices", "pid", "ipc", "network_mode", "userns_mode"):
        if service.get(word):
            yield violation("root", "service '%s' asks for more than it is given: %s" % (name, word))
    if str(service.get("user", "1")).split(":")[0] in ("root", "0"):
        yield violation("root", "service '%s' asks for root" % name)


def check_image(name, service):
    image, _, tag = service.get("image", "").rpartition(":")
    if not image or tag == "latest" or not re.search(r"\d+\.\d+", tag):
        yield violation("no-tag", "service '%s' has no image with the tag of a release" % name)
    target = (service.get("build") or {}).get("target")
    if target not in SHIPPED and image not in OF_OTHERS:
        yield violation("target", "service '%s' is built from no shipped stage" % name)
    if target in SHIPPED and image != "epsledger/" + target:
        yield violation("target", "service '%s' calls the stage %s %s" % (name, target, image))


def check_ports(services):
    published = {}
    for name, service in services.items():
        for port in service.get("ports", []):
            if not isinstance(port, str) or not re.match(r"127\.0\.0\.1:[^:]+:\d+$", defaults_filled_in(port)):
                yield violation("open-port", "service '%s' publishes %s, and not on loopback alone" % (name, port))
                continue
            host = defaults_filled_in(port).split(":")[1]
            if host in published:
                yield violation("port-twice", "'%s' and '%s' publish %s" % (published[host], name, host))
            published[host] = name


def check_volumes(name, service, volumes, repository):
    for volume in service.get("volumes", []):
        parts = defaults_filled_in(volume).split(":")
        if parts[0] in volumes:
            continue
        below = os.path.normpath(os.path.join(os.path.dirname(COMPOSE), parts[0]))
        if not parts[0].startswith("./") or parts[2:] != ["ro"] or not repository.exists(below):
            yield violation("volume", "service '%s' mounts %s, which is no named volume, nor a folder of this tree to "
                            "read" % (name, volume))


def check_secrets(services, declared):
    for name, service in services.items():
        for variable, value in (service.get("environment") or {}).items():
            if SECRET.search(variable) and not (NAMES_A_FILE.search(variable) and str(value).startswith("/")):
                yield violation("secret", "service '%s' has %s in its environment, where every process and `inspect` "
                                "reads it: give a file" % (name, variable))
        text = " ".join(map(str, service.get("command") or [])) + " ".join(map(str, (service.get("environment") or {}).values()))
        for secret in set(re.findall(r"/run/secrets/([\w.-]+)", text)) - set(service.get("secrets", [])):
            yield violation("secret", "service '%s' reads the secret %s and is not given it" % (name, secret))
        if re.search(r"password=|://\w+:\w+@", text):
            yield violation("secret", "service '%s' has a password in its command" % name)
    for secret, where in declared.items():
        if set(where) != {"file"} or not where["file"].startswith("${EPSLEDGER_SECRETS:-./secrets}/"):
            yield violation("secret", "the secret %s must be a file of the folder of secrets" % secret)


def check_profiles(services):
    found = {profile for service in services.values() for profile in service.get("profiles", [])}
    if found != PROFILES:
        yield violation("profiles", "has the profiles %s, and docker/README.md has %s" % (sorted(found), sorted(PROFILES)))
    unnamed = [name for name, service in services.items() if not service.get("profiles")]
    if unnamed != ["token", "server"]:
        yield violation("profiles", "without a profile there are the server and its first token alone, not %s" % unnamed)
    for name, service in services.items():
        for other in service.get("depends_on") or []:
            if not set(service.get("profiles", [])) <= set(services.get(other, {}).get("profiles", service.get("profiles", []))):
                yield violation("profiles", "'%s' waits for '%s', which its profile does not start" % (name, other))


def check_transport(services):
    """TLS and tokens, unless a service says by its profile that it has neither."""
    for name, service in services.items():
        words = [str(word) for word in (service.get("command") or []) + list(service.get("environment") or {})]
        insecure = [word for word in words if word.startswith("--insecure-") or word == "EPSLEDGER_ALLOW_INSECURE"]
        if service.get("profiles") == ["plaintext"]:
            continue
        if insecure:
            yield violation("plaintext", "service '%s' has %s, and not the profile plaintext" % (name, insecure))
        if "--listen" in words and not {"--tls-cert", "--tls-key", "--require-tokens"} <= set(words):
            yield violation("plaintext", "service '%s' serves without a certificate or without tokens" % name)


def check_balanced_name(services):
    """One name may stand for several servers only if they share a ledger."""
    named = [name for name, service in services.items() if isinstance(service.get("networks"), dict)
             and "epsledger" in ((service["networks"].get("default") or {}).get("aliases") or [])]
    if named != ["server-1", "server-2"]:
        yield violation("balanced-name", "the name epsledger must stand for server-1 and server-2, not for %s" % named)
    for name in named:
        if "--postgres" not in services[name].get("command", []):
            yield violation("balanced-name", "'%s' has a ledger of its own behind the name that servers share" % name)


def check_database_roles(services):
    """A server logs in as a plain role: to a superuser the rights that the schema takes away mean nothing."""
    for database in (service for service in services.values() if service.get("image", "").startswith("postgres:")):
        environment = database.get("environment") or {}
        superuser = environment.get("POSTGRES_USER", "postgres")
        password = os.path.basename(environment.get("POSTGRES_PASSWORD_FILE", ""))
        for name, service in services.items():
            command = list(map(str, service.get("command") or []))
            if service.get("entrypoint", [""])[0] == "/bin/sh":
                command = shlex.split(" ".join(command))
            if "--postgres" not in command:
                continue
            place = " ".join(command[command.index("--postgres") + 1:][:1])
            user = re.search(r"(?:^|\s)user=(\S+)|://([^:@/?]+)(?::[^@/]*)?@", place)
            if not user or (user[1] or user[2]) == superuser:
                yield violation("superuser", "'%s' must log in as a role that it names, and not as the database's "
                                "superuser %s" % (name, superuser))
            if password in service.get("secrets", []):
                yield violation("superuser", "'%s' is given the password of the database's superuser" % name)


def check_example(text, example):
    """.env.example names the variables of compose.yaml with the defaults that they have there."""
    used = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", text))
    named = dict(re.findall(r"^#?(\w+)=(.*)$", example, re.MULTILINE))
    for name in sorted(set(used) ^ set(named)):
        yield Violation(EXAMPLE, 1, "env-example", "%s is in one of %s and %s, not in both" % (name, COMPOSE, EXAMPLE))
    for name in sorted(set(used) & set(named)):
        if named[name] != used[name] and used[name] != "no-data":
            yield Violation(EXAMPLE, 1, "env-example", "%s=%s, and compose.yaml defaults to %s" % (name, named[name], used[name]))
        if SECRET.search(name) and name != "EPSLEDGER_SECRETS":
            yield Violation(EXAMPLE, 1, "secret", "%s is a secret: those are files" % name)


def check_compose(text, repository):
    import yaml  # Debian's python3-yaml

    document = yaml.safe_load(text)
    if "version" in document:
        yield violation("version", "the current compose warns about it, and 1.29 does not need it")
    services, volumes = document["services"], document.get("volumes") or {}
    for name, service in services.items():
        yield from check_image(name, service)
        yield from check_confinement(name, service)
        yield from check_volumes(name, service, volumes, repository)
    yield from check_ports(services)
    yield from check_secrets(services, document.get("secrets") or {})
    yield from check_profiles(services)
    yield from check_transport(services)
    yield from check_balanced_name(services)
    yield from check_database_roles(services)
    if not any("ledger" in v for v in services.get("server", {}).get("volumes", [])):
        yield violation("volume", "the server's ledger must be on a volume")


def validate(repository, profiles=PROFILES):
    tool = shutil.which("docker-compose")
    if not tool:
        repository.skipped.append("docker-compose is not installed (./dev deps tools)")
        return
    every = sorted(profiles)
    for chosen in [[]] + [[profile] for profile in every] + ([every] if len(every) > 1 else []):
        flags = [word for profile in chosen for word in ("--profile", profile)]
        run = subprocess.run([tool, "-f", COMPOSE, *flags, "config", "-q"], cwd=repository.root, capture_output=True,
                             text=True)
        if run.returncode:
            yield violation("docker-compose config", "%s: %s" % (" ".join(chosen), (run.stderr or run.stdout).strip()))


def check_yaml(repository):
    import yaml
    for file in repository.files():
        # What is below templates is YAML only after helm has filled it in.
        if file.endswith((".yaml", ".yml")) and "/templates/" not in file:
            try:
                list(yaml.safe_load_all(repository.text(file)))
            except yaml.YAMLError as error:
                yield Violation(file, 1, "yaml", " ".join(str(error).split()))


def check(repository):
    text = repository.text(COMPOSE)
    try:
        yield from check_yaml(repository)
        yield from check_compose(text, repository)
    except ImportError:
        repository.skipped.append("python3-yaml is not installed (./dev deps test)")
    yield from check_example(text, repository.text(EXAMPLE))
    yield from validate(repository)
