"""Answers of `epsctl compute`."""
import json
import subprocess


def answers_of(epsctl, requests):
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    said = subprocess.run([epsctl, "compute"], input=lines, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    if len(answers) != len(requests):
        raise ValueError("got %d answers to %d questions: %s" % (len(answers), len(requests), said.stderr))
    return answers
