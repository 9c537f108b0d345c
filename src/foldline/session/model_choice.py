"""The models of a session: the window of the agent's model, and the client of the summarizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from foldline.ask_runner import ModelLike
from foldline.core.config import EMBEDDED, Config
from foldline.models.catalogue import Catalogue

if TYPE_CHECKING:
    from foldline.models.client import Client

OUTPUT: Final = 16_384
"""Maximum of the default reserve for the answer of a known model, in tokens."""


def resolve_window(
    config: Config, model: str, *, window: int | None, output: int | None
) -> Config:
    """
    Return the configuration with the window of the agent's model.

    A window given by the caller takes precedence, then one in the configuration, then the one in
    the catalogue. The reserve for the answer is never more than the model can write.

    Args:
        config: The configuration.
        model: The agent's model, "" if unknown.
        window: The window given by the caller, in tokens.
        output: The reserve given by the caller, in tokens.
    """
    room = config.room
    if not model or window is not None or room.window is not None:
        return config
    info = Catalogue.load().find(model)
    if not info.resolved:
        return config
    reserve = room.output if output is None else output
    if reserve is None:
        reserve = min(OUTPUT, info.window // 8, info.output)
    most = info.input if room.max_input is None else room.max_input
    return config.replace(room={"window": info.window, "output": reserve, "max_input": most})


def create_client(summarizer: ModelLike | str | None, config: Config, model: str) -> Client | None:
    """
    Create the client of the summarizer, if it is given by name.

    Args:
        summarizer: The name of a model: "same", "light", or as `foldline.models.model` takes it;
            None for the one in the configuration. For anything else no client is needed.
        config: The configuration.
        model: The agent's model.

    Returns:
        The client; None if no model is named.

    Raises:
        InputError: The model cannot be reached, for instance because there is no key.
    """
    name = config.summarizer if summarizer is None else summarizer
    if not isinstance(name, str) or name == EMBEDDED:
        return None
    # Imported here: it loads the network modules, which nothing else in a session needs.
    from foldline.models.factory import summarizer as made

    return made(name, of=model)
