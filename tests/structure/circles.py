"""Two folders of which neither is above the other do not include each other: the arrows between rooms have no way back."""
import os

from repository import Violation
from used_headers import INCLUDE, PRODUCT


def check(repository):
    arrows = {}  # (folder, folder) -> the files that include, with what
    known = set(repository.files())
    for file in repository.sources(*PRODUCT):
        for name in INCLUDE.findall(repository.text(file)):
            if name in known:
                arrows.setdefault((os.path.dirname(file), os.path.dirname(name)), []).append((file, name))
    for (a, b), there in sorted(arrows.items()):
        back = arrows.get((b, a))
        if back is None or (a + "/").startswith(b + "/") or (b + "/").startswith(a + "/"):
            continue
        if (len(there), a) < (len(back), b):  # the direction with fewer arrows is told
            for file, name in there:
                yield Violation(file, 1, "circle", "it includes %s, and %s includes %s: one of the two is in the wrong room" % (name, b, a))
