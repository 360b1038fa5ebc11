"""The examples do what they say."""

from pathlib import Path

from infoset import play_series

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_agent_for_pommerman_plays_without_faults_and_wins() -> None:
    careful = f"python:{EXAMPLES / 'pommerman_agent.py'}:Careful"
    duel = play_series("pommerman:OneVsOne-v0", [careful, "random"], games=10, rotate=True)
    assert duel.agents[0].wins >= 8
    radio = play_series("pommerman:PommeRadio-v2", [careful, "random"] * 2, games=1)
    assert not any(sum(score.faults.values()) for score in (*duel.agents, *radio.agents))
