"""Routes of *Explore*."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.responses import StreamingResponse

from infoset.web.guard import SECURITY
from infoset.web.schemas import ASKED, WRITES, TablePieceRequest, wanted
from infoset.web.site import Answer, Question, Site


def _of(method: str) -> Answer:
    """Return a handler that passes a question on to the worker unchanged."""

    async def answer(site: Site, asked: dict[str, Any]) -> Any:
        return await site.studies.ask("explore", method, wanted(ASKED[method], asked))

    return answer


async def ready(site: Site, _: dict[str, Any]) -> Any:
    """Start the worker, since a strategy is about to be chosen."""
    return await site.studies.ask("explore", "ready")


async def table(site: Site, asked: dict[str, Any]) -> StreamingResponse:
    """Stream all rows of a strategy as a CSV file, piece by piece."""
    wish = wanted(TablePieceRequest, asked)
    text, after = msgspec.json.decode(await site.studies.ask("explore", "csv", wish))

    async def pieces() -> AsyncIterator[str]:
        piece, begin = text, after
        while True:
            yield piece
            if begin is None:
                return
            piece, begin = msgspec.json.decode(
                await site.studies.ask("explore", "csv", TablePieceRequest(wish.source, begin))
            )

    headers = {**SECURITY, "content-disposition": 'attachment; filename="strategy.csv"'}
    return StreamingResponse(pieces(), media_type="text/csv", headers=headers)


ANSWERS = {"csv": table, **{method: _of(method) for method in ASKED if method != "csv"}}
EXPLORE = (
    Question("/api/explore/ready", ready),
    *(Question(f"/api/explore/{method}", answer, method in WRITES) for method, answer in ANSWERS.items()),
)
