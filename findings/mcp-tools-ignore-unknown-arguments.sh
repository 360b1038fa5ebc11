#!/usr/bin/env bash
# Package: mcp 2.3.0, the official Python package of the Model Context Protocol.
# Behaviour: a tool of MCPServer that is called with an argument it does not have runs with its
# defaults, without an error or a warning, and the schema that the server publishes does not forbid further properties. A client
# that misspells an optional argument therefore gets a confident answer to another question. One would expect the schema made
# from a function's signature to be strict, as Python is when it calls that function.
# Seen: scale(number=3, facctor=10) returns 6, the answer for the default factor 2; the schema has no additionalProperties.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0
"$home/venv/bin/python" - <<'EOF'
import asyncio

from mcp import Client
from mcp.server import MCPServer

server = MCPServer("numbers")


@server.tool()
def scale(number: int, factor: int = 2) -> int:
    """Multiply a number."""
    return number * factor


async def call():
    async with Client(server) as client:
        (tool,) = (await client.list_tools()).tools
        found = await client.call_tool("scale", {"number": 3, "facctor": 10})
        return tool.input_schema, found


schema, found = asyncio.run(call())
text = found.content[0].text
print("strict schema:", "additionalProperties" in schema)
print("error:", found.is_error, "answer:", text)
raise SystemExit("additionalProperties" in schema or found.is_error or text != "6")
EOF
