"""Real Keras models under the ledger. Needs keras and jax; JAX Privacy's keras_api where it is installed."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
os.environ.setdefault("KERAS_BACKEND", "jax")

import epsledger
from killable_ledger import BUILD
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

try:
    import jax  # noqa: F401: the backend
    import keras
    import numpy

    from epsledger.adapters.keras import LedgerCallback
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"
try:
    from jax_privacy import keras_api
except ImportError:
    keras_api = None


@unittest.skipIf(MISSING, MISSING)
class Fit(LedgerCase):
    def model(self, private=False, **options):
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        if private:
            model = keras_api.make_private(model, keras_api.DPKerasConfig(
                epsilon=1000.0, delta=1e-5, clipping_norm=1.0, batch_size=4, gradient_accumulation_steps=1,
                train_steps=100, train_size=48, noise_multiplier=2.0, seed=0))
        accumulation = options.pop("gradient_accumulation_steps", None)
        model.compile(optimizer=keras.optimizers.SGD(0.1, gradient_accumulation_steps=accumulation),
                      loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), **options)
        return model

    def fit(self, model, session, epochs=1):
        updates = []
        count = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: updates.append(batch))
        model.fit(numpy.ones((48, 3), "float32"), numpy.zeros(48, "int32"), batch_size=4, epochs=epochs, verbose=0,
                  callbacks=[LedgerCallback(session, STEP), count])
        return len(updates)

    def test_stops_after_the_last_update_that_fits(self):
        session = self.new_session()
        self.assertEqual(self.fit(self.model(), session, epochs=2), STEPS_THAT_FIT)
        self.assertEqual(self.accepted_uses(session), STEPS_THAT_FIT)

    def test_accumulated_batches_are_one_update(self):
        session = self.new_session()
        self.assertEqual(self.fit(self.model(gradient_accumulation_steps=6), session), 12)
        self.assertEqual(self.accepted_uses(session), 2)

    def test_an_execution_of_several_steps_is_charged_as_all_of_them(self):
        session = self.new_session()
        self.assertEqual(self.fit(self.model(steps_per_execution=2), session), STEPS_THAT_FIT // 2)
        self.assertEqual(self.accepted_uses(session), STEPS_THAT_FIT)
        with self.assertRaisesRegex(ValueError, "steps_per_execution: got 2, want 1"):
            self.fit(self.model(steps_per_execution=2, gradient_accumulation_steps=2), session)

    def test_a_refused_batch_is_not_run_and_the_model_can_be_saved(self):
        session, model = self.new_session(), self.model()
        session.charge(STEP, count=STEPS_THAT_FIT)
        before = model.get_weights()
        with self.assertRaises(epsledger.BudgetExhausted):
            self.fit(model, session)
        for now, then in zip(model.get_weights(), before):
            numpy.testing.assert_array_equal(now, then)

    @unittest.skipUnless(keras_api, "jax_privacy is not installed")
    def test_stops_the_private_models_of_jax_privacy(self):
        session = self.new_session()
        self.assertEqual(self.fit(self.model(private=True), session), STEPS_THAT_FIT)
        self.assertEqual(self.accepted_uses(session), STEPS_THAT_FIT)


if __name__ == "__main__":
    unittest.main()
