"""What a peer's answer is worth beside a certified interval."""
import collections
import math

# word: "upper bound", "unsound", "infinite", "not a number", "raised", "too slow", "absent", "none"
Verdict = collections.namedtuple("Verdict", "word value detail")


def judge(answer, lower):
    """The verdict on an answer of peers.py that claims an upper bound; `lower` is certified."""
    if "absent" in answer:
        return Verdict("absent", None, answer["absent"])
    if "unsupported" in answer:
        return Verdict("none", None, answer["unsupported"])
    if "timeout" in answer:
        return Verdict("too slow", None, "> %g s" % answer["timeout"])
    if "error" in answer:
        return Verdict("raised", None, answer["error"])
    upper = answer["upper"]
    if math.isnan(upper):
        return Verdict("not a number", upper, "NaN")
    # A certified 0 contradicts nobody: some peers state negative epsilons for large deltas.
    if 0 < lower and upper < lower:
        return Verdict("unsound", upper, "below the certified lower bound %.9g" % lower)
    if math.isinf(upper):
        return Verdict("infinite", upper, "no finite bound")
    return Verdict("upper bound", upper, "")


def short(verdict):
    """A table cell."""
    if verdict.word == "upper bound":
        return "%.5g" % verdict.value
    if verdict.word == "unsound":
        return "**%.5g unsound**" % verdict.value
    if verdict.word == "infinite":
        return "inf"
    if verdict.word == "raised":
        return "raised " + verdict.detail.split(":")[0]
    if verdict.word == "too slow":
        return verdict.detail
    return "-" if verdict.word == "none" else verdict.word
