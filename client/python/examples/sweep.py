"""A hyper-parameter search, and why the epsilon of its best run is not the epsilon of its result.

    python sweep.py [STEPS]

Every run looked at the data, and the best run was chosen by looking at all of them. So what is published with the best
run has the guarantee of the whole search. The runs are sessions of one group under one budget, so that the ledger adds
them up. A search whose number of runs is drawn at random beforehand, and which shows only its best run, is one event of
its own: RepeatAndSelect, which costs less than the sum.

The server is that of EPSLEDGER_HTTP, else http://127.0.0.1:8080.
"""
import sys

import numpy as np
from digits import load_digits

import epsledger
from epsledger.events import CountedEvent, Gaussian, PoissonSampled, RepeatAndSelect, SelfComposed

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 30
LEARNING_RATES = [0.1, 0.3, 1.0, 3.0, 10.0]
NOISE_MULTIPLIER, SAMPLING_PROBABILITY, DELTA = 2.0, 0.1, 1e-5
(features, labels), (others, answers) = load_digits()
signs, signs_of_others = (np.where(digits % 2 == 0, 1.0, -1.0) for digits in (labels, answers))  # even or odd
random = np.random.default_rng()
event = PoissonSampled(sampling_probability=SAMPLING_PROBABILITY, event=Gaussian(noise_multiplier=NOISE_MULTIPLIER))


def train(session, learning_rate):
    """Logistic regression with gradients clipped to norm 1."""
    weights = np.zeros(features.shape[1])
    for _ in session.guard(range(STEPS), event):
        batch = random.random(len(features)) < SAMPLING_PROBABILITY
        slopes = -signs[batch] / (1 + np.exp(signs[batch] * (features[batch] @ weights)))
        gradients = slopes[:, None] * features[batch]
        gradients /= np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True))
        noisy = gradients.sum(axis=0) + random.normal(0, NOISE_MULTIPLIER, weights.shape)
        weights -= learning_rate / (SAMPLING_PROBABILITY * len(features)) * noisy
    return weights


def epsilon(client, events):
    """Returns epsilon >= the true epsilon at DELTA of a history; charges nothing."""
    return client.call("AccountingService/Compute", {
        "accountant": "BEST", "events": [counted.to_json() for counted in events],
        "query": {"epsilonAtDelta": DELTA}})["upper"]


with epsledger.connect() as client:
    client.create_budget(name="digits-search", privacy_unit="image",
                         cap=epsledger.Cap.approximate_dp(epsilon=8, delta=DELTA))
    runs = []
    for rate in LEARNING_RATES:
        with client.open(session=f"rate-{rate:g}", budget="digits-search", group="learning-rates",
                         delta=DELTA, expects=event) as session:
            weights = train(session, rate)
            if session.exhausted:
                print(f"learning rate {rate:5g}: {session.exhausted}")
                break
            # Chosen on held-out images, which stand for public ones: choosing on the training images would be one
            # more look at them, without noise.
            runs.append((np.mean(np.sign(others @ weights) == signs_of_others), rate, session.spent().epsilon))
            print(f"learning rate {rate:5g}: accuracy {runs[-1][0]:.3f}, epsilon of this run alone {runs[-1][2]:.3f}")
    if not runs:
        sys.exit("no run fits into what is left of the budget: earlier searches spent it")
    accuracy, rate, alone = max(runs)
    readings = client.call("BudgetService/GetBudgetGuarantees",
                           {"name": "budgets/digits-search", "delta": DELTA, "group": "learning-rates"})["readings"]
    search = next(reading["guarantee"]["upper"] for reading in readings if reading["accountant"] == "BEST")
    print(f"the best is {rate:g}, and its own epsilon {alone:.3f} is NOT what publishing it costs: "
          f"the search as a whole has epsilon {search:.3f} at delta {DELTA:g}")
    selection = RepeatAndSelect(event=SelfComposed(event=event, count=STEPS), mean=len(LEARNING_RATES), shape=1)
    print(f"drawn at random, {len(LEARNING_RATES)} runs on average, all but the best kept secret: "
          f"epsilon {epsilon(client, [CountedEvent(event=selection)]):.3f}")
