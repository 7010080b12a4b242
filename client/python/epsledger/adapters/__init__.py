"""Adapters to training frameworks: one module each, which imports its framework when it is imported."""
