"""Federated averaging with privacy for users: the noise hides all images of one user at once.

    python federated_averaging.py [EPSILON]

The privacy unit is the user, not the image. A round draws each user independently; each trains on its own images and
sends a clipped update, and the server adds noise to their sum. The budget names this unit. A guarantee for images would
need another budget.

The server is that of EPSLEDGER_HTTP, else http://127.0.0.1:8080.
"""
import sys

import numpy as np
from digits import load_digits

import epsledger
from epsledger.events import Gaussian, PoissonSampled

EPSILON = float(sys.argv[1]) if len(sys.argv) > 1 else 8.0
USERS, PARTICIPATION, CLIP_NORM, NOISE_MULTIPLIER, LOCAL_STEPS, LOCAL_RATE = 300, 0.3, 0.5, 3.0, 5, 1.0
(features, labels), (others, answers) = load_digits()
random = np.random.default_rng()
user_of = random.integers(USERS, size=len(features))  # the user of each image
weights = np.zeros((features.shape[1], 10))


def update_of(user):
    """Returns what a user sends: how far its own images move the weights, clipped."""
    x, y = features[user_of == user], labels[user_of == user]
    local = weights.copy()
    for _ in range(LOCAL_STEPS if len(x) else 0):
        odds = np.exp(x @ local - (x @ local).max(axis=1, keepdims=True))
        local -= LOCAL_RATE / len(x) * x.T @ (odds / odds.sum(axis=1, keepdims=True) - np.eye(10)[y])
    update = local - weights
    return update / max(1, np.linalg.norm(update) / CLIP_NORM)


event = PoissonSampled(sampling_probability=PARTICIPATION, event=Gaussian(noise_multiplier=NOISE_MULTIPLIER))
with epsledger.connect() as client:
    client.create_budget(name="digits-users", privacy_unit="user",
                         cap=epsledger.Cap.approximate_dp(epsilon=EPSILON, delta=1e-3))
    with client.open(session="federated", budget="digits-users", delta=1e-3, expects=event) as session:
        rounds = 0
        while True:
            participants = np.flatnonzero(random.random(USERS) < PARTICIPATION)
            try:
                permit = session.step(event)  # before any user is asked
            except epsledger.BudgetExhausted as refusal:
                print(f"{rounds} rounds, then {refusal}")
                break
            with permit:
                total = sum((update_of(user) for user in participants), np.zeros_like(weights))
                total += random.normal(0, NOISE_MULTIPLIER * CLIP_NORM, weights.shape)
                weights += total / (PARTICIPATION * USERS)  # the expected number: the true one is private
                rounds += 1
        print(f"{session.spent()} about any one user; accuracy on other images "
              f"{np.mean((others @ weights).argmax(1) == answers):.3f}")
