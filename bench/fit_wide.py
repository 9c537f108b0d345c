"""Find the classes of characters and pairs beyond ASCII, for the token estimator.

The price of a character comes from the vocabularies: every wide character of the texts of the fit
side is encoded in context by every vocabulary, and a token that starts on its first byte is
charged to its pair with the previous character, tokens that start inside it to itself.
Characters of like price over all vocabularies make a class (k-means), and so do the pairs that
differ most from what their second character takes elsewhere. `fit_tokens.py` calls this, writes
``wide_classes.bin`` and fits a weight for each class and vocabulary.
"""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from foldline.tokens.estimate import CHARACTER_CLASSES, PAIR_CLASSES

PAIRS = 7_168
SEEN = 8  # times: fewer do not determine the price of a pair
THRIFT = 1.0  # squared tokens a bit of the packed table is worth
FIRST_WIDE, UNITS = 0x80, 0x10000
HIGH, LOW = slice(0xD800, 0xDC00), slice(0xDC00, 0xE000)
ONE_SCRIPT = (slice(0x4E, 0xA0), slice(0xAC, 0xD8))  # pages of Han, of Hangul


@dataclass(frozen=True)
class Prices:
    """Observations: the occurrences and tokens of every pair, and of every unit.

    Attributes:
        pairs: Two UTF-16 units as one number, the first in the high half.
        times: Number of occurrences of each.
        started: Tokens that started on the second character, a column per vocabulary; all tokens
            of the character if the pair is a surrogate pair.
        seen: Number of occurrences of every unit.
        inside: Tokens that started inside it, a column per vocabulary.
        alone: Tokens of the unit alone, a column per vocabulary.
    """

    pairs: Any
    times: Any
    started: Any
    seen: Any
    inside: Any
    alone: Any


@dataclass(frozen=True)
class Classes:
    """The class of every unit, the class of the listed pairs, and the price of every class."""

    characters: bytes
    pairs: dict[int, int]
    prices: Any  # a row per class, characters first, and a column per vocabulary


def price(texts: list[str], tokenizers: list[Any]) -> Prices:
    """Encode the texts with every vocabulary, and charge each token to a character."""
    lengths = [_token_lengths(tokenizer) for tokenizer in tokenizers]
    keys: list[Any] = []
    started: list[list[Any]] = [[] for _ in tokenizers]
    seen = np.zeros(UNITS)
    inside = np.zeros((UNITS, len(tokenizers)))
    for text in texts:
        codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.int64)
        wide, astral = codes >= FIRST_WIDE, codes >= UNITS
        bmp = np.where(astral, 0, codes)
        keys.append(_pair_keys(codes)[wide])
        seen += np.bincount(bmp, minlength=UNITS)
        for column, tokenizer in enumerate(tokenizers):
            first, within = _paid(text, tokenizer, lengths[column])
            inside[:, column] += np.bincount(bmp, np.where(astral, 0, within), UNITS)
            started[column].append(np.where(astral, first + within, first)[wide])
    pairs, place, times = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
    tokens = [np.bincount(place, np.concatenate(parts)) for parts in started]
    alone = [[_alone(tokenizer, code) for tokenizer in tokenizers] for code in range(UNITS)]
    return Prices(pairs, times.astype(float), np.stack(tokens, 1), seen, inside, np.array(alone))


def _token_lengths(tokenizer: Any) -> Any:
    """Return the bytes of every token."""
    lengths = np.zeros(tokenizer.vocab_size + 4_000, np.int64)
    for number in range(tokenizer.vocab_size):
        try:
            lengths[number] = len(tokenizer.decode_token_bytes(number))
        except ValueError:
            continue
    return lengths


def _pair_keys(codes: Any) -> Any:
    before = np.concatenate(([ord("\n")], codes[:-1]))
    low = 0xDC00 + (codes & 0x3FF)
    before = np.where(before >= UNITS, 0xDC00 + (before & 0x3FF), before)
    high = 0xD800 + ((codes - UNITS) >> 10)
    return np.where(codes >= UNITS, high << 16 | low, before << 16 | codes)


def _paid(text: str, tokenizer: Any, lengths: Any) -> tuple[Any, Any]:
    """Count, for every character, the tokens that begin on its first byte, and inside it."""
    data = np.frombuffer(text.encode(), np.uint8)
    first = (data & 0xC0) != 0x80
    taken = lengths[np.array(tokenizer.encode_ordinary(text), np.int64)]
    starts = np.concatenate(([0], np.cumsum(taken)[:-1]))
    if taken.sum() == len(data) + 1:  # a blank that the vocabulary adds before every text
        starts -= 1
    begun = np.bincount(np.clip(starts, 0, len(data) - 1), minlength=len(data))
    whole = np.bincount(np.cumsum(first) - 1, begun)
    at_first = np.minimum(begun[first], 1)
    return at_first, np.maximum(whole - at_first, 0)


def _alone(tokenizer: Any, code: int) -> int:
    if code < FIRST_WIDE:
        return 0
    if HIGH.start <= code < LOW.stop:
        return 2
    encode = tokenizer.encode_ordinary  # a newline before it keeps an inserted blank away
    return len(encode("\n" + chr(code))) - len(encode("\n"))


def classify(prices: Prices, importance: Any) -> Classes:
    """Sort characters and pairs into classes; `importance` weighs the vocabularies."""
    scale = np.sqrt(importance)
    second = (prices.pairs & 0xFFFF).astype(int)
    each = prices.started / prices.times[:, None]
    listed = np.zeros(len(second), bool)
    for _ in range(3):
        begun = _mean_start(prices, second, ~listed)
        off = (((each - begun[second]) * scale) ** 2).sum(1)
        gain = np.where(prices.times >= SEEN, off * prices.times**2 / (prices.times + SEEN), 0)
        top = np.argsort(-gain)[:PAIRS]
        listed[:] = False
        listed[top] = True
    inner = (prices.inside + 5 * np.maximum(prices.alone - 1.0, 0)) / (prices.seen + 5)[:, None]
    characters, character_prices = _character_classes((begun + inner), prices.seen, scale)
    surrogate = (second >= LOW.start) & (second < LOW.stop)
    rest = surrogate & ~listed
    astral = prices.started[rest].sum(0) / prices.times[rest].sum()
    characters[HIGH] = CHARACTER_CLASSES
    off = np.where(surrogate[top, None], each[top] - astral, (each - begun[second])[top])
    trust = (prices.times[top] / (prices.times[top] + 4))[:, None]
    numbers, centres = k_means(off * trust * scale, prices.times[top], PAIR_CLASSES)
    pairs = {
        int(pair): int(number) + 1 for pair, number in zip(prices.pairs[top], numbers, strict=True)
    }
    return Classes(
        characters.tobytes(), pairs, np.vstack([character_prices, astral, centres / scale])
    )


def _mean_start(prices: Prices, second: Any, counted: Any) -> Any:
    """Return the mean price of a character on its first byte, over the counted pairs."""
    times = np.bincount(second[counted], prices.times[counted], UNITS)
    tokens = [np.bincount(second[counted], part[counted], UNITS) for part in prices.started.T]
    return (np.stack(tokens, 1) + 3) / (times + 3)[:, None]


def _character_classes(cost: Any, seen: Any, scale: Any) -> tuple[Any, Any]:
    """Find the classes; a rare character goes to the class that keeps the packed table small."""
    codes = np.r_[FIRST_WIDE : HIGH.start, LOW.stop : UNITS]
    points, weight = cost[codes] * scale, np.sqrt(seen[codes]) + 0.02
    numbers, centres = k_means(points, weight, CHARACTER_CLASSES - 1)
    away = _distances(points, centres)
    for _ in range(8):
        usual = np.zeros((UNITS >> 8, len(centres)))
        np.add.at(usual, (codes >> 8, numbers), 1)
        for pages in ONE_SCRIPT:
            usual[pages] = usual[pages].sum(0)
        usual = (usual + 0.01) / (usual + 0.01).sum(1, keepdims=True)
        bits = -np.log2(usual[codes >> 8])
        numbers = (np.minimum(weight, 10)[:, None] * away + THRIFT * bits).argmin(1)
    characters = np.zeros(UNITS, np.uint8)
    characters[codes] = numbers + 1
    return characters, centres / scale


def k_means(points: Any, weight: Any, count: int, rounds: int = 40) -> tuple[Any, Any]:
    """Sort weighted points into `count` clusters; returns the cluster of each and the centres."""
    rng = np.random.default_rng(1)
    centres = [points[rng.choice(len(points), p=weight / weight.sum())]]
    away = ((points - centres[0]) ** 2).sum(1)
    while len(centres) < count:
        chance = weight * away
        centres.append(points[rng.choice(len(points), p=chance / chance.sum())])
        away = np.minimum(away, ((points - centres[-1]) ** 2).sum(1))
    middle = np.array(centres)
    for _ in range(rounds):
        numbers = _distances(points, middle).argmin(1)
        for number in range(count):
            mine = numbers == number
            if mine.any():
                middle[number] = np.average(points[mine], axis=0, weights=weight[mine])
    return numbers, middle


def _distances(points: Any, centres: Any) -> Any:
    cross = points @ centres.T
    away = (points**2).sum(1)[:, None] - 2 * cross + (centres**2).sum(1)
    return np.maximum(away, 0)


def packed(classes: Classes) -> bytes:
    """Return the tables as `foldline.tokens.estimate` reads them."""
    order = sorted(classes.pairs)
    numbers = bytes(classes.pairs[pair] for pair in order)
    units = np.array([(pair >> 16, pair & 0xFFFF) for pair in order], "<u2").tobytes()
    lanes = b"".join(units[lane::4] for lane in range(4))
    return zlib.compress(classes.characters[FIRST_WIDE:] + lanes + numbers, 9)
