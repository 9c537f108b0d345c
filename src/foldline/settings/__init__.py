"""Settings from files and the environment; see `foldline.settings.loading`."""

from foldline.settings.folders import config_folder, data_folder
from foldline.settings.loading import Settings, load, load_config

__all__ = ["Settings", "config_folder", "data_folder", "load", "load_config"]
