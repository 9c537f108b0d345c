"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.models.catalogue import Catalogue as Catalogue
from foldline.models.catalogue import light as light
from foldline.models.client import Client as Client
from foldline.models.completion import Completion as Completion
from foldline.models.completion import Delta as Delta
from foldline.models.errors import TooLong as TooLong
from foldline.models.factory import model as model
from foldline.models.factory import summarizer as summarizer
from foldline.models.info import CacheRules as CacheRules
from foldline.models.info import ModelInfo as ModelInfo
from foldline.models.info import Prices as Prices
from foldline.models.info import price as price

__all__: list[str]
