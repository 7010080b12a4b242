"""How many files a server may open, and one whose file descriptors are all taken: descriptors_test.py BUILD_DIR"""
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from served_ledger import ServedLedger

DESCRIPTORS = 100
PATIENCE_SECONDS = 60


class DescriptorsTest(unittest.TestCase):
    build = None

    def processor_seconds(self, pid):
        with open("/proc/%d/stat" % pid, encoding="utf-8") as stream:
            fields = stream.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_the_soft_limit_is_raised(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.assertGreater(hard, 300)
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
        try:
            with ServedLedger(self.build) as server:
                self.assertEqual(resource.prlimit(server.pid, resource.RLIMIT_NOFILE), (hard, hard))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_a_small_hard_limit_is_warned_of(self):
        with tempfile.TemporaryDirectory(prefix="epsledger-descriptors.") as folder:
            server = subprocess.Popen(
                ["prlimit", "--nofile=300:300", os.path.join(self.build, "server", "epsledgerd"), "--data-dir",
                 os.path.join(folder, "data"), "--listen", "unix:" + os.path.join(folder, "socket")],
                stderr=subprocess.PIPE, text=True)
            said = ""
            for line in server.stderr:
                said += line
                if "serving on" in line:
                    break
            server.terminate()
            server.communicate()
            self.assertIn("may open 300 files", said)

    def test_http_waits_for_a_descriptor_and_does_not_spin(self):
        with ServedLedger(self.build) as server:
            pid = server.pid
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
            host, port = server.http.split(":")
            silent = [socket.create_connection((host, int(port))) for _ in range(2 * DESCRIPTORS)]
            deadline = time.monotonic() + PATIENCE_SECONDS
            while len(os.listdir("/proc/%d/fd" % pid)) < DESCRIPTORS:
                self.assertLess(time.monotonic(), deadline, "the descriptors were never all taken")
            # A loop that tries again at once takes a whole second in which connections wait to be accepted.
            began, used = time.monotonic(), self.processor_seconds(pid)
            time.sleep(1)
            self.assertLess(self.processor_seconds(pid) - used, 0.4 * (time.monotonic() - began))
            for connection in silent:
                connection.close()
            with urllib.request.urlopen("http://%s/readyz" % server.http, timeout=PATIENCE_SECONDS) as answer:
                self.assertEqual(answer.status, 200)


if __name__ == "__main__":
    DescriptorsTest.build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
