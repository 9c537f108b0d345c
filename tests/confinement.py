"""What tests need that let an agent run commands: a kernel that confines them."""

from __future__ import annotations

import pytest

from foldline.tools.terminal.sandbox import NotConfined, choose_confinement


def requires_confinement() -> None:
    """Skip a test, and say why, where the kernel can confine nothing."""
    try:
        choose_confinement()
    except NotConfined as error:
        pytest.skip(str(error))
