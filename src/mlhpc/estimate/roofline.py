"""The roofline: what a device can reach at most, given how much a program computes for each byte it moves.

Williams, Waterman, Patterson: "Roofline: An Insightful Visual Performance Model for Multicore Architectures",
Communications of the ACM 52 (2009), 65-76.
"""

from dataclasses import dataclass

from mlhpc.errors import UsageError


@dataclass(frozen=True)
class Roofline:
    """A device's two ceilings."""

    name: str
    peak: float
    """FLOP/s."""
    bandwidth: float
    """Bytes/s of its main memory."""

    def __post_init__(self) -> None:
        """Refuse ceilings that are not positive."""
        if not (self.peak > 0 and self.bandwidth > 0):
            raise UsageError(f"{self.name}: peak and bandwidth must be positive numbers.")

    @property
    def ridge(self) -> float:
        """FLOP per byte at which the two ceilings meet: below it memory is the limit, above it computing."""
        return self.peak / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """Return the most FLOP/s at ``intensity`` FLOP per byte: min(peak, bandwidth x intensity).

        Raises:
            UsageError: if the intensity is not positive.
        """
        if not intensity > 0:
            raise UsageError(
                f"An intensity of {intensity} FLOP per byte is not possible: name a positive number."
            )
        return min(self.peak, self.bandwidth * intensity)

    def shortest_time(self, flop: float, bytes_moved: float) -> float:
        """Return the seconds that ``flop`` operations on ``bytes_moved`` bytes take at least."""
        return max(flop / self.peak, bytes_moved / self.bandwidth)
