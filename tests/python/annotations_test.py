"""What people say about budgets and sessions, from Python."""
import asyncio
import base64
import hashlib
import unittest

import epsledger
import epsledger.aio
from ledger_case import STEP, LedgerCase


class Annotations(LedgerCase):
    def test_texts_are_recorded_and_withdrawn(self):
        people = self.new_budget()
        said = self.client.annotate(people, deployment_model="Central", data_domain="adults")
        self.assertEqual(said.texts, {"deployment_model": "Central", "data_domain": "adults"})
        self.client.annotate(people, data_domain="")
        self.assertEqual(self.client.annotations(people).texts, {"deployment_model": "Central"})
        with self.assertRaisesRegex(epsledger.InvalidArgument, "data_domian.*data_domain"):
            self.client.annotate(people, data_domian="adults")
        with self.assertRaisesRegex(epsledger.InvalidArgument, "actors: got None"):
            self.client.annotate(people, actors=None)
        with self.assertRaisesRegex(epsledger.InvalidArgument, "Local, Central, Shuffle, Federated"):
            self.client.annotate(people, deployment_model="central")
        with self.assertRaises(epsledger.NotFound):
            self.client.annotations("nobody")

    def test_a_statement_says_them_and_a_sign_off_names_it(self):
        session = self.new_session()
        self.client.annotate(session.name, contribution_bounding="one record a person")
        session.charge(STEP)
        statement = session.statement()
        self.assertIn("one record a person", statement.text)
        self.client.call("AuditService/RecordSignOff", {
            "name": session.name, "signOff": {"signer": "Ada", "role": "officer"},
            "statementJson": statement.json, "signature": base64.b64encode(statement.signature).decode()})
        (sign_off,) = self.client.annotations(session.name).sign_offs
        self.assertEqual(sign_off.statement_sha256, hashlib.sha256(statement.json.encode()).digest())
        self.assertEqual((sign_off.signer, sign_off.role, sign_off.delta), ("Ada", "officer", 1e-5))
        self.assertGreaterEqual(sign_off.epsilon, float(session.spent()))

    def test_from_asyncio(self):
        people = self.new_budget()

        async def annotate():
            async with epsledger.aio.connect(address=self.server.address) as client:
                await client.annotate(people, actors="curators")
                return await client.annotations(people)

        self.assertEqual(asyncio.run(annotate()).texts, {"actors": "curators"})


if __name__ == "__main__":
    unittest.main()
