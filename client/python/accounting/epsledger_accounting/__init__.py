"""The mathematics of epsledger, compiled. `epsledger.accounting` is what to use."""
from ._native import call

__all__ = ["call"]
