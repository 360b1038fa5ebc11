"""The MCP server of ``infoset mcp``: games, solutions and tables as tools of language models (extra ``mcp``)."""
