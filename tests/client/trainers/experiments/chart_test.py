"""The charts of the experiments: a reader who measures a chart finds the numbers it was drawn from."""
import pathlib
import sys
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "client/trainers/experiments"))

import chart  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
MEASURED = chart.Series("sound", (chart.Point(1, 97.5, 0.25), chart.Point(8, 98.75), chart.Point(2, 98.0)), "#123456")
PRINTED = chart.Series("paper <2022>", (chart.Point(2, 96.37), chart.Point(8, 98.33)), "#abcdef", printed=True)


class Reading:
    """Reads a chart as a person does: between two ticks with their labels, everything is proportional."""

    def __init__(self, svg):
        self.root = xml.etree.ElementTree.fromstring(svg)

    def _scale(self, kind, coordinate):
        ticks = [(float(tick.get(coordinate)), float(tick.text))
                 for tick in self.root.iter(SVG + "text") if tick.get("class") == kind]
        (first_pixel, first), (last_pixel, last) = ticks[0], ticks[-1]
        # The label of a tick at y stands 4 pixels below it.
        shift = 4 if coordinate == "y" else 0
        return lambda pixel: first + (pixel + shift - first_pixel) / (last_pixel - first_pixel) * (last - first)

    def points(self, color):
        x, y = self._scale("x-tick", "x"), self._scale("y-tick", "y")
        return [(x(float(circle.get("cx"))), y(float(circle.get("cy")))) for circle in self.root.iter(SVG + "circle")
                if circle.get("stroke") == color and circle.get("class") is None]

    def bars(self, color):
        y = self._scale("y-tick", "y")
        return [(y(float(line.get("y1"))), y(float(line.get("y2")))) for line in self.root.iter(SVG + "line")
                if line.get("stroke") == color and line.get("x1") == line.get("x2")]


class LineChart(unittest.TestCase):
    def setUp(self):
        self.svg = chart.line_chart("Accuracy & epsilon", "epsilon", "accuracy in percent", [MEASURED, PRINTED])
        self.reading = Reading(self.svg)

    def assert_places(self, got, want):
        self.assertEqual(len(got), len(want))
        for one, other in zip(got, want):
            for a, b in zip(one, other):
                self.assertAlmostEqual(a, b, delta=0.01)

    def test_has_every_point_where_its_numbers_are_in_the_order_of_x(self):
        self.assert_places(self.reading.points("#123456"), [(1, 97.5), (2, 98.0), (8, 98.75)])
        self.assert_places(self.reading.points("#abcdef"), [(2, 96.37), (8, 98.33)])

    def test_has_a_bar_of_one_spread_to_each_side(self):
        self.assert_places(self.reading.bars("#123456"), [(97.25, 97.75)])
        self.assertEqual(self.reading.bars("#abcdef"), [])

    def test_names_the_series_and_tells_printed_numbers_from_measured_ones(self):
        texts = [text.text for text in self.reading.root.iter(SVG + "text")]
        for text in ("Accuracy & epsilon", "epsilon", "accuracy in percent", "sound", "paper <2022>"):
            self.assertIn(text, texts)
        lines = {line.get("stroke"): line.get("stroke-dasharray") for line in self.reading.root.iter(SVG + "polyline")}
        self.assertIsNone(lines["#123456"])
        self.assertIsNotNone(lines["#abcdef"])

    def test_stays_inside_its_frame(self):
        for circle in self.reading.root.iter(SVG + "circle"):
            self.assertTrue(0 <= float(circle.get("cx")) <= chart.WIDTH)
            self.assertTrue(0 <= float(circle.get("cy")) <= chart.HEIGHT)

    def test_the_longest_name_of_a_series_fits_into_the_frame(self):
        name = "paper's DP-SGD, no proof"
        svg = chart.line_chart("", "", "", [chart.Series(name, MEASURED.points, "#123456")])
        texts = xml.etree.ElementTree.fromstring(svg).iter(SVG + "text")
        (x,) = [float(text.get("x")) for text in texts if text.text == name]
        self.assertLess(x + 7 * len(name), chart.WIDTH)  # a letter takes 6.7 on average

    def test_is_the_same_for_the_same_numbers_and_another_for_others(self):
        again = chart.line_chart("Accuracy & epsilon", "epsilon", "accuracy in percent", [MEASURED, PRINTED])
        self.assertEqual(self.svg, again)
        other = chart.line_chart("Accuracy & epsilon", "epsilon", "accuracy in percent", [MEASURED])
        self.assertNotEqual(self.svg, other)

    def test_draws_one_point_and_leaves_out_a_series_without_any(self):
        one = chart.Series("one", (chart.Point(3, 5),), "#000001")
        none = chart.Series("none", (), "#000002")
        reading = Reading(chart.line_chart("t", "x", "y", [one, none]))
        self.assert_places(reading.points("#000001"), [(3, 5)])
        self.assertNotIn("none", [text.text for text in reading.root.iter(SVG + "text")])

    def test_has_few_round_ticks_at_any_size_of_numbers(self):
        for low, high in ((0, 1), (97.9, 98.1), (0, 7.5), (0, 7.9), (-3e6, 5e6), (1e-7, 9e-7)):
            series = chart.Series("s", (chart.Point(0, low), chart.Point(1, high)), "#123456")
            reading = Reading(chart.line_chart("t", "x", "y", [series]))
            ticks = [tick for tick in reading.root.iter(SVG + "text") if tick.get("class") == "y-tick"]
            self.assertTrue(2 <= len(ticks) <= chart.MOST_TICKS + 1, (low, high, len(ticks)))
            for got, want in zip(reading.points("#123456"), ((0, low), (1, high))):
                self.assertAlmostEqual(got[1], want[1], delta=0.005 * (high - low))

    def test_refuses_what_has_no_place(self):
        for points in ((), (chart.Point(1, float("nan")),), (chart.Point(float("inf"), 1),), (chart.Point(1, 1, -1),)):
            with self.assertRaises(ValueError):
                chart.line_chart("t", "x", "y", [chart.Series("s", points, "#000000")])


if __name__ == "__main__":
    unittest.main()
