"""The questions of *Explore*."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.responses import StreamingResponse

from infoset.web.app import Answer, Question, Site, wanted
from infoset.web.guard import SECURITY
from infoset.web.wishes import Number, Of, Rows, View, Wish


def _of(method: str, kind: Any) -> Answer:
    """Asked of the worker with what ``kind`` holds."""

    async def answer(site: Site, asked: dict[str, Any]) -> Any:
        return await site.studies.ask("explore", method, wanted(kind, asked))

    return answer


async def ready(site: Site, _: dict[str, Any]) -> Any:
    """Begin the worker: somebody is about to choose a strategy."""
    return await site.studies.ask("explore", "ready")


async def table(site: Site, asked: dict[str, Any]) -> StreamingResponse:
    """All rows of a strategy as a file, piece by piece."""
    wish = wanted(Of, asked)
    text, after = msgspec.json.decode(await site.studies.ask("explore", "csv", wish, 0))

    async def pieces() -> AsyncIterator[str]:
        piece, begin = text, after
        while True:
            yield piece
            if begin is None:
                return
            piece, begin = msgspec.json.decode(await site.studies.ask("explore", "csv", wish, begin))

    headers = {**SECURITY, "content-disposition": 'attachment; filename="strategy.csv"'}
    return StreamingResponse(pieces(), media_type="text/csv", headers=headers)


EXPLORE = (
    Question("/api/explore/ready", ready),
    Question("/api/explore/open", _of("open", Of)),
    Question("/api/explore/node", _of("node", Rows)),
    Question("/api/explore/values", _of("values", Of)),
    Question("/api/explore/differences", _of("differences", View)),
    Question("/api/explore/csv", table),
    Question("/api/explore/task", _of("task", Number)),
    Question("/api/explore/solve", _of("solve", Wish), writes=True),
    Question("/api/explore/cancel", _of("cancel", Number), writes=True),
)
