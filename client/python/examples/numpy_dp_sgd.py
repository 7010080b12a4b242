"""DP-SGD in NumPy: softmax regression on the digits, until the budget says stop.

    python numpy_dp_sgd.py [EPSILON]

The server is that of EPSLEDGER_HTTP, else http://127.0.0.1:8080.
"""
import sys

import numpy as np
from digits import load_digits

import epsledger
from epsledger.events import Gaussian, PoissonSampled

EPSILON = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
CLIP_NORM, NOISE_MULTIPLIER, SAMPLING_PROBABILITY, LEARNING_RATE = 1.0, 2.0, 0.1, 2.0
(features, labels), (others, answers) = load_digits()
weights = np.zeros((features.shape[1], 10))
random = np.random.default_rng()


def poisson_batches():
    while True:  # each image independently
        yield np.flatnonzero(random.random(len(features)) < SAMPLING_PROBABILITY)


def clipped_gradient_sum(x, y):
    odds = np.exp(x @ weights - (x @ weights).max(axis=1, keepdims=True))
    residuals = odds / odds.sum(axis=1, keepdims=True) - np.eye(10)[y]
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(residuals, axis=1)  # of each image's gradient
    return (x * np.minimum(1, CLIP_NORM / np.maximum(norms, 1e-12))[:, None]).T @ residuals


event = PoissonSampled(sampling_probability=SAMPLING_PROBABILITY, event=Gaussian(noise_multiplier=NOISE_MULTIPLIER))
with epsledger.connect() as client:
    client.create_budget(name="digits", privacy_unit="image",
                         cap=epsledger.Cap.approximate_dp(epsilon=EPSILON, delta=1e-5))
    with client.open(session="numpy", budget="digits", delta=1e-5, expects=event) as session:
        steps = 0
        for batch in session.guard(poisson_batches(), event):  # charged before the block, ends when it is refused
            noise = random.normal(0, NOISE_MULTIPLIER * CLIP_NORM, weights.shape)
            gradient = clipped_gradient_sum(features[batch], labels[batch]) + noise
            weights -= LEARNING_RATE / (SAMPLING_PROBABILITY * len(features)) * gradient
            steps += 1
        print(f"{steps} steps, then {session.exhausted}")
        print(f"{session.spent()}; accuracy on other images {np.mean((others @ weights).argmax(1) == answers):.3f}")
