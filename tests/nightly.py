"""Whether the tests run with ``--hypothesis-profile nightly``, when long runs are longer."""

from hypothesis import settings

NIGHTLY = settings.default.max_examples >= 1_000
