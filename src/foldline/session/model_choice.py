"""The models of a session: how large the agent's window is, and who summarizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from foldline.ask_runner import ModelLike
from foldline.core.config import EMBEDDED, Config
from foldline.models.catalogue import Catalogue

if TYPE_CHECKING:
    from foldline.models.client import Client

OUTPUT: Final = 16_384
"""The default reserve for the answer of a known model, in tokens, at most."""


def resolve_window(
    config: Config, model: str, *, window: int | None, output: int | None
) -> Config:
    """
    Return a configuration with the window of the model that is used.

    What the caller says counts, then what the configuration says; the catalogue is asked where
    neither says anything. The reserve for the answer is never more than the model can write.

    Args:
        config: The configuration.
        model: The agent's model, "" when it is not known.
        window: The window that the caller gave, in tokens.
        output: The reserve that the caller gave, in tokens.
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


def owned_client(summarizer: ModelLike | str | None, config: Config, model: str) -> Client | None:
    """
    Return the client of the model that is named to summarize; None when none is named.

    Args:
        summarizer: The name of a model: "same", "light", or as `foldline.models.model` takes it;
            None for what the configuration names. Somebody who is no name needs no hiring.
        config: The configuration.
        model: The agent's model.

    Raises:
        InputError: The model that is named cannot be reached, as when there is no key.
    """
    name = config.summarizer if summarizer is None else summarizer
    if not isinstance(name, str) or name == EMBEDDED:
        return None
    # Imported here: it loads the network, which nothing else in a session needs.
    from foldline.models.factory import summarizer as made

    return made(name, of=model)
