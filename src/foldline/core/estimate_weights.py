"""
The weights of the token estimate: data, fitted, not chosen.

Written by ``bench/fit_tokens.py`` on 2026-11-21 from 19,300 pieces (60 to 8,000 characters) of 24
kinds of text: prose, code, markup, configuration, JSON pretty and compact, logs, shell output,
terminal drawings, hex, base64, UUIDs, digits, Chinese, Japanese, Korean, Russian, Arabic, Hindi,
emoji. Truth is the real vocabulary of each family (splintr-rs 0.22: o200k_base, cl100k_base,
deepseek_v3, qwen3). No current Claude vocabulary is public: that column is the Claude-2
vocabulary times 1.12, the median of what Claude 4.5 and 4.6 reported for 65 large tool results.

Error on text the fit has not seen, pieces above 50 tokens, in percent (``bench/tokens.py``); far
scripts are Russian, Arabic, Hindi and drawings of terminals:

=====================  ==========  ==========  ==========  ==========  ==========
median and p95 of      o200k       cl100k      deepseek    qwen        claude
=====================  ==========  ==========  ==========  ==========  ==========
prose                   3.1  11.8   3.5  13.0   4.1  13.2   3.3  11.7   4.0  12.7
Python                  5.5  12.9   4.0  13.8   4.3  12.4   4.0  14.0   6.2  12.2
C, Go, Java, shell      5.5  16.3   5.6  17.2   4.9  16.4   4.6  14.9   5.2  16.2
JavaScript, CSS         6.5  15.9   5.6  16.6   5.0  16.0   5.5  16.4   4.9  13.1
JSON pretty             2.2  12.8   3.4  12.1   3.0  11.5   3.9  11.4   5.1  11.2
JSON compact            3.6  16.0   3.6  13.6   5.9  16.7   3.3  12.4   5.0  12.5
logs                    8.4  19.1   6.5  18.1   8.8  17.6   7.1  17.4   7.2  14.6
shell output            3.3  11.0   3.8   9.0   4.0  10.1   3.7   8.8   3.7  10.2
hex                     1.2   4.2   0.8   4.5   1.8   5.1   0.5   3.5   1.0   5.9
base64                  7.7  13.6  10.0  15.3   7.5  12.9   9.3  15.3   5.2  11.3
Chinese                 4.2  21.5   5.9  23.5   3.5  16.1   4.8  18.5   5.7  24.1
Japanese                4.3  10.4   3.8  10.2   5.1  12.6   3.6  12.9   4.2   9.6
Korean                  3.9  13.3   6.1  17.0   4.5  11.5   3.9  17.3   6.3  17.5
Russian                 9.2  24.8  11.6  26.7   9.0  27.3  13.3  27.8   8.4  15.9
Arabic                  7.1  27.9  11.2  20.5  11.2  31.5  15.4  36.8   5.1  17.1
Hindi                  10.3  27.9  15.2  28.9  17.5  46.2  13.4  28.4  20.0  42.7
agent transcripts       3.7  12.1   3.8  13.0   4.2  12.6   3.3  12.3   4.8  12.8
all but far scripts     4.4  13.6   4.3  15.0   4.6  13.1   3.5  13.8   5.1  13.5
20 together, p95              5.2         5.8         4.8         4.8         5.4
=====================  ==========  ==========  ==========  ==========  ==========
"""

from typing import Final

DEFAULT_FAMILY: Final = "o200k"
"""The family for a model whose vocabulary is unknown."""

WIDE_SCRIPTS: Final = {
    "latin": (0xC2, 0xC9),
    "greek, cyrillic": (0xCA, 0xD4),
    "hebrew, arabic": (0xD5, 0xDF),
    "indic, thai": (0xE0, 0xE1),
    "symbol": (0xE2, 0xE2),
    "kana": (0xE3, 0xE3),
    "han": (0xE4, 0xE9),
    "hangul": (0xEA, 0xED),
    "fullwidth": (0xEE, 0xEF),
    "emoji": (0xF0, 0xF4),
}
"""Scripts by the first byte of their UTF-8 characters, both ends included."""

FAMILIES: Final = ("o200k", "cl100k", "deepseek", "qwen", "claude")

TABLE: Final = (
    # Tokens per occurrence, a column per family. A mark is ASCII that is neither letter, digit,
    # blank (space, tab) nor newline.
    ("constant", -0.217, 0.076, -0.205, 0.027, -0.388),
    ("byte", 0.182, 0.206, 0.178, 0.202, 0.108),
    ("underscore", -0.204, -0.197, -0.088, -0.207, 0.015),
    ("backslash", 0.445, 0.489, 0.517, 0.492, 0.409),
    ("word", 0.695, 0.652, 0.678, 0.621, 1.157),
    ("letters beyond the 3rd", -0.092, -0.104, -0.045, -0.100, -0.007),
    ("consonant cluster", -0.160, -0.191, -0.177, -0.174, -0.206),
    ("cluster of 5 consonants", 2.111, 2.663, 2.334, 2.616, 2.594),
    ("capital after a letter", 0.979, 0.986, 0.824, 0.929, 1.166),
    ("capital after a capital", -0.933, -0.927, -0.693, -0.872, -1.114),
    ("digit group", 1.859, 1.762, 1.894, 1.169, 2.083),
    ("digit", -0.496, -0.471, -0.486, 0.290, -0.493),
    ("digits beyond the 3rd", 0.801, 0.814, 0.795, 0.725, 0.844),
    ("blank", -0.183, -0.206, -0.164, -0.199, -0.101),
    ("blank before a digit", 0.992, 0.714, 0.541, 0.671, 0.092),
    ("indentation", 1.144, 1.176, 0.741, 1.110, 0.630),
    ("run of marks", 0.883, 0.759, 0.842, 0.780, 1.167),
    ("marks beyond the 7th", -0.137, -0.164, -0.132, -0.161, -0.048),
    ("mark before a letter", -0.545, -0.503, -0.342, -0.504, -0.171),
    ("mark before a newline", -1.089, -0.952, -0.772, -1.081, -0.804),
    ("run of newlines", 0.708, 0.674, 0.723, 0.797, 1.024),
    # From here on, only in texts beyond ASCII.
    ("run of wide characters", 0.641, 0.512, 0.673, 0.213, 1.302),
    ("wide before a newline", 0.395, 0.493, 0.659, 0.707, 0.490),
    ("newline before wide", -0.128, -0.357, -0.364, -0.161, -0.642),
    ("blank before wide", -0.572, -0.310, -0.191, -0.011, -0.278),
    ("cjk punctuation", 1.126, 0.215, 0.591, 0.968, 1.079),
    ("curly quote or dash", -1.252, -1.097, -0.873, -0.870, -1.693),
    ("box drawing", -1.156, -0.819, -0.638, -0.637, -1.240),
    ("horizontal rule", -0.562, -1.204, -1.129, -1.173, -0.729),
    ("latin", 0.274, 0.815, 0.663, 0.764, -0.292),
    ("greek, cyrillic", -0.099, 0.050, -0.095, -0.043, 0.290),
    ("hebrew, arabic", -0.008, 0.478, 0.040, 0.053, 0.857),
    ("indic, thai", -0.142, 0.772, 0.041, 0.618, 1.408),
    ("symbol", 1.121, 1.031, 0.852, 0.785, 1.556),
    ("kana", -0.040, 0.261, -0.015, -0.130, 0.614),
    ("han", 0.108, 0.377, -0.059, -0.030, 0.555),
    ("hangul", 0.126, 0.473, 0.133, 0.142, 0.864),
    ("fullwidth", 0.465, 0.996, 0.641, 0.683, 0.660),
    ("emoji", 1.094, 1.443, 0.852, 1.504, 1.568),
)

FEATURES: Final = tuple(row[0] for row in TABLE)
"""What is counted, in the order of the weights."""

WEIGHTS: Final = {
    family: tuple(float(row[column]) for row in TABLE) for column, family in enumerate(FAMILIES, 1)
}
"""The weights of every family, in the order of ``FEATURES``."""
