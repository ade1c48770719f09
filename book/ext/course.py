"""What the pages draw on: the records, the ledger and the lessons, read once per build."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from mlhpc.errors import MlhpcError
from mlhpc.paths import local_records_folder, published_records_folder
from mlhpc.records.query import newest
from mlhpc.records.schema import Record
from mlhpc.records.store import DamagedLine, read_records

if TYPE_CHECKING:
    from mlhpc.lessons import Lesson

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Records:
    """The records that pages show."""

    published: tuple[Record, ...]
    """Those in ``data/records``, the latest of each thing measured on each machine."""
    local: tuple[Record, ...]
    """This user's own, in the same way; empty where nothing was measured."""
    every_published: tuple[Record, ...]
    """All of ``data/records``, also those that a later one replaces on pages."""
    damaged: tuple[DamagedLine, ...]


@lru_cache(maxsize=1)
def records() -> Records:
    """Return the records of this build."""
    published = read_records(published_records_folder())
    local = read_records(local_records_folder())
    return Records(
        newest(published.records),
        newest(local.records),
        published.records,
        published.damaged + local.damaged,
    )


@lru_cache(maxsize=1)
def lessons() -> "tuple[Lesson, ...]":
    """Return the front matter of all lessons, in their order."""
    from mlhpc.lessons import load_lessons

    return tuple(load_lessons())


class CourseDirective(SphinxDirective):
    """A directive whose faults are warnings with file and line, which fail the strict build."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return what the directive puts on the page.

        Raises:
            MlhpcError: if it names something that does not exist.
        """
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Return the content, or nothing and a warning."""
        try:
            return self.content_nodes()
        except MlhpcError as error:
            logger.warning("%s: %s", self.name, error, location=self.get_location())
            return []


class CourseRole(SphinxRole):
    """A role whose faults are warnings with file and line, which fail the strict build."""

    def inline_nodes(self) -> Sequence[nodes.Node]:
        """Return what the role puts into the sentence.

        Raises:
            MlhpcError: if it names something that does not exist.
        """
        raise NotImplementedError

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the content, or the role's text and a warning."""
        try:
            return list(self.inline_nodes()), []
        except MlhpcError as error:
            logger.warning("%s: %s", self.name, error, location=self.get_location())
            return [nodes.literal(self.rawtext, self.text)], []
