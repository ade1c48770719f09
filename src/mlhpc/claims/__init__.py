"""The claim ledger: what the course says, who says so, and what the records say about it."""

from mlhpc.claims.findings import Finding
from mlhpc.claims.ledger import Ledger, load_claims
from mlhpc.claims.schema import Claim, Source, Value
from mlhpc.claims.verdict import Dependence, Verdict, check, check_one

__all__ = [
    "Claim",
    "Dependence",
    "Finding",
    "Ledger",
    "Source",
    "Value",
    "Verdict",
    "check",
    "check_one",
    "load_claims",
]
