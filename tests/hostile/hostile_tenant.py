"""A tenant that means harm, with a good token: hostile_tenant.py HOST:PORT TOKEN [ATTACK ...], until it is killed.

Everything that tests/hostile/neighbours_test.py does once, for ever and at the same time: events that are dear to price,
large refusals, statements and lists of a large session, watches without end, answers that nobody takes; or the ATTACKs
named alone."""
import os
import resource
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "client", "python")]

from raw_http2 import DATA, END_HEADERS, END_STREAM, HEADERS, RawConnection, call_headers, frame, message  # noqa: E402

import epsledger  # noqa: E402
from epsledger.budget import Cap  # noqa: E402
from epsledger.errors import EpsledgerError  # noqa: E402
from epsledger.events import Composed, CountedEvent, Gaussian, RandomAllocation  # noqa: E402

LIST_BUDGETS = b"/epsledger.v1.BudgetService/ListBudgets"
WATCH_BUDGET = b"/epsledger.v1.BudgetService/WatchBudget"
NO_WINDOW = b"\0\4\0\0\0\0"  # SETTINGS_INITIAL_WINDOW_SIZE of nothing


def large(i):
    return Composed(events=[CountedEvent(event=Gaussian(noise_multiplier=1 + i + k / 1e6)) for k in range(2000)])


def dear(i):
    return Composed(events=[
        CountedEvent(event=RandomAllocation(rounds=100 + i, selected=1, event=Gaussian(noise_multiplier=1 + k / 1e6)))
        for k in range(2700)])


def for_ever(task):
    """Errors are what a hostile caller is told; it goes on."""
    def run():
        i = 0
        while True:
            try:
                task(i)
            except (EpsledgerError, ValueError, OSError):
                pass
            i += 1
    threading.Thread(target=run, daemon=True).start()


ATTACKS = ("prices", "refusals", "reads", "unread", "watches")


def main(address, token, attacks):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    authorization = ((b"authorization", b"Bearer " + token.encode()),)

    def client():
        return epsledger.connect(address=address, transport="grpc", token=token)

    admin = client()
    admin.create_budget(name="dear", cap=Cap.approximate_dp(epsilon=1, delta=1e-6), privacy_unit="person")
    admin.create_budget(name="small", cap=Cap.zcdp(rho=1e-9), privacy_unit="person")
    admin.create_budget(name="large", cap=Cap.zcdp(rho=10 ** 6), privacy_unit="person")
    refused = admin.open(session="s", budget="small")
    session = admin.open(session="s", budget="large")
    for i in range(20):
        session.charge(large(i))

    def read(one):
        name = "budgets/large/sessions/s"
        for method, request in (("AuditService/GetPrivacyStatement", {"name": name, "delta": 1e-6}),
                                ("SessionService/GetSession", {"name": name}),
                                ("ChargeService/ListCharges", {"parent": name, "pageSize": 1000}),
                                ("AuditService/ListAuditEntries", {"budget": "budgets/large", "pageSize": 1000})):
            one.call(method, request)

    def flood(path, settings, body):
        connection = RawConnection(address, settings=settings)
        for _ in range(1000):
            stream = connection.stream()
            if not connection.send(frame(HEADERS, END_HEADERS, stream, call_headers(path, authorization)) +
                                   frame(DATA, END_STREAM, stream, message(body))):
                break
            if not settings:
                connection.drain()
        connection.close()

    if "prices" in attacks:
        for viewer in range(4):
            for_ever(lambda i, one=client(), n=viewer: one.preview(budget="dear", event=dear(4 * i + n), expects=False))
    if "refusals" in attacks:
        for_ever(lambda i: refused.charge(large(i)))
    if "reads" in attacks:
        for _ in range(3):
            for_ever(lambda i, one=client(): read(one))
    if "unread" in attacks:
        for_ever(lambda i: flood(LIST_BUDGETS, NO_WINDOW, b"\x08\xe8\x07"))
    if "watches" in attacks:
        for_ever(lambda i: flood(WATCH_BUDGET, b"", b"\x0a\x0dbudgets/large"))
    print("hostile", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:] or ATTACKS)
