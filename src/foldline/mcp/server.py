"""The MCP server: tools of Foldline in the words of the Model Context Protocol."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Any, Final

from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from mcp.types import Tool as McpTool

import foldline
from foldline.tools.spec import Tool, Toolbox

PATH: Final = "/mcp"
"""Where the server answers over HTTP."""

INSTRUCTIONS: Final = (
    "Older messages of a long conversation stand in a snapshot that names handles: 'recall' "
    "returns what was really said under one, whole or by grep, lines or a question. 'search' "
    "finds what was said in any session before."
)


class Server(MCPServer[Any]):
    """
    An MCP server with tools of Foldline.

    Args:
        tools: What it offers.
        token: What a client has to send as its bearer token over HTTP; "" for none.
        address: Its own address over HTTP, which goes with a token.
    """

    def __init__(self, tools: Iterable[Tool], *, token: str = "", address: str = "") -> None:
        self._box = Toolbox(tools)
        super().__init__(
            "foldline",
            title="Foldline",
            instructions=INSTRUCTIONS,
            version=foldline.__version__,
            log_level="WARNING",
            token_verifier=_OneToken(token) if token else None,
            auth=_auth_settings(address) if token else None,
        )

    async def list_tools(self) -> list[McpTool]:
        """List the tools."""
        return [_describe(tool) for tool in self._box]

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None = None,  # noqa: ARG002  # of the class above
    ) -> CallToolResult:
        """Call a tool; whatever goes wrong is a result for the model to read."""
        output = await self._box.arun(name, arguments)
        text = TextContent(type="text", text=output.text)
        return CallToolResult(content=[text], is_error=not output.ok)


def _auth_settings(address: str) -> AuthSettings:
    # Validated, since the addresses are given as text.
    settings = {"issuer_url": address, "resource_server_url": address}
    return AuthSettings.model_validate({**settings, "validate_token_resource": False})


class _OneToken:
    """Accepts the token that the server was started with."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def verify_token(self, token: str) -> AccessToken | None:
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        return AccessToken(token=token, client_id="foldline", scopes=[])


def serve_stdio(tools: Iterable[Tool]) -> None:
    """Answer on stdin and stdout until the client hangs up."""
    Server(tools).run("stdio")


def serve_http(tools: Iterable[Tool], host: str, port: int, token: str = "") -> None:
    """
    Answer over streamable HTTP until interrupted.

    Requests whose Host or Origin names another machine are refused, as a page in a browser may
    send them.

    Args:
        tools: What to offer.
        host: The address to bind to.
        port: Of it.
        token: What clients have to send as their bearer token; "" for none.
    """
    named = f"[{host}]" if ":" in host else host
    address = f"http://{named}:{port}"
    hosts = [f"{named}:{port}", *(f"{one}:{port}" for one in ("127.0.0.1", "localhost", "[::1]"))]
    origins = [f"http://{one}" for one in hosts]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
    Server(tools, token=token, address=f"{address}{PATH}").run(
        "streamable-http",
        host=host,
        port=port,
        streamable_http_path=PATH,
        stateless_http=True,
        transport_security=security,
    )


def _describe(tool: Tool) -> McpTool:
    looks = "write" not in tool.labels
    hints = ToolAnnotations(read_only_hint=looks, open_world_hint=False)
    schema, text = dict(tool.parameters), tool.description
    return McpTool(name=tool.name, description=text, input_schema=schema, annotations=hints)
