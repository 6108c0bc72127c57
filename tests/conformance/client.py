"""Drives the server at sys.argv[1] with the official Python client; prints what it saw as JSON."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(command: str, url: str) -> dict:
    seen = {"progress": []}

    async def progress(value, _total, message):
        seen["progress"].append([value, message])

    async with Client(StdioServerParameters(command=command, args=[])) as client:
        tools = (await client.list_tools()).tools
        seen["tools"] = [tool.name for tool in tools]
        # The client checks data against the tool's schema by itself.
        read = await client.call_tool("read_file", {"path": "notes.txt", "limit": "1"})
        seen["read"] = read.structured_content
        missing = await client.call_tool("read_file", {"path": "none"})
        seen["missing"] = [missing.is_error, missing.content[0].text]
        image = await client.call_tool("read_file", {"path": "gauge.png"})
        seen["image"] = [[block.type, getattr(block, "mime_type", None)] for block in image.content]
        slow = {"url": url, "timeout": 3}
        late = await client.call_tool("browser_navigate", slow, progress_callback=progress)
        seen["late"] = late.is_error
        calls = [client.call_tool("read_file", {"path": "notes.txt"}) for _ in range(64)]
        seen["at_once"] = sum(not result.is_error for result in await asyncio.gather(*calls))
        cancelled = asyncio.create_task(client.call_tool("browser_navigate", {"url": url, "timeout": 300}))
        await asyncio.sleep(1)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        seen["after"] = (await client.call_tool("project_info", {})).is_error
    return seen


print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2]))))
