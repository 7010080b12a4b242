"""Clients that charge in units of a reference until they are told to stop, and what they were told."""
import collections
import random
import threading

import epsledger
from epsledger.events import ApproximateDp, Gaussian, PoissonSampled

# What the client waits for a server that is being started, or computes prices; the end of it is a failure.
PATIENT = epsledger.Retry(call_timeout=60, overall_timeout=120, initial_backoff=0.01, max_backoff=0.05)
# Gives up soon, so that outcomes stay unknown and are asked for again by the caller.
HASTY = epsledger.Retry(call_timeout=60, overall_timeout=60, max_tries=2, initial_backoff=0.005, max_backoff=0.01)


def sampled(probability, noise):
    return PoissonSampled(sampling_probability=probability, event=Gaussian(noise_multiplier=noise))


STEP = sampled(0.01, 1.1)
OTHER_STEP = sampled(0.02, 1.3)
SMALL_STEP = sampled(0.005, 1.2)  # costs a unit as the reference does; a block of them less
QUERY = Gaussian(noise_multiplier=50)
CLAIM = ApproximateDp(epsilon=0.01, delta=1e-9)
FAINT_QUERY = Gaussian(noise_multiplier=1000)  # costs a whole unit, and next to nothing in mu
# (event, counts)
MIX = [(STEP, (1, 1, 2, 7, 25)), (OTHER_STEP, (1, 3, 12)), (SMALL_STEP, (1, 20)), (QUERY, (1, 2)), (CLAIM, (1,))]
EVENTS = [event for event, _ in MIX]


class Books:
    """What the clients were told, by key: (session name, attempt, id)."""

    def __init__(self):
        self._changed = threading.Condition()
        self._begun = collections.Counter()  # calls, of each trainer
        self.failures = []
        self.accepted = {}  # event, count
        self.refused = {}
        self.sequences = {}  # of accepted ones, where the client was told
        self.asked_again = 0

    def begin(self, trainer):
        with self._changed:
            self._begun[trainer] += 1
            self._changed.notify_all()

    def wait_for(self, trainer, more):
        """Until it has begun so many more calls, or ends."""
        with self._changed:
            wanted = self._begun[trainer] + more
            if not self._changed.wait_for(
                    lambda: self._begun[trainer] >= wanted or trainer.stopping or self.failures, 300):
                raise AssertionError("a client stands still: %r" % trainer)

    def fail(self, error):
        with self._changed:
            self.failures.append(error)
            self._changed.notify_all()


class Trainer(threading.Thread):
    """Charges until it is told to stop, and knows every outcome at the end."""

    def __init__(self, books, seed):
        super().__init__(daemon=True)
        self.books, self.rng, self._stop_asked = books, random.Random(seed), threading.Event()

    def run(self):
        try:
            while not self.stopping:
                self.books.begin(self)
                self.work()
        except BaseException as error:  # pylint: disable=broad-except
            self.books.fail(error)

    def stop(self):
        self._stop_asked.set()

    @property
    def stopping(self):
        return self._stop_asked.is_set()

    def pick(self):
        event, counts = self.rng.choice(MIX)
        return event, self.rng.choice(counts)


class StepTrainer(Trainer):
    """One charge at a time, by Session.charge; unknown ones are asked for again with their key."""

    def __init__(self, books, seed, session):
        super().__init__(books, seed)
        self.session = session
        self._calls = 0

    def work(self):
        event, count = self.pick()
        self._calls += 1
        charge_id = "step-%d" % self._calls
        key = self.session.name, int(self.session.attempt.rsplit("/", 1)[1]), charge_id
        ask = lambda: self.session.charge(event, count=count)  # noqa: E731
        while True:
            try:
                permit = ask()
            except epsledger.OutcomeUnknown as unknown:
                if unknown.charge_id != charge_id:
                    raise AssertionError("%s is unknown, not %s" % (unknown.charge_id, charge_id)) from unknown
                self.books.asked_again += 1
                ask = lambda: self.session.retry_charge(charge_id)  # noqa: E731
                continue
            except epsledger.BudgetExhausted:
                self.books.refused[key] = event.to_json(), count
            else:
                if permit.charge != "%s/charges/%s" % (self.session.attempt, charge_id):
                    raise AssertionError("%s was asked, and %s accepted" % (charge_id, permit.charge))
                self.books.accepted[key] = event.to_json(), count
                self.books.sequences[key] = permit.sequence
            return


class BatchTrainer(Trainer):
    """Batches of both modes through several servers: repeated, elsewhere if need be, until there is an answer."""

    def __init__(self, books, seed, clients, attempt):
        super().__init__(books, seed)
        self.clients, self.attempt = list(clients), attempt
        self._batches = 0

    def work(self):
        self._batches += 1
        items = [{"chargeId": "b%d-%d" % (self._batches, at), "event": event.to_json(), "count": str(count)}
                 for at, (event, count) in enumerate(self.pick() for _ in range(self.rng.randint(1, 4)))]
        request = {"attempt": self.attempt, "items": items, "mode": self.rng.choice(["PER_ITEM", "ALL_OR_NOTHING"])}
        answer = self.ask("ChargeService/BatchCharge", request)
        session, attempt = self.attempt.split("/attempts/")
        for item, result in zip(items, answer["results"], strict=True):
            (outcome, charge), = result.items()
            if charge["name"] != "%s/charges/%s" % (self.attempt, item["chargeId"]):
                raise AssertionError("%s is no answer to %s" % (charge, item))
            key = session, int(attempt), item["chargeId"]
            {"accepted": self.books.accepted, "refused": self.books.refused}[outcome][key] = (
                item["event"], int(item["count"]))
            if outcome == "accepted":
                self.books.sequences[key] = int(charge["sequence"])

    def ask(self, method, request):
        for _ in range(2000 if len(self.clients) > 1 else 1):  # one client alone is patient
            try:
                return self.clients[0].call(method, request)
            except epsledger.Unavailable:
                self.books.asked_again += 1
                self.clients.append(self.clients.pop(0))
        raise AssertionError("no server answers")


class LeaseTrainer(Trainer):
    """Leases, of which a part is used."""

    def __init__(self, books, seed, session):
        super().__init__(books, seed)
        self.session = session
        self.settled = {}
        self._leases = 0

    def work(self):
        event, count = self.pick()
        self._leases += 1
        key = self.session.name, int(self.session.attempt.rsplit("/", 1)[1]), "lease-%d" % self._leases
        try:
            lease = self.session.lease(event, count=count)
        except epsledger.BudgetExhausted:
            self.books.refused[key] = event.to_json(), count
            return
        self.books.accepted[key] = event.to_json(), count
        used = self.rng.randint(0, count)
        for _ in range(used):
            with lease.step():
                pass
        lease.settle()
        self.settled[key] = used


class PlanTrainer(StepTrainer):
    """Draws tickets of a plan, until it asks for more than there are."""

    def pick(self):
        return STEP, self.rng.choice((1, 3))

    def work(self):
        try:
            super().work()
        except epsledger.Refused as refused:
            if refused.reason != "NOT_IN_PLAN":
                raise
            key = self.session.name, int(self.session.attempt.rsplit("/", 1)[1]), "step-%d" % self._calls
            self.books.refused[key] = STEP.to_json(), None
            self.stop()


class FaintTrainer(BatchTrainer):
    """Uses up units with what is cheap elsewhere, before anything else: a portfolio goes on without them."""

    MORE_THAN_THE_UNITS = 60
    FEWER_THAN_MU_TAKES = 3000
    _picked = 0

    def work(self):
        super().work()
        while self._picked < self.MORE_THAN_THE_UNITS:
            super().work()
        if self._picked > self.FEWER_THAN_MU_TAKES:
            self.stop()

    def pick(self):
        self._picked += 1
        return (QUERY if self._picked % 40 == 0 and self._picked < 400 else FAINT_QUERY), 1
