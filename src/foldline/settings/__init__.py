"""Settings from files and the environment; see `foldline.settings.loading`."""

from foldline.settings.loading import Settings, load, load_config
from foldline.settings.sources import config_folder, data_folder

__all__ = ["Settings", "config_folder", "data_folder", "load", "load_config"]
