"""Real PostgreSQL servers on loopback, for drills in Python; the sister of tests/postgres/postgres_cluster.h.

`python3 postgres_cluster.py` tries everything that is here.
"""
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

DEADLINE_SECONDS = 60
NOTICE_SECONDS = 5  # in which a backend sees that its postmaster is gone
DEBIAN_FOLDER = "/usr/lib/postgresql/15/bin"
USER = "postgres"
BASE_SETTINGS = {
    "max_connections": "300",
    # A standby that was down finds what it missed, and asks for it at once.
    "wal_keep_size": "512MB",
    "wal_retrieve_retry_interval": "100ms",
    # In the data folder, so that it is removed with it when the server was killed.
    "dynamic_shared_memory_type": "mmap",
    "log_line_prefix": "%m [%p] %a ",
}


class PostgresError(Exception):
    """What PostgreSQL, or one of its programs, said."""


def programs():
    """The folder with initdb, postgres, pg_basebackup and psql: $EPSLEDGER_POSTGRES_BIN if that is set and nothing
    else, otherwise where Debian has PostgreSQL 15 or where pg_config says."""
    folders = [os.environ.get("EPSLEDGER_POSTGRES_BIN") or DEBIAN_FOLDER]
    if "EPSLEDGER_POSTGRES_BIN" not in os.environ and shutil.which("pg_config"):
        folders.append(subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True).stdout.strip())
    for folder in folders:
        if all(os.access(os.path.join(folder, name), os.X_OK) for name in ("initdb", "postgres", "pg_basebackup", "psql")):
            return folder
    raise PostgresError("no PostgreSQL server to test with: initdb, postgres, pg_basebackup and psql are not in %s; "
                        "install the package postgresql-15 (docker/packages/test.txt), or say where they are in "
                        "EPSLEDGER_POSTGRES_BIN" % " or ".join(folders))


def give(path):
    """Makes the user that PostgreSQL runs as the owner of a file or folder, and of all that is in it."""
    if os.geteuid() != 0:
        return
    shutil.chown(path, USER, USER)
    for folder, folders, files in os.walk(path):
        for name in folders + files:
            os.chown(os.path.join(folder, name), pwd.getpwnam(USER).pw_uid, pwd.getpwnam(USER).pw_gid,
                     follow_symlinks=False)


def command(program, *arguments, death_signal="KILL"):
    """The arguments that run a program of PostgreSQL. It refuses to serve as root, so under root it becomes the user
    "postgres"; it dies with the thread that started it."""
    change = []
    if os.geteuid() == 0:
        try:
            user = pwd.getpwnam(USER)
        except KeyError:
            raise PostgresError("PostgreSQL does not run as root, and there is no user '%s' to run it as; "
                                "the package postgresql-15 makes one" % USER) from None
        change = ["--reuid=%d" % user.pw_uid, "--regid=%d" % user.pw_gid, "--clear-groups"]
    return ["setpriv", "--pdeathsig=" + death_signal, *change, "--", os.path.join(programs(), program), *arguments]


def environment():
    """The environment without what would lead psql to another server."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return dict(variables, LC_ALL="C", PGCONNECT_TIMEOUT="30")


def run(program, *arguments, folder, text="", timeout=None):
    """What a program of PostgreSQL prints. `folder`: where it runs; its user must reach it."""
    done = subprocess.run(command(program, *arguments), input=text, capture_output=True, text=True, cwd=folder,
                          env=environment(), timeout=timeout)
    if done.returncode != 0:
        raise PostgresError("%s ended with %d: %s" % (program, done.returncode, (done.stdout + done.stderr).strip()))
    return done.stdout


class PostgresCluster:
    """with PostgresCluster() as cluster: ... A server in a folder of its own, on 127.0.0.1, with the defaults of
    PostgreSQL where durability is concerned (fsync is on).

    The port stays the same, and nobody else gets it while the server is down. When stop() or kill9() returns, no
    process of it is left. No process of it outlives this one, however that ends.

    `settings` are those of postgresql.conf; `backup` is a folder that basebackup() filled, to start from a copy of it.
    """

    def __init__(self, settings=None, backup=None):
        self._databases = 0
        self._parent = None
        self._postmaster = None
        self._folder = tempfile.TemporaryDirectory(prefix="epsledger-postgres.")
        self.folder = self._folder.name
        self.data_folder = os.path.join(self.folder, "data")
        self.log_file = os.path.join(self.folder, "log")
        # The kernel gives the port to nobody else while this is bound, and lets a server listen on it that sets
        # SO_REUSEADDR, as PostgreSQL does. Not set before bind(), or two of us could get the same.
        self._port = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._port.bind(("127.0.0.1", 0))
        self._port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.port = self._port.getsockname()[1]
        try:
            give(self.folder)
            self._make(backup)
            self._write_settings(settings or {})
            self.restart()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """An immediate shutdown, and the folder is removed."""
        try:
            self._end("QUIT", NOTICE_SECONDS)
            self._remove_shared_memory()
        finally:
            self._port.close()
            self._folder.cleanup()

    def _make(self, backup):
        if backup is None:
            run("initdb", "--pgdata=" + self.data_folder, "--username=postgres", "--auth=trust", "--no-sync",
                "--encoding=UTF8", "--locale=C", folder=self.folder)
            self._write_settings(BASE_SETTINGS)
        else:
            shutil.copytree(backup, self.data_folder, symlinks=True)
            os.chmod(self.data_folder, 0o700)
            give(self.data_folder)

    # ---- talking to it

    @property
    def running(self):
        """Until stop() or kill9(), even if it ended by itself."""
        return self._postmaster is not None

    def connection_string(self, database="postgres"):
        return "host=127.0.0.1 port=%d user=postgres dbname=%s" % (self.port, database)

    def create_database(self):
        """The name of a new and empty database."""
        self._databases += 1
        name = "test_%d" % self._databases
        self.sql("CREATE DATABASE " + name)
        return name

    def sql(self, statements, database="postgres", timeout=None):
        """What psql -XAtq prints without the last newline: columns with | between them, a row a line. Each of several
        statements is a transaction of its own; the first error ends them and is raised."""
        output = run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-", "-d", self.connection_string(database),
                     folder=self.folder, text=statements, timeout=timeout)
        return output[:-1] if output.endswith("\n") else output

    def log(self):
        with open(self.log_file, encoding="utf-8", errors="replace") as stream:
            return stream.read()

    # ---- its life

    def restart(self):
        """Starts it after stop() or kill9(), and waits until it accepts connections, recovery included."""
        if self.running:
            raise PostgresError("the PostgreSQL server is running")
        # The other end is open in every process of the server and nowhere else.
        self._alive, alive = os.pipe()
        started = threading.Event()
        failure = []

        def parent():  # the kernel counts the end of the thread that started a process as the death of its parent
            try:
                with open(self.log_file, "ab") as log:
                    self._postmaster = subprocess.Popen(
                        command("postgres", "-D", self.data_folder, "-h", "127.0.0.1", "-p", str(self.port),
                                "-k", self.folder, death_signal="QUIT"),
                        stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(alive,), cwd=self.folder,
                        env=environment())
            except BaseException as error:  # pylint: disable=broad-except
                failure.append(error)
                return
            finally:
                started.set()
            self._postmaster.wait()

        self._parent = threading.Thread(target=parent, daemon=True)
        self._parent.start()
        started.wait()
        os.close(alive)
        if failure:
            self._parent.join()
            os.close(self._alive)
            raise failure[0]
        self._wait_until_ready()

    def _wait_until_ready(self):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            lines = self._pid_file()  # after a kill, that of the killed one is still there
            if len(lines) >= 8 and lines[0] == str(self._postmaster.pid) and lines[7] in ("ready", "standby"):
                return
            if self._wait_until_no_process(0.005):
                break
        self._end("KILL", NOTICE_SECONDS)
        raise PostgresError("PostgreSQL did not start: " + self.log()[-2000:])

    def _pid_file(self):
        try:
            with open(os.path.join(self.data_folder, "postmaster.pid"), encoding="utf-8") as stream:
                return [line.strip() for line in stream]
        except FileNotFoundError:
            return []

    def _remove_shared_memory(self):
        """A server that was killed leaves a segment of System V; the next start removes it, if there is one."""
        lines = self._pid_file()
        if len(lines) >= 7 and len(lines[6].split()) == 2:
            subprocess.run(["ipcrm", "-m", lines[6].split()[1]], stderr=subprocess.DEVNULL)

    def _wait_until_no_process(self, seconds):
        """Whether every process of the server is gone by then."""
        poller = select.poll()
        poller.register(self._alive, select.POLLIN)
        return bool(poller.poll(seconds * 1000))

    def _end(self, name, patience):
        """Whether it ended in time by itself; otherwise it was killed."""
        if not self.running:
            return True
        self._postmaster.send_signal(getattr(signal, "SIG" + name))
        in_time = self._wait_until_no_process(patience)
        if not in_time:
            self._postmaster.kill()
            self._kill_left_behind()
            if not self._wait_until_no_process(DEADLINE_SECONDS):
                raise PostgresError("processes of PostgreSQL survive SIGKILL")
        self._parent.join()
        os.close(self._alive)
        self._postmaster = None
        return in_time

    def _kill_left_behind(self):
        """They are children of nobody we know, but all of them work in the data folder."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.path.samefile("/proc/%s/cwd" % pid, self.data_folder):
                    os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass

    def stop(self):
        """Fast shutdown: sessions are ended, the rest is written, streaming standbys have all of it."""
        if not self._end("INT", DEADLINE_SECONDS):
            raise PostgresError("PostgreSQL did not stop: " + self.log()[-2000:])

    def kill9(self):
        """SIGKILL to the postmaster. Waits until its children have noticed and are gone: meanwhile a backend may still
        finish, and acknowledge, the commit that it is in. Those that have not noticed after some seconds are killed."""
        self._end("KILL", NOTICE_SECONDS)

    def configure(self, settings):
        """When it returns, every new session and every commit of a running server follows the settings that need no
        restart; the others follow at the next restart()."""
        self._write_settings(settings)
        if self.running:
            # The postmaster tells its children before it accepts another session, and the checkpointer, which tells
            # committers whom to wait for, hears of it before it begins a checkpoint.
            self.sql("SELECT pg_reload_conf()")
            self.sql("CHECKPOINT")

    def _write_settings(self, settings):
        with open(os.path.join(self.data_folder, "postgresql.conf"), "a", encoding="utf-8") as stream:
            for name, value in settings.items():  # the last one counts
                stream.write("%s = '%s'\n" % (name, str(value).replace("'", "''")))

    # ---- copies of it

    def basebackup(self, folder, *flags):
        """Copies the running server to a folder that is not there yet, or is empty: PostgresCluster(backup=folder)
        starts from it. The copy has all that was committed before the call."""
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:  # where the user of PostgreSQL may write
            give(scratch)
            copy = os.path.join(scratch, "copy")
            self._copy_to(copy, *flags)
            shutil.copytree(copy, folder, symlinks=True, dirs_exist_ok=True)

    def _copy_to(self, folder, *flags):
        run("pg_basebackup", "--pgdata=" + folder, "--dbname=" + self.connection_string(), "--wal-method=stream",
            "--checkpoint=fast", "--no-sync", *flags, folder=os.path.dirname(folder))

    def start_standby(self, name="standby", settings=None):
        """A cluster that follows this one by streaming replication, asynchronously unless synchronous_standby_names
        of this one has its name. Returns when it streams. To make it lag: stop() it, write to the primary, kill9()
        that, restart() and promote()."""
        standby = _Standby(self, dict({
            "synchronous_standby_names": "",
            "primary_conninfo": "%s application_name=%s" % (self.connection_string(), name),
        }, **(settings or {})))
        try:
            self.wait_for_standby(name)
        except BaseException:
            standby.close()
            raise
        return standby

    def wait_for_standby(self, name="standby"):
        """Until a standby of that name streams from this server."""
        self._wait_until("SELECT count(*) > 0 FROM pg_stat_replication WHERE state = 'streaming' "
                         "AND application_name = '%s'" % name)

    def wait_for_replay_of(self, primary):
        """Until this standby shows all that is on the disk of `primary` now."""
        self._wait_until("SELECT pg_last_wal_replay_lsn() >= '%s'" % primary.sql("SELECT pg_current_wal_flush_lsn()"))

    def _wait_until(self, question):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self.sql(question) != "t":
            if time.monotonic() > deadline:
                raise PostgresError("waited in vain for: %s\n%s" % (question, self.log()[-2000:]))

    def promote(self):
        """Makes a standby a primary on a new timeline; returns when it takes writes."""
        if self.sql("SELECT pg_promote(true, %d)" % DEADLINE_SECONDS) != "t":
            raise PostgresError("not promoted: " + self.log()[-2000:])


class _Standby(PostgresCluster):
    def __init__(self, primary, settings):
        self._primary = primary
        super().__init__(settings)

    def _make(self, backup):
        self._primary._copy_to(self.data_folder)
        # Not by --write-recovery-conf: the copying would have the name of the standby, and it streams too.
        signal_file = os.path.join(self.data_folder, "standby.signal")
        with open(signal_file, "w", encoding="utf-8"):
            pass
        give(signal_file)


def _try_everything():
    def expect(found, wanted):
        if found != wanted:
            raise AssertionError("found %r, wanted %r" % (found, wanted))

    def numbers(cluster):
        return cluster.sql("SELECT string_agg(n::text, ' ' ORDER BY n) FROM numbers", database)

    def insert(cluster, number):
        cluster.sql("INSERT INTO numbers VALUES (%d)" % number, database)

    with PostgresCluster({"cluster_name": "it's"}) as primary, tempfile.TemporaryDirectory() as backups:
        expect(primary.sql("SHOW cluster_name; SHOW fsync"), "it's\non")
        database = primary.create_database()
        primary.sql("CREATE TABLE numbers (n int)", database)
        insert(primary, 1)
        primary.kill9()
        try:
            primary.sql("SELECT 1")
        except PostgresError as error:
            expect("Connection refused" in str(error), True)
        else:
            raise AssertionError("a killed server answers")
        primary.restart()
        expect(numbers(primary), "1")

        backup = os.path.join(backups, "backup")
        primary.basebackup(backup)
        with primary.start_standby("second") as standby:
            primary.configure({"synchronous_standby_names": "second", "synchronous_commit": "remote_apply"})
            insert(primary, 2)
            expect(numbers(standby), "1 2")
            expect(primary.sql("SELECT application_name, sync_state FROM pg_stat_replication"), "second|sync")
            primary.configure({"synchronous_standby_names": ""})
            standby.stop()
            insert(primary, 3)
            primary.kill9()
            standby.restart()
            standby.promote()
            expect(numbers(standby), "1 2")
            insert(standby, 4)
            expect(numbers(standby), "1 2 4")
        primary.restart()
        expect(numbers(primary), "1 2 3")
        primary.stop()
        with PostgresCluster(backup=backup) as restored:
            expect(numbers(restored), "1")
            insert(restored, 5)
            expect(numbers(restored), "1 5")
        folder = primary.folder
    expect(os.path.exists(folder), False)
    with PostgresCluster() as idle:  # the shared memory of one that was killed and never started again
        idle.kill9()


if __name__ == "__main__":
    _try_everything()
    sys.exit(0)
