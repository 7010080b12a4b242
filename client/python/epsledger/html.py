"""What notebooks show instead of a repr."""
from __future__ import annotations

import html
import math
from typing import Sequence, Tuple

from .rounded import rounded_up

_FULL = 1.0
_NEARLY_FULL = 0.9


def bar(fraction: float, label: str) -> str:
    """Returns a bar that is filled to `fraction` of it, with a label beside it. A fraction that is not a number is
    drawn full."""
    filled = _FULL if math.isnan(fraction) else min(max(fraction, 0.0), _FULL)
    color = "#b3261e" if filled >= _FULL else "#b26a00" if filled >= _NEARLY_FULL else "#1a73e8"
    return ('<div style="display:flex;align-items:center;gap:.6em"><div role="img" aria-label="%s" style="width:16em;'
            'height:.7em;border-radius:.35em;background:#8884;overflow:hidden"><div style="width:%s%%;height:100%%;'
            'background:%s"></div></div><span>%s</span></div>'
            % (escaped(label), rounded_up(100 * filled, 4), color, escaped(label)))


def titled(title: str, *parts: str) -> str:
    """Returns a block with a title above its parts, which are HTML."""
    return '<div><strong>%s</strong>%s</div>' % (escaped(title), "".join(parts))


def table(columns: Sequence[str], rows: Sequence[Tuple[str, ...]]) -> str:
    """Returns a table of texts."""
    head = "".join("<th>%s</th>" % escaped(column) for column in columns)
    body = "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % escaped(cell) for cell in row) for row in rows)
    return "<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>" % (head, body)


def escaped(text: str) -> str:
    return html.escape(text, quote=True)
