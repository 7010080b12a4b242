"""Moves the Python client for conformance.py, over gRPC."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "client" / "python"))

import epsledger
from epsledger.errors import CallFailed, Ended, OutcomeUnknown, Refused, UsedUp
from epsledger.retry import Retry


class Driver:
    def __init__(self):
        self._client = None

    def connect(self, command):
        if self._client is not None:
            self._client.close()
        retry = command["retry"]
        self._client = self._session = None
        self._permits, self._leases = [], []
        self._client = epsledger.connect(
            transport="grpc", address=command["address"], token=command.get("token"),
            allow_insecure=command.get("allowInsecure", False), retry=Retry(
                call_timeout=retry["callTimeoutMs"] / 1000, overall_timeout=retry["overallTimeoutMs"] / 1000,
                first_contact_timeout=retry["overallTimeoutMs"] / 1000, max_tries=retry["maxTries"],
                initial_backoff=retry["initialBackoffMs"] / 1000, max_backoff=retry["maxBackoffMs"] / 1000))
        return {"is": "ok"}

    def open(self, command):
        self._session = self._client.open(budget=command["budget"], session=command["session"])
        return {"is": "ok"}

    def charge(self, command):
        return self._permit(self._session.charge(command["event"], count=int(command["count"])))

    def retry(self, command):
        return self._permit(self._session.retry_charge(command["charge_id"]))

    def unknown(self, _):
        return {"is": "ok", "ids": list(self._session.unknown_charges)}

    def use(self, command):
        with self._permits[command["permit"]]:
            return {"is": "ok"}

    def lease(self, command):
        lease = self._session.lease(command["event"], count=int(command["count"]),
                                    time_to_live=int(command["seconds"]))
        self._leases.append(lease)
        return {"is": "lease", "granted": str(lease.granted_count)}

    def take(self, command):
        return self._permit(self._leases[command["lease"]].step())

    def settle(self, command):
        self._leases[command["lease"]].settle()
        return {"is": "ok"}

    def _permit(self, permit):
        self._permits.append(permit)
        return {"is": "permit", "charge": permit.charge, "sequence": str(permit.sequence),
                "uses": str(permit.uses_left)}


def verdict(driver, command):
    try:
        return getattr(driver, command["do"])(command)
    except Refused as error:
        return {"is": "refused", "reason": error.reason, "charge": error.refusal.charge, "text": str(error)}
    except OutcomeUnknown as error:
        return {"is": "unknown", "charge_id": error.charge_id, "code": error.code, "text": str(error)}
    except (UsedUp, Ended) as error:
        return {"is": "spent", "text": str(error)}
    except CallFailed as error:
        return {"is": "error", "code": error.code, "text": str(error)}


def main():
    driver = Driver()
    for line in sys.stdin:
        print(json.dumps(verdict(driver, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
