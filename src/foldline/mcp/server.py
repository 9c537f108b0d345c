"""The MCP server: tools of Foldline over the Model Context Protocol."""

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
"""The path of the server over HTTP."""

INSTRUCTIONS: Final = (
    "Older messages of a long conversation are replaced by a snapshot that names handles: "
    "'recall' returns the original text of a handle, whole or by grep, lines or a question. "
    "'search' finds text in all earlier sessions."
)


class Server(MCPServer[Any]):
    """
    An MCP server with tools of Foldline.

    Args:
        tools: The tools to offer.
        token: The bearer token required over HTTP; "" for none.
        address: Its own address over HTTP, required with a token.
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
        context: Context[Any, Any] | None = None,  # noqa: ARG002  # part of the overridden method
    ) -> CallToolResult:
        """Call a tool; any error is returned as a result that the model can read."""
        output = await self._box.arun(name, arguments)
        text = TextContent(type="text", text=output.text)
        return CallToolResult(content=[text], is_error=not output.ok)


def _auth_settings(address: str) -> AuthSettings:
    # Validated, because the addresses are strings.
    settings = {"issuer_url": address, "resource_server_url": address}
    return AuthSettings.model_validate({**settings, "validate_token_resource": False})


class _OneToken:
    """Accepts only the token that the server was started with."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def verify_token(self, token: str) -> AccessToken | None:
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        return AccessToken(token=token, client_id="foldline", scopes=[])


def serve_stdio(tools: Iterable[Tool]) -> None:
    """Serve on stdin and stdout until the client disconnects."""
    Server(tools).run("stdio")


def serve_http(tools: Iterable[Tool], host: str, port: int, token: str = "") -> None:
    """
    Serve over streamable HTTP until interrupted.

    Requests whose Host or Origin names another machine are refused: a page in a browser may have
    sent them.

    Args:
        tools: The tools to offer.
        host: The address to bind to.
        port: The port to bind to.
        token: The bearer token that clients must send; "" for none.
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
    read_only = "write" not in tool.labels
    hints = ToolAnnotations(read_only_hint=read_only, open_world_hint=False)
    schema, text = dict(tool.parameters), tool.description
    return McpTool(name=tool.name, description=text, input_schema=schema, annotations=hints)
