"""
Statistics, compaction, retention and search over many sessions, on several cores or machines.

    from foldline.corpus import Scan, run
    report = run(Scan(), ["sessions", "s3://bucket/logs/**/*.jsonl"], "out", workers=4)
    report.totals["tokens"]

Processes are spawned: a program must call `run` under ``if __name__ ==
"__main__":``. ``client=`` takes a Dask client, any ``concurrent.futures`` executor, or a function
that computes a Dask graph.
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
