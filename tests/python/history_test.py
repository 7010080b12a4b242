"""Histories of other accountants, read as data, and charged at once."""
import os
import tempfile
import unittest

import epsledger
from epsledger import events as e
from epsledger.history import history_from_csv, history_from_dp_event, history_from_opacus
from killable_ledger import BUILD, KillableLedger

try:
    import opacus.accountants
except ImportError:
    opacus = None
try:
    import dp_accounting
except ImportError:
    dp_accounting = None


def steps(noise_multiplier, sampling_probability, count):
    return e.CountedEvent(count=count, event=e.PoissonSampled(
        sampling_probability=sampling_probability, event=e.Gaussian(noise_multiplier=noise_multiplier)))


ROWS = [(1.1, 0.01, 100), (0.9, 0.02, 3), (1.1, 0.01, 7)]
HISTORY = [steps(*row) for row in ROWS]


class FromOpacus(unittest.TestCase):
    def test_reads_its_rows(self):
        for mechanism in ("rdp", "prv", "gdp"):
            self.assertEqual(history_from_opacus({"history": ROWS, "mechanism": mechanism}), HISTORY)
        self.assertEqual(history_from_opacus({"history": [list(row) for row in ROWS], "mechanism": "prv"}), HISTORY)
        self.assertEqual(history_from_opacus({"history": [], "mechanism": "prv"}), [])
        # A step without noise is a release without privacy.
        self.assertEqual(history_from_opacus({"history": [(0, 0.01, 1)], "mechanism": "prv"}), [steps(0, 0.01, 1)])

    def test_refuses_by_row_and_field(self):
        table = [
            ({}, r"^state_dict\['history'\]: got None, want a list"),
            ({"history": ROWS, "mechanism": "magic"},
             r"^state_dict\['mechanism'\]: got 'magic', want rdp, prv or gdp"),
            ({"history": ROWS, "delta": 1}, r"^state_dict\['delta'\]: got an unknown key"),
            ({"history": [(1.1, 0.01)]}, r"^history\[0\]: got 2 values, want noise multiplier"),
            ({"history": [*ROWS, (-1, 0.01, 1)]},
             r"^history\[3\].event.poissonSampled.event.gaussian.noiseMultiplier: got -1.0, want in \[0, inf\)"),
            ({"history": [(1, 1.5, 1)]}, r"^history\[0\].event.poissonSampled.samplingProbability: got 1.5, want"),
            ({"history": [(1, 0.5, 0)]}, r"^history\[0\].count: got 0, want a whole number"),
            ({"history": [(1, 0.5, 1.5)]}, r"^history\[0\].count: got 1.5, want a whole number"),
        ]
        for state_dict, message in table:
            with self.subTest(message=message), self.assertRaisesRegex(ValueError, message):
                history_from_opacus(state_dict)

    @unittest.skipUnless(opacus, "opacus is not installed")
    def test_reads_what_its_accountants_write(self):
        for name in ("RDPAccountant", "PRVAccountant", "GaussianAccountant"):
            accountant = getattr(opacus.accountants, name)()
            for _ in range(3):
                accountant.step(noise_multiplier=1.1, sample_rate=0.01)
            self.assertEqual(history_from_opacus(accountant.state_dict()), [steps(1.1, 0.01, 3)], name)


class FromDpAccounting(unittest.TestCase):
    def test_opens_what_is_composed(self):
        one = {"class_name": "GaussianDpEvent", "noise_multiplier": 2}
        many = {"class_name": "SelfComposedDpEvent", "event": one, "count": 5}
        gaussian = e.Gaussian(noise_multiplier=2)
        self.assertEqual(history_from_dp_event(one), [e.CountedEvent(event=gaussian)])
        self.assertEqual(history_from_dp_event(many), [e.CountedEvent(event=gaussian, count=5)])
        self.assertEqual(history_from_dp_event({"class_name": "ComposedDpEvent", "events": [one, many]}),
                         [e.CountedEvent(event=gaussian), e.CountedEvent(event=gaussian, count=5)])

    @unittest.skipUnless(dp_accounting, "dp_accounting is not installed")
    def test_reads_the_ledger_of_its_accountants(self):
        accountant = dp_accounting.rdp.RdpAccountant()
        sampled = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.1))
        accountant.compose(sampled, 100).compose(dp_accounting.GaussianDpEvent(5))
        self.assertEqual(history_from_dp_event(accountant.ledger),
                         [steps(1.1, 0.01, 100), e.CountedEvent(event=e.Gaussian(noise_multiplier=5))])


class FromCsv(unittest.TestCase):
    def test_reads_columns_in_any_order(self):
        lines = ["steps,noise_multiplier, sampling_probability\n", "100,1.1,0.01\n", "\n", "3, .9 ,2e-2\n", "7,1.1,0.01"]
        self.assertEqual(history_from_csv(lines), HISTORY)

    def test_reads_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "history.csv")
            with open(path, "w", encoding="utf-8-sig") as stream:
                stream.write("noise_multiplier,sampling_probability,steps\r\n1.1,0.01,100\r\n")
            self.assertEqual(history_from_csv(path), HISTORY[:1])

    def test_refuses_by_line_and_column(self):
        header = "noise_multiplier,sampling_probability,steps"
        table = [
            ([], "^line 1: got nothing, want the columns noise_multiplier, sampling_probability, steps"),
            (["sigma,q,steps"], "^line 1: got sigma, q, steps, want the columns"),
            ([header + ",note"], "^line 1: got .*note, want the columns"),
            ([header, "1,0.5"], "^line 2: got 2 cells, want 3"),
            ([header, "1,0.5,1", "1,0.5,1.0"], "^line 3, steps: got '1.0', want a whole number"),
            ([header, "1,0.5,"], "^line 2, steps: got '', want a whole number"),
            ([header, "nan,0.5,1"], "^line 2, noise_multiplier: got 'nan', want a number"),
            ([header, "1_0,0.5,1"], "^line 2, noise_multiplier: got '1_0', want a number"),
            ([header, "1,1.5,1"], r"^line 2.event.poissonSampled.samplingProbability: got 1.5, want in \[0, 1\]"),
        ]
        for lines, message in table:
            with self.subTest(message=message), self.assertRaisesRegex(ValueError, message):
                history_from_csv(lines)


@unittest.skipUnless(BUILD, "EPSLEDGER_BUILD names no build folder with server/epsledgerd")
class Charged(unittest.TestCase):
    def test_all_at_once_or_not_at_all(self):
        with KillableLedger() as server, epsledger.connect(address=server.address) as client:
            client.create_budget(name="enough", cap=epsledger.Cap.renyi(order=8, divergence=2.0), privacy_unit="person")
            client.create_budget(name="short", cap=epsledger.Cap.renyi(order=8, divergence=1e-3), privacy_unit="person")
            everything = e.Composed(events=HISTORY)
            session = client.open(session="before", budget="enough")
            session.charge(everything)
            self.assertEqual(session.history(), [e.CountedEvent(event=everything)])
            session = client.open(session="before", budget="short")
            with self.assertRaises(epsledger.BudgetExhausted):
                session.charge(everything)
            self.assertEqual(session.history(), [])


if __name__ == "__main__":
    unittest.main()
