"""Reading a ledger: lists, series, what is left, and what a notebook shows."""
import datetime
import html.parser
import importlib.util
import unittest

import epsledger
from epsledger import events
from epsledger.series import time_of
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

DP_STEP = epsledger.dp_sgd(noise_multiplier=1, batch_size=10, dataset_size=1000)


class Elements(html.parser.HTMLParser):
    """The open elements and the text of a piece of HTML, which must close what it opens."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, _):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data


class Reading(LedgerCase):
    def test_budgets_are_all_listed(self):
        made = [self.new_budget() for _ in range(3)]
        names = [budget.name for budget in self.client.budgets()]
        self.assertEqual(names, sorted(names))
        self.assertLessEqual({"budgets/" + name for name in made}, set(names))

    def test_a_listing_goes_through_all_its_pages(self):
        for _ in range(3):
            self.new_budget()
        pages = self.client._connection.pages("BudgetService/ListBudgets", {"pageSize": 1}, "budgets")
        self.assertEqual([page["name"] for page in pages], [budget.name for budget in self.client.budgets()])

    def test_a_session_says_what_it_spent_on_what_and_what_is_left(self):
        session = self.new_session()
        self.assertEqual((session.history(), session.remaining(STEP)), ([], STEPS_THAT_FIT))
        for _ in range(3):
            session.step(STEP)
        self.assertEqual(session.history(), [events.CountedEvent(event=STEP, count=3)])
        self.assertEqual(session.remaining(STEP), STEPS_THAT_FIT - 3)

    def test_a_series_grows_to_what_was_spent_and_goes_on_below_the_cap(self):
        budget = self.new_budget(cap=epsledger.Cap.approximate_dp(2, 1e-5))
        session = self.new_session(budget=budget, expects=DP_STEP)
        with session.charge(DP_STEP, count=200):
            pass
        series = session.series(point_count=20)
        self.assertEqual((series.steps, series.points[0].steps, series.points[-1].steps), (200, 0, 200))
        epsilons = [point.epsilon for point in series.points]
        self.assertEqual(epsilons, sorted(epsilons))
        self.assertEqual(epsilons[-1], session.spent().epsilon)
        self.assertLessEqual(series.epsilon_cap, 2)
        self.assertTrue(series.ahead)
        self.assertLessEqual(series.ahead[-1].epsilon, series.epsilon_cap)
        self.assertEqual(series.ahead[-1].steps, 200 + session.remaining(DP_STEP))
        self.assertIsNone(series.points[0].time)
        now = datetime.datetime.now(datetime.timezone.utc)
        self.assertLess(abs(now - series.points[-1].time), datetime.timedelta(minutes=10))
        self.assertEqual([row["ahead"] for row in series.rows()].count(True), len(series.ahead))
        self.assertIn("over 200 steps: epsilon ", repr(series))

    def test_times_are_read_to_the_microsecond(self):
        utc = datetime.timezone.utc
        self.assertEqual(time_of("2026-11-28T16:26:07Z"), datetime.datetime(2026, 11, 28, 16, 26, 7, tzinfo=utc))
        self.assertEqual(time_of("2026-11-28T16:26:07.5Z").microsecond, 500000)
        self.assertEqual(time_of("2026-11-28T16:26:07.123456789Z").microsecond, 123456)
        self.assertIsNone(time_of(None))

    def test_what_a_notebook_shows_is_whole_and_escaped(self):
        self.client.create_budget(name="shown", cap=epsledger.Cap.zcdp(0.55), privacy_unit="<b>person & pet</b>")
        session = self.new_session(budget="shown")
        session.step(STEP)
        budget = self.client.budget("shown")
        for shown, word in ((budget, "charges accepted"), (session.guarantees(), "at least"), (session.series(), "steps")):
            elements = Elements(shown._repr_html_())
            self.assertEqual(elements.open, [])
            self.assertIn(word, elements.text)
        self.assertIn("<b>person & pet</b>", Elements(budget._repr_html_()).text)
        self.assertNotIn("<b>", budget._repr_html_())

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_a_series_is_a_data_frame(self):
        session = self.new_session()
        session.step(STEP)
        frame = session.series().to_pandas()
        self.assertEqual(list(frame.columns), ["steps", "epsilon", "time", "ahead"])
        self.assertEqual(len(frame), len(session.series().rows()))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_a_series_draws_itself(self):
        import matplotlib

        matplotlib.use("agg")
        session = self.new_session()
        session.step(STEP)
        axes = session.series().plot()
        self.assertEqual(axes.get_xlabel(), "steps")
        self.assertIn("spent", [line.get_label() for line in axes.get_lines()])


if __name__ == "__main__":
    unittest.main()
