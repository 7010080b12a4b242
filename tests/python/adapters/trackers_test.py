"""MLflow and W&B show what a session spent. Each needs its library; skipped by name without."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from killable_ledger import BUILD
from ledger_case import STEP, LedgerCase

# Neither is to talk to anybody.
os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", MLFLOW_ALLOW_FILE_STORE="true", WANDB_MODE="offline",
                  WANDB_ERROR_REPORTING="false")
try:
    import mlflow

    from epsledger.adapters import mlflow as mlflow_adapter
except ImportError as missing:
    MLFLOW_MISSING = str(missing)
else:
    MLFLOW_MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"
try:
    import wandb

    from epsledger.adapters import wandb as wandb_adapter
except ImportError as missing:
    WANDB_MISSING = str(missing)
else:
    WANDB_MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"


class Trackers(LedgerCase):
    @classmethod
    def setUpClass(cls):
        if not (MLFLOW_MISSING and WANDB_MISSING):
            super().setUpClass()

    def setUp(self):
        if not (MLFLOW_MISSING and WANDB_MISSING):
            super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    @unittest.skipIf(MLFLOW_MISSING, MLFLOW_MISSING)
    def test_mlflow_shows_numbers_and_statement(self):
        mlflow.set_tracking_uri("file://" + os.path.join(self.folder, "runs"))
        session = self.new_session()
        with mlflow.start_run() as run:
            for step in range(3):
                session.charge(STEP)
                mlflow_adapter.log_spent(session, step=step)
            mlflow_adapter.log_statement(session)
        client = mlflow.MlflowClient()
        shown = [metric.value for metric in client.get_metric_history(run.info.run_id, "privacy/epsilon")]
        self.assertEqual(shown, sorted(set(shown)))
        self.assertEqual(len(shown), 3)
        final = client.get_run(run.info.run_id).data.metrics
        self.assertEqual(final["privacy/epsilon"], session.spent().epsilon)
        self.assertEqual(final["privacy/steps_that_fit"], 1)
        self.assertEqual(final["privacy/delta"], 1e-5)
        self.assertEqual(mlflow.artifacts.load_text(run.info.artifact_uri + "/privacy/statement.txt"),
                         session.statement().text)

    @unittest.skipIf(WANDB_MISSING, WANDB_MISSING)
    def test_wandb_shows_numbers_and_statement(self):
        session = self.new_session()
        session.charge(STEP)
        with wandb.init(mode="offline", dir=self.folder, settings=wandb.Settings(silent=True)) as run:
            wandb_adapter.log_spent(run, session)
            wandb_adapter.log_statement(run, session)
            self.assertEqual(run.summary["privacy/epsilon"], session.spent().epsilon)
            self.assertEqual(run.summary["privacy/statement"], session.statement().text)


if __name__ == "__main__":
    unittest.main()
