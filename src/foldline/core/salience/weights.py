"""The fitted weights of `score`; written by ``bench/fit_salience.py``."""

BIAS = 1.3417
WEIGHTS = (
    1.0764,
    -0.2144,
    -0.0619,
    -0.3414,
    -0.0008,
    -0.2854,
    -1.2066,
    -0.2051,
    -0.0478,
    -0.2198,
    -0.0314,
)
KIND = {
    "path": 0.0447,
    "dotted": 0.3854,
    "snake": 0.4658,
    "camel": 0.5702,
    "flag": 0.5339,
    "number": -0.1001,
    "hash": -0.8439,
    "upper": 0.2810,
}
