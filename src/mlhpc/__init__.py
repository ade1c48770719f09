"""Tools of the course *ML on HPC*: measure a machine, keep the records, hold claims against them."""

__version__ = "0.1.0"
