"""Lessons: an episode and a notebook with the same stem, and the checks that hold them together."""

from mlhpc.lessons.front_matter import Exercise, Lesson, load_lesson, load_lessons

__all__ = ["Exercise", "Lesson", "load_lesson", "load_lessons"]
