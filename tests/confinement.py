"""What tests need that let an agent run commands: a kernel that confines them."""

from __future__ import annotations

import pytest

from foldline.tools.terminal.sandbox import NotConfined, choose_confinement


def requires_confinement() -> None:
    """Skip a test, with the reason, if the kernel cannot confine programs."""
    try:
        choose_confinement()
    except NotConfined as error:
        pytest.skip(str(error))
