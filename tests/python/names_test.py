"""Names of choices: as the API writes them and as epsctl does, in the words of the caller when they are wrong."""
import os
import re
import unittest

import epsledger
from epsledger import names
from ledger_case import LedgerCase
from package_folder import PACKAGE


class Names(LedgerCase):
    def test_both_spellings_are_one_name(self):
        budget = self.client.create_budget(name="lower", cap=epsledger.Cap.approximate_dp(3, 1e-5, filter="renyi-orders"),
                                           privacy_unit="person", neighboring_relation="replace-one")
        self.assertEqual(budget.neighboring_relation, "REPLACE_ONE")
        self.assertEqual(budget.cap.message["approximateDp"]["filter"], "RENYI_ORDERS")
        session = self.client.open(session="run", budget="lower", delta=1e-5, neighboring_relation="replace-one",
                                   provenance=epsledger.Provenance(sampler="full-batch"))
        again = self.client.open(session="run", budget="lower", delta=1e-5, neighboring_relation="REPLACE_ONE")
        self.assertEqual(again.name, session.name)

    def test_an_unknown_name_is_refused_before_anything_is_sent(self):
        with self.assertRaisesRegex(epsledger.InvalidArgument, "neighboring_relation: got 'add', want one of ADD_OR"):
            self.client.create_budget(name="x", cap=epsledger.Cap.zcdp(1), privacy_unit="p", neighboring_relation="add")
        with self.assertRaisesRegex(ValueError, "filter: got 'pld', want one of RESIDUE"):
            epsledger.Cap.approximate_dp(3, 1e-5, filter="pld")
        with self.assertRaisesRegex(ValueError, "provenance.sampler: got 7, want one of"):
            self.client.open(session="run", budget=self.new_budget(), provenance=epsledger.Provenance(sampler=7))
        with self.assertRaisesRegex(ValueError, "provenance.normalizer: got 'n', want one of"):
            self.client.open(session="run", budget=self.new_budget(), provenance=epsledger.Provenance(normalizer="n"))
        with self.assertRaises(epsledger.NotFound):
            self.client.budget("x")

    def test_a_normalizer_is_kept_and_one_that_is_not_said_is_not_sent(self):
        self.assertNotIn("normalizer", epsledger.Provenance().to_json())
        session = self.client.open(session="run", budget=self.new_budget(), delta=1e-5,
                                   provenance=epsledger.Provenance(normalizer="sampled-batch-size"))
        told = self.client.call("SessionService/GetSession", {"name": session.name})
        self.assertEqual(told["provenance"]["normalizer"], "SAMPLED_BATCH_SIZE")

    def test_the_names_are_those_of_the_protos(self):
        folder = os.path.join(PACKAGE, "..", "..", "proto", "epsledger", "v1")
        protos = ""
        for file in os.listdir(folder):
            with open(os.path.join(folder, file), encoding="utf-8") as stream:
                protos += stream.read()
        for known, one in ((names.RELATIONS, "REPLACE_SPECIAL"), (names.SAMPLERS, "SHUFFLED"), (names.FILTERS, "PORTFOLIO"),
                           (names.NORMALIZERS, "SAMPLED_BATCH_SIZE")):
            kind = re.search(r"enum \w+ \{[^}]*\b%s = [^}]*\}" % one, protos).group()
            there = re.findall(r"^\s*([A-Z_]+) = \d+", kind, re.MULTILINE)
            wanted = [name for name in there if not name.endswith("UNSPECIFIED") or name in known]
            self.assertEqual(sorted(known), sorted(wanted))


if __name__ == "__main__":
    unittest.main()
