"""Events as JSON: what is sent, and which answers are about it. And numbers that are shown."""
import fractions
import unittest

import epsledger
from epsledger.event_json import event_json, is_same_event
from epsledger.refusal import Refusal
from epsledger.rounded import digits_for_spent, rounded_down, rounded_up
from valid_events import VALID_EVENTS


class Sent(unittest.TestCase):
    def test_every_event_is_sent_as_it_describes_itself_and_is_the_same_as_itself(self):
        for event in VALID_EVENTS:
            self.assertTrue(is_same_event(event.to_json(), event_json(event)), event)
        for one in VALID_EVENTS:
            for other in VALID_EVENTS:
                self.assertEqual(is_same_event(one.to_json(), other.to_json()), one == other, (one, other))

    def test_numbers_of_every_type_are_sent_and_those_that_are_not_finite_by_name(self):
        sent = event_json({"a": fractions.Fraction(1, 4), "b": float("inf"), "c": -float("inf"), "d": float("nan"),
                           "e": [True, None, "x", 2]})
        self.assertEqual(sent, {"a": 0.25, "b": "Infinity", "c": "-Infinity", "d": "NaN", "e": [True, None, "x", 2]})

    def test_the_copy_does_not_change_with_the_original(self):
        original = {"renyiCurve": {"orders": [2.0], "divergences": [1.0]}}
        sent = event_json(original)
        original["renyiCurve"]["orders"].append(3.0)
        self.assertEqual(sent, {"renyiCurve": {"orders": [2.0], "divergences": [1.0]}})


class Same(unittest.TestCase):
    def test_numbers_names_and_defaults_may_be_written_differently(self):
        for asked, answered in (
                ({"gaussian": {"noiseMultiplier": 1}}, {"gaussian": {"noiseMultiplier": 1.0}}),
                ({"gaussian": {"noise_multiplier": 1}}, {"gaussian": {"noiseMultiplier": 1}}),
                ({"gaussian": {"noiseMultiplier": 0.1}}, {"gaussian": {"noiseMultiplier": 0.10000000000000001}}),
                ({"zcdp": {"rho": 0.1}}, {"zcdp": {"rho": 0.1, "xi": 0}}),
                ({"zcdp": {"rho": 0.1, "xi": None}}, {"zcdp": {"rho": 0.1}}),
                ({"pureDp": {}}, {"pureDp": {"epsilon": 0}}),
                ({"selfComposed": {"count": 2**53}}, {"selfComposed": {"count": str(2**53)}}),
                ({"renyiCurve": {"divergences": ["Infinity"]}}, {"renyiCurve": {"divergences": ["Infinity"]}})):
            self.assertTrue(is_same_event(asked, answered), asked)
            self.assertTrue(is_same_event(answered, asked), asked)

    def test_what_differs_is_not_the_same(self):
        gaussian = {"gaussian": {"noiseMultiplier": 1.1}}
        for answered in (
                {}, None, [], "gaussian", {"gaussian": {}}, {"gaussian": None}, {"laplace": {"noiseMultiplier": 1.1}},
                {"gaussian": {"noiseMultiplier": 1.1000000000000003}}, {"gaussian": {"noiseMultiplier": "x"}},
                {"gaussian": {"noiseMultiplier": [1.1]}}, {"gaussian": {"noiseMultiplier": 1.1, "more": 1}},
                {"gaussian": {"noiseMultiplier": 1.1}, "pureDp": {}}, {"gaussian": 1.1}):
            self.assertFalse(is_same_event(gaussian, answered), answered)
            self.assertFalse(is_same_event(answered, gaussian), answered)
        for one, other in (({"pureDp": {}}, {}), ({"a": [1, 2]}, {"a": [1]}), ({"a": 2**53}, {"a": str(2**53 + 1)}),
                           ({"a": "x"}, {"a": "y"}), ({"a": True}, {"a": 2})):
            self.assertFalse(is_same_event(one, other), (one, other))


class Shown(unittest.TestCase):
    def test_a_shown_number_never_looks_better_than_it_is(self):
        for value in (0.1, 1 / 3, 2 / 3, 123456.7, 999999.5, 1e-300, 5e-324, 1.7976931348623157e308, 0.1 + 0.2):
            for digits in (1, 6, 15, 17):
                self.assertGreaterEqual(float(rounded_up(value, digits)), value)
                self.assertLessEqual(float(rounded_down(value, digits)), value)
                self.assertLessEqual(float(rounded_down(-value, digits)), -value)
        self.assertEqual((rounded_up(0.25), rounded_down(0.25), rounded_up(0.0), rounded_up(float("inf"))),
                         ("0.25", "0.25", "0", "inf"))
        self.assertEqual((rounded_up(2 / 3), rounded_down(2 / 3)), ("0.666667", "0.666666"))

    def test_a_cap_that_is_nearly_used_up_does_not_look_overspent(self):
        spent, cap = 0.9999999, 0.99999995
        digits = digits_for_spent(spent, cap)
        self.assertLessEqual(float(rounded_up(spent, digits)), float(rounded_down(cap, digits)))
        self.assertEqual((digits_for_spent(0.1, 1), digits_for_spent(2, 1), digits_for_spent(float("nan"), 1)), (6, 6, 6))

    def test_a_refusal_says_what_to_do(self):
        for reason, message in (("BUDGET_SUPERSEDED", "successor"), ("SOMETHING_NEW", "a newer one may"),
                                ("CLOSED", "another session or budget")):
            self.assertRegex(str(epsledger.Refused(Refusal(reason))), "^refused, %s: .*%s" % (reason, message))
        self.assertEqual(str(Refusal("POLICY_VIOLATION", remedy="say how")), "refused, POLICY_VIOLATION: say how.")


if __name__ == "__main__":
    unittest.main()
