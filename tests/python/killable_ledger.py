"""An epsledgerd that can be killed and started again on the same data and the same addresses."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "end_to_end"))
from served_ledger import ServedLedger  # noqa: E402

BUILD = os.environ.get("EPSLEDGER_BUILD", "")


class KillableLedger(ServedLedger):
    """with KillableLedger() as server: ... server.kill(); server.start_again()"""

    def __init__(self):
        super().__init__(BUILD)

    @property
    def address(self):
        return "http://" + self.http


def wait_until(condition, what, seconds=120):
    """Waits for the condition; the end of the time is a failure of the test, not a pause."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("waited %d s for %s" % (seconds, what))
        time.sleep(0.01)
