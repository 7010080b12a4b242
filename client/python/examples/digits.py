"""The digits data of the examples: 1,797 images of 8 x 8 pixels (UCI optdigits)."""
import gzip
import os

import numpy as np


def load_digits():
    """Returns ((features, labels) to train on, (features, labels) held out); every fourth image is held out; features
    in [0, 1] with a constant 1 at the end. Reads the file that DIGITS names, in the libsvm format and gzipped, or else
    asks scikit-learn. The held-out images stand for public ones: measuring on them costs nothing."""
    if path := os.environ.get("DIGITS"):
        pixels, labels = np.zeros((1797, 64)), np.zeros(1797, int)
        with gzip.open(path, "rt", encoding="ascii") as lines:
            for row, line in enumerate(lines):
                label, *cells = line.split()
                labels[row] = int(label)
                for cell in cells:
                    index, value = cell.split(":")
                    pixels[row, int(index) - 1] = float(value)
    else:
        from sklearn.datasets import load_digits as load

        pixels, labels = load(return_X_y=True)
    features, held_out = np.hstack([pixels / 16, np.ones((len(pixels), 1))]), np.arange(len(pixels)) % 4 == 0
    return (features[~held_out], labels[~held_out]), (features[held_out], labels[held_out])
