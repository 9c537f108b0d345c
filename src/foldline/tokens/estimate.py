"""
The weights of the token estimate: data, fitted, not chosen.

Written by ``bench/fit_tokens.py`` on 2026-11-22 from 13,664 pieces (60 to 8,000 characters) of 29
kinds of text out of 450 public packages, manuals and books, which that script names. Truth is the
real vocabulary of each family (splintr-rs 0.22). No current Claude vocabulary is public: that
column is the Claude-2 vocabulary times 1.12, the median of what Claude 4.5 and 4.6 reported for 65
large tool results. llama2, mistral1, modernbert and whisper have weights too.

Error on sources that the fit has not seen, pieces above 50 tokens, 95th percentile in percent
(``bench/tokens.py``). Terse Chinese is verse, classical prose and labels; other scripts are
whatever is in none of the rows, from Amharic to Tatar:

=================== ======= ======= ======= ======= ======= ======= ======= ======= ======= =======
p95, %                o200k  cl100k   llama  deeps.    qwen    kimi     glm mistral   gemma  claude
=================== ======= ======= ======= ======= ======= ======= ======= ======= ======= =======
arabic                 19.3    10.1    19.0    18.5    16.9    12.7    14.0    19.0    14.5    13.6
base64                  8.9    12.0    12.0     8.4    12.0     8.7    12.0     9.8     6.5     8.4
chinese                10.8     8.3    12.2    11.7    14.8    12.3    11.0     8.5    16.0    13.4
chinese terse          13.5    15.5    14.3    17.6    15.1    19.9    16.9    13.2    15.4    12.4
chinese traditional     9.1     8.2     9.8     9.3     9.5    11.1     6.5    12.4    13.4    10.6
code with chinese      15.8    18.4    15.6    12.4    20.0    18.8    16.4    10.4    15.4    18.2
config                 18.6    23.4    23.4    17.5    20.0    23.1    22.0    18.8    13.0    13.0
emoji                   8.3     7.0     6.8     7.5     6.8     7.5     7.3     6.9     5.5     4.9
hex                     6.2     7.4     7.0     4.7     7.3     6.5     8.5     7.3     5.1     7.4
hindi                  16.7     6.4    22.7    10.0    13.0    11.9     5.5    13.5    24.6     9.5
japanese               15.3     8.6    14.1    10.6    13.6    15.1     9.2    11.5    14.8    11.8
json compact           35.6    41.9    40.7    27.3    38.7    40.6    39.1    28.1    22.5    24.9
json pretty            15.2    16.6    16.4    17.6    14.9    16.1    15.4    16.6     9.2    13.8
korean                 11.1    12.6    10.6    10.5    16.2    11.7     9.5    15.7     9.5    10.4
logs                    9.3    10.2    10.2     7.9    10.3    12.3     9.8    11.3     5.7     7.5
minified               36.7    39.3    38.6    40.8    39.8    35.8    38.9    29.3    32.1    26.0
other scripts          16.2    14.0    18.4    23.2    22.6    16.9    15.6    18.0    26.1    18.6
pages                  14.0    20.3    20.3    15.4    20.3    18.8    20.3    13.4    10.2    14.1
prose                  14.8    19.0    19.0    14.8    19.0    20.0    18.8    14.3    11.8    19.9
python                 12.9    13.7    13.7    13.8    13.7    12.2    13.2    16.4     8.9    11.6
russian                24.2    16.8    25.6    19.0    25.4    22.4    20.3    13.5    24.2    12.9
shell                   8.8     8.1     8.8     9.2     8.3     8.1     9.3     7.9     7.4    14.4
systems                17.3    19.2    18.2    14.6    17.6    16.0    17.6    15.6    10.3    15.4
tables                 18.6    12.9    22.1    19.1    14.8    19.5    12.7    29.2    13.7    24.0
terminal               19.7    14.7    18.6    10.3    14.3    16.5    14.0    17.6    21.6    10.7
web                    14.9    14.3    14.3    13.1    14.3    14.8    14.8    12.3    10.1    11.1
all kinds              15.2    14.3    16.4    13.8    16.1    15.1    14.6    16.0    13.7    13.0
agent transcripts      11.7    12.1    12.3    12.3    12.0    13.5    12.0    13.3    10.1    11.4
20 together             4.7     4.2     5.0     4.6     5.1     5.1     4.5     5.2     4.2     4.1
=================== ======= ======= ======= ======= ======= ======= ======= ======= ======= =======

Where it is worst: JSON that is one long list of rare words, minified code that is mostly tables
or embedded fonts, and Russian, Hindi and drawings in vocabularies that hardly know them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from operator import add, mul
from typing import ClassVar, Final

from foldline.tokens.choose import DEFAULT_FAMILY
from foldline.tokens.non_ascii_tokens import CHARACTER_CLASSES, PAIR_CLASSES, wide_counts

FAMILIES: Final = (
    *("o200k", "cl100k", "llama", "deepseek", "qwen", "kimi", "glm", "mistral", "gemma"),
    *("claude", "llama2", "mistral1", "modernbert", "whisper"),
)
"""The vocabularies that are imitated, in the order of the columns."""

FEATURES: Final = (
    "constant",
    "byte",
    "underscore",
    "backslash",
    "word",
    "letters beyond the 3rd",
    "consonant cluster",
    "cluster of 5 consonants",
    "capital after a letter",
    "capital after a capital",
    "digit group",
    "digit",
    "digits beyond the 3rd",
    "blank",
    "blank before a digit",
    "indentation",
    "run of marks",
    "marks beyond the 7th",
    "mark before a letter",
    "mark before a newline",
    "run of newlines",
    "letter before a digit",
    "digit before a letter",
    # From here on, only in texts beyond ASCII.
    "run of wide characters",
    "wide before a newline",
    "newline before wide",
    "blank before wide",
    *(f"character of class {number}" for number in range(1, CHARACTER_CLASSES + 1)),
    *(f"pair of class {number}" for number in range(1, PAIR_CLASSES + 1)),
)
"""
What is counted, in the order of the rows.

A mark is ASCII that is neither letter, digit, blank (space, tab) nor newline.
"""

TABLE: Final = """
    34   209    82   140    30   228   173   -73  -244   142   349   396  1932  -191
    88    44    45    89    44    88    44   282    37    41   260   291   141   501
  -218  -238  -241   -46  -249  -218  -240  -214    71    93   161   203   240   -62
   444   404   420   431   427   330   390   374   404   404   305   295   322   405
   751   829   829   683   875   811   823   510   903  1039   412   338   635 -1074
    -7    28    28    12    47    21    31  -141    43    47  -133  -172   -56  -273
   -48   -17   -16   -34   -50   -86   -18  -220   -55   -41  -114  -124   -29  -263
  2299  2893  2875  2232  2707  1867  2765  1826  1924  2459  2224  2835  2433  1446
   928   920   916   926   818   964   876   907   962  1224  1032  1049  1186  1386
  -888  -884  -880  -810  -790  -931  -841  -721  -919 -1163  -734  -993 -1127 -1136
  1598  1625  1637  1521   760  1448  1347   593   719  1675   641   637  1405  1541
  -367  -371  -381  -346   484  -292  -182   426   571  -240   368   345  -276  -432
   603   675   697   625   333   518   685    84   258   559   248   214   502   528
  -114   -74   -73  -101   -75  -116   -69  -292   -45   -63  -248  -274  -153   594
   904   918   886   710   865   965   844   952   687   -68   848   852   104 -1469
  1190  1264  1203   944  1244  1205  1245  1485   879   834   614   713   708  -545
   956   996  1001   931  1014   901  1003   668   995  1045   743   701   789   -98
   -10    36    34    -8    38   -27    36  -183    63    53  -178  -205   -65  -320
  -389  -416  -424  -168  -427  -427  -407  -321    70   141    38    66   165  2181
  -912  -855  -873 -1198 -1023  -734  -934 -1196  -136  -627  -277  -408  -561 -1072
   973   918   969  1302  1061   891   954   718  1322  1168  1371  1376   948  1393
  -447  -103   -88  -363   -46   -61     1  -305  -324  -596  -468  -276  -225  -637
   807   490   471   771   647   387   566   944   726   824  1187  1050   603  2011
   115   242   191   283   160   398    86  -239   372   736   159    69   523   279
  -279  -506  -540  -510  -470  -587  -485   -71  -342  -243  -466  -438  -431  -107
   240   307   458   139   181   262   468   369    46   105  -248  -311   261 -1361
   213   374   245   421   644   104   506   741   137   258    68   197   542 -1038
  1230  1448  1180  1572  1394  1270  1487  2791  1807  2107  2531  2686  2326  3525
  1411  2255  1268   984   876  2885  2183   902  1010  2683  3305  1712  3212   371
   569   813   567   727   745   498   792  1058   392   640   598   868   931  1269
 -2245   193  2119  2053  2977  -112  5596 -2783 -2527   779  4142  7888  7248 -5224
  1431  2218  1665   402  1078   575   765  2195  1125  2318  3580  1923  2448  2450
  2999  3338  2845  2304  1791  2752  2638  1900  2589  2609  3475  3377  2416  1256
  2628  3111  2767  3519  1764  3783  3457   414  1335  2791  2699  2303  4556   894
  1310  2401  1281   951  1153  1207  1100   762  1085  2486  1256  1346  2044  1155
  2189  2445  2450  1171  1356  2712  2539  2148  1291  2222  2177  1908  1369  3001
   469  2150  1481   791  1085  1014  2235   640   470  2136  1389  1277  1518  1341
  2755  2524  2829  2055  2420  2639  2629  1894  1536  3010  2556  2338  1866  1176
  1547  1374  1957   377   242  -410   439  2218  2257  1686  2323  1917  2147  3680
   914  1553   987   643   781   533   819   956  1075  1427  3064  1297  2390  1281
  1092  3275   814   495  1277   973   709   904   584  2974  3032  1778  1707  1103
  1921  2647  2115  1374   683  1060  1369  1825  1171  2487  3069  3595  1898  2016
  1667  1798  2040  1340  1603  1698  1786  1960  1289  2139  4398  3268  1619  1410
  -510 -1178  -773  -786     5    -9  -419  -863  -441  -579    80  -205  -122  -511
   265    28   777    71  -453   382    12  -179   600   172   357   103    46  -716
  -592  -640  -582  -803  -840  -299  -815  -995  -402  -892  -635  -911  -802 -1892
   743   240   828  -941 -1082  -332  -961    84   252     6   993    -8  -200  -411
  -153  -525  -197  -557  -279  -147  -654  -808   -25  -312   376  -227  -171  -722
   573  -234    30  -580   662   561  -227  -343   525  2583   815  -166   436  -776
   365   490    97   343   217  1094  -260  -534  1425  1982  1796   509  1079    91
  -587  -782 -1194  -594   370  -413  -684 -1049  -487   228   416   -34   -42   668
  1336   395   367  -143  -768  1192  -312 -1105    57   315   676   207 -1590 -2250
  -477  -730  -487  -594  -670  -473  -721  -855  -304  -397  -411  -386  -693  -220
   641   139  1772  -368  -948    23 -1109  -160  1091   -13  1253   190   982  -110
  -347   808  -370  -462   485  -203   414 -1021  -628   782   820   605  -486  -302
    71   322    58    96   727   722  -291  -648   -64   729  -443  -863  -289 -1127
    95   459   332  -439  -777   327  -617   196   -18   165   829    12   215  -553
  -272  -358  -451  -512  -255   -20  -633  -909  -293    89  -619 -1039  -498 -1681
  -547    69  -379  -672  -810  -109  -652 -1123  -214   912   608   155  -309  -858
  -177   481  -100  -636  -452   -41  -611 -1095   -46  1040   890   457  -515  -961
  -487  -675   386  -800 -1635  -323  -608 -1100    54  -623   277   -95  -715 -1842
  -521  -713  -446  -340  -568  -188  -458 -1113  -497  -222   649   300   -99 -1096
  -281    82  -363  -449  -219    48  -415  -795   -86   759   226    32  -302  -577
   524    86   572   416   395  1036   722   288   209  -497  1200   563    80  -339
   162   617  -105   721  1474   950  1008 -1045   116  1952   796   478  1507  -769
  -165   592   238   218   409   683   570  -922  -157  1520   459   284   116  -208
   463   230   218   478   263   263   146   -66   578   523   407    93   162  -142
"""
"""Thousandths of a token per occurrence: a row per feature, a column per family."""

WEIGHTS: Final = {
    family: tuple(int(row.split()[column]) / 1_000 for row in TABLE.strip().splitlines())
    for column, family in enumerate(FAMILIES)
}
"""The weights of every family, in tokens, in the order of ``FEATURES``."""


LETTER, UPPER, DIGIT, BLANK, NEWLINE, MARK, WIDE, CONSONANT = range(8)
"""The bit of every class; a letter may have three of them."""

CHUNK: Final = 16_384
"""Bytes per integer: fits the processor's cache, and is the size of the masks."""

LONGEST_TOKEN: Final = 125
"""Bytes: the longest tokens are runs of blanks, 128 of them in o200k, less a margin."""


def _class_of(byte: int) -> int:
    char = chr(byte)
    if byte >= 0x80:
        return 1 << WIDE
    if char.isalpha():
        consonant = char not in "aeiouyAEIOUY"
        return 1 << LETTER | char.isupper() << UPPER | consonant << CONSONANT
    if char.isdigit():
        return 1 << DIGIT
    if byte < 0x20 and char not in "\t\n\r":
        return 0
    return 1 << {" ": BLANK, "\t": BLANK, "\n": NEWLINE, "\r": NEWLINE}.get(char, MARK)


_CLASSES = bytes(map(_class_of, range(256)))
_PLANES = [int.from_bytes(bytes([1 << bit]) * CHUNK, "little") for bit in range(8)]
_BYTE = FEATURES.index("byte")
_WIDE_RUN = FEATURES.index("run of wide characters")
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_LEADS = bytes(range(0xC0, 0x100))


def estimate(text: str, family: str = DEFAULT_FAMILY) -> int:
    """
    Estimate how many tokens ``text`` takes.

    Args:
        text: Any string; lone surrogates and special-token text are plain characters.
        family: Vocabulary to imitate, a key of ``WEIGHTS``; an unknown one means o200k.

    Returns:
        Tokens: 0 for the empty text, at least 1 for any other.
    """
    if not text:
        return 0
    weights = WEIGHTS.get(family) or WEIGHTS[DEFAULT_FAMILY]
    counts = features(text)
    tokens: float = sum(map(mul, weights, counts))
    return max(round(tokens), ceil(counts[_BYTE] / LONGEST_TOKEN))


def features(text: str) -> list[int]:
    """Count the ``FEATURES`` of the weights; a text in ASCII has only the first ones."""
    wide = not text.isascii()
    data = text.encode("utf-8", "surrogatepass")
    if wide:
        data = data.translate(None, _CONTINUATIONS)  # leaves one byte a character
    totals = _chunk_counts(data[:CHUNK], wide)
    for start in range(CHUNK, len(data), CHUNK):
        totals = list(map(add, totals, _chunk_counts(data[start : start + CHUNK], wide)))
    counts = [1, len(data), data.count(b"_"), data.count(b"\\"), *totals]
    if wide:  # a run counts as one byte, whatever it holds: wide_counts counts that
        counts[_BYTE] = len(data.translate(None, _LEADS)) + counts[_WIDE_RUN]
        counts += wide_counts(text)
    return counts


def _chunk_counts(chunk: bytes, wide: bool) -> list[int]:
    here = int.from_bytes(chunk.translate(_CLASSES), "little")
    two = here & (here >> 8)  # followed by its own class
    four = two & (two >> 16)
    five = four & (two >> 24)
    ends = here ^ two  # last of its run
    letter, upper, digit, blank, newline, mark, _, consonant = _PLANES
    planes = [
        ends & letter,
        four & letter,
        ends & consonant,
        (five ^ (five & (five >> 8))) & consonant,
        _before(here, LETTER, UPPER),
        two & upper,
        ends & digit,
        here & digit,
        four & digit,
        here & blank,
        _before(here, BLANK, DIGIT),
        (two ^ (two & (two >> 8))) & blank,
        ends & mark,
        four & (four >> 32) & mark,
        _before(here, MARK, LETTER),
        _before(here, MARK, NEWLINE),
        ends & newline,
        _before(here, LETTER, DIGIT),
        _before(here, DIGIT, LETTER),
    ]
    if wide:
        planes += (
            ends & _PLANES[WIDE],
            _before(here, WIDE, NEWLINE),
            _before(here, NEWLINE, WIDE),
            _before(here, BLANK, WIDE),
        )
    return [plane.bit_count() for plane in planes]


def _before(here: int, first: int, second: int) -> int:
    """Keep the characters of class ``first`` whose next character is of class ``second``."""
    return here & (here >> (8 + second - first)) & _PLANES[first]


@dataclass(frozen=True, slots=True)
class EstimatedCounter:
    """
    Estimates tokens with fitted weights.

    Args:
        family: Vocabulary to imitate; one without weights of its own counts as o200k.
    """

    exact: ClassVar[bool] = False
    family: str = DEFAULT_FAMILY

    @property
    def name(self) -> str:
        """``estimate:`` and the family whose weights are used."""
        return f"estimate:{self.family if self.family in WEIGHTS else DEFAULT_FAMILY}"

    def count(self, text: str) -> int:
        """Estimate the tokens of ``text``: 0 for the empty text, never an exception."""
        return estimate(text, self.family)
