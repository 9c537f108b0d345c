"""
A worker process and its failures: it hangs, dies, or returns nonsense.

Requests and answers are JSON, one line each. Every wait has a deadline, every answer a size limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LARGEST_ANSWER = 512 * 2**20
"""Maximum size of one answer, in bytes."""

CHUNK = 1 << 16
NOWHERE = "http://127.0.0.1:9"
"""An address without a server, so that no library reaches a network."""


class Broken(RuntimeError):
    """The worker cannot continue; the message has the reason, in one sentence."""


class Worker:
    """A process that answers requests, in its own process group, which is killed as a whole."""

    def __init__(self, command: Sequence[str | Path], environ: dict[str, str]) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="foldline-peer-")
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the worker
        self._rest = b""
        try:
            self._process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                cwd=self._home.name,
                env=confined(self._home.name) | environ,
                start_new_session=True,
            )
        except OSError as error:
            self._home.cleanup()
            self._log.close()
            raise Broken(f"it could not be started: {error.strerror}") from error
        os.set_blocking(self._write_end, False)
        os.set_blocking(self._read_end, False)

    @property
    def _write_end(self) -> int:
        assert self._process.stdin is not None
        return self._process.stdin.fileno()

    @property
    def _read_end(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """
        Send a request and wait for its answer.

        Raises:
            Broken: There was no answer within the time, or it was not a JSON object.
        """
        return self._exchange(json.dumps(request).encode() + b"\n", seconds)

    def listen(self, seconds: float) -> dict[str, Any]:
        """Wait for an unsolicited message of the worker; see `ask`."""
        return self._exchange(b"", seconds)

    def _exchange(self, data: bytes, seconds: float) -> dict[str, Any]:
        until = time.monotonic() + seconds
        unsent = memoryview(data)
        with selectors.DefaultSelector() as ready:
            ready.register(self._read_end, selectors.EVENT_READ)
            if unsent:
                ready.register(self._write_end, selectors.EVENT_WRITE)
            while b"\n" not in self._rest:
                left = until - time.monotonic()
                if left <= 0:
                    raise Broken(f"no answer within {seconds:g} s")
                for key, _ in ready.select(left):
                    if key.fd == self._read_end:
                        self._read()
                        continue
                    unsent = unsent[self._write(unsent) :]
                    if not unsent:
                        ready.unregister(self._write_end)
        line, self._rest = self._rest.split(b"\n", 1)
        return _object(line)

    def _read(self) -> None:
        # Lines are long: pieces are joined once, not at every read.
        pieces = [self._rest]
        size = len(self._rest)
        while True:
            try:
                piece = os.read(self._read_end, CHUNK)
            except BlockingIOError:
                break
            if not piece:
                raise Broken(self._death())
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST_ANSWER:
                raise Broken(f"its answer is larger than {LARGEST_ANSWER} bytes")
            if b"\n" in piece:
                break
        self._rest = b"".join(pieces)

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._write_end, data[:CHUNK])
        except BlockingIOError:
            return 0
        except BrokenPipeError as error:
            raise Broken(self._death()) from error

    def _death(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - 4_096))
        lines = self._log.read().decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        code = self._process.returncode
        return f"the process ended with status {code}" + (f": {last[:200]}" if last else "")

    def close(self) -> None:
        """End the process and everything that it started."""
        # The group is killed even if its leader has ended: its children may still run.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        self._log.close()
        self._home.cleanup()


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Broken("its answer is not JSON") from error
    if not isinstance(value, dict):
        raise Broken("its answer is not a JSON object")
    return value


def confined(home: str) -> dict[str, str]:
    """Return the environment of a worker: no keys, no network, its own home."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), NOWHERE)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HF_HUB_OFFLINE": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        **proxies,
        **{name.lower(): value for name, value in proxies.items()},
    }
