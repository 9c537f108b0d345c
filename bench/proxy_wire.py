"""
Minimal HTTP/1.1 for measurements: a provider that streams at once, and a client.

    python bench/proxy_wire.py      prints the provider's address, and serves until stopped
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from time import perf_counter
from urllib.parse import urlsplit

EVENTS = 20
"""Number of events of an answer, besides the first and the last, sent without a pause."""


def stream() -> bytes:
    """Write an answer as Anthropic streams it."""
    usage = {"input_tokens": 10, "cache_read_input_tokens": 20_000, "output_tokens": 1}
    texts = [f"word {n} of the answer " * 8 for n in range(EVENTS)]
    events = [
        {"type": "message_start", "message": {"role": "assistant", "usage": usage}},
        *({"type": "content_block_delta", "delta": {"text": text}} for text in texts),
        {"type": "message_delta", "usage": {"output_tokens": 160}},
    ]
    written = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)
    return b"".join(f"{len(one):x}\r\n".encode() + one + b"\r\n" for one in written)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
ANSWER = HEAD + stream() + b"0\r\n\r\n"


async def serve() -> None:
    """Answer every request with the same stream."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length or 0))
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=1 << 20)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    await server.serve_forever()


@dataclass
class Line:
    """A connection that is kept open."""

    url: str
    _pair: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = field(default=None)

    async def ask(self, body: bytes) -> tuple[int, float, float]:
        """Send a request; return its status, and the seconds to its first and last byte."""
        place = urlsplit(self.url)
        if self._pair is None:
            self._pair = await asyncio.open_connection(place.hostname, place.port, limit=1 << 20)
        reader, writer = self._pair
        head = (
            f"POST /v1/messages HTTP/1.1\r\nhost: {place.netloc}\r\nx-api-key: none\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        began = perf_counter()
        writer.write(head.encode() + body)
        header = await reader.readuntil(b"\r\n\r\n")
        if b"transfer-encoding: chunked" not in header.lower():
            length = header.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            await reader.readexactly(int(length))
            return int(header.split()[1]), perf_counter() - began, perf_counter() - began
        first = 0.0
        while size := int(await reader.readline(), 16):
            first = first or perf_counter() - began
            await reader.readexactly(size + 2)
        await reader.readline()
        return int(header.split()[1]), first, perf_counter() - began

    def close(self) -> None:
        """Close the connection."""
        if self._pair is not None:
            self._pair[1].close()


if __name__ == "__main__":
    asyncio.run(serve())
