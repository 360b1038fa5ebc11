"""The view: the numbers as cards, face down until both are chosen."""


def whole(game, steps, actions):
    """Return a picture of everything after the last of ``steps``."""
    return _table(game, actions[-1].actions if actions else (None, None))


def seen(game, player, infostate, legal_actions):
    """Return a picture of what ``player`` knows."""
    own, other = infostate[-1] if infostate else (None, None)
    return _table(game, (own, other) if player == 0 else (other, own))


def describe_record(game, player, record, before):
    """Return in words what happened to ``player``."""
    return f"you choose {record[0]}, the other player {record[1]}"


def _table(game, numbers):
    def area(name, number):
        return {"title": name, "cards": [str(number)] if number else [], "hidden": int(not number), "note": ""}

    return {"kind": "table", "areas": list(map(area, game.players, numbers))}
