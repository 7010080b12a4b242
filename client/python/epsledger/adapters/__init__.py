"""Adapters to training frameworks. Each module imports its framework when it is imported itself."""
