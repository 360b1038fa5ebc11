"""An agent for Pommerman: leaves fire's way, bombs wood that it stands next to, and otherwise walks about.

Try it: infoset match "pommerman:OneVsOne-v0" python:examples/pommerman_agent.py:Careful random --games 20
"""

from infoset.pommerman.observation import Item, Seen

STEPS = {1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}  # up, down, left, right; 0 is stop, 5 lays a bomb
OPEN = {Item.Passage, Item.ExtraBomb, Item.IncrRange, Item.Kick}


class Careful:
    """Reads what it sees of each step, and keeps nothing else."""

    name = "careful"

    def begin(self, game, player, rng, deadline):
        self.rng, self.size = rng, game.config.size

    def observe(self, own_action, observation):
        if isinstance(observation, list | tuple):  # over the wire it is a list
            self.seen = Seen(*observation)

    def act(self, legal_actions, deadline):
        action = self.choose()
        return action if action in legal_actions else (action, 0, 0)  # on the radio it says nothing

    def end(self, returns):
        pass

    def choose(self):
        here, fire = self.seen.position, self.fire()
        if here in fire:
            return self.way_out(fire)
        beside = [self.board(cell) for _, cell in self.near(here)]
        if Item.Wood in beside and self.seen.ammo and self.way_out(fire | self.blast(here, self.seen.blast_strength)):
            return 5
        actions = [action for action, cell in self.near(here) if self.board(cell) in OPEN and cell not in fire]
        return actions[int(self.rng.integers(len(actions)))] if actions else 0

    def board(self, cell):
        return ord(self.seen.board[self.size * cell[0] + cell[1]])

    def near(self, cell):
        beside = [(action, (cell[0] + down, cell[1] + right)) for action, (down, right) in STEPS.items()]
        return [(action, (r, c)) for action, (r, c) in beside if 0 <= r < self.size and 0 <= c < self.size]

    def blast(self, cell, strength):
        """The cells that a bomb burns, as if nothing stood in the way."""
        reach = range(1 - strength, strength)
        return {(cell[0] + k, cell[1]) for k in reach} | {(cell[0], cell[1] + k) for k in reach}

    def fire(self):
        """The cells that burn, or that a bomb in view will burn."""
        cells = [divmod(k, self.size) for k in range(self.size**2)]
        burning = {cell for cell in cells if self.board(cell) == Item.Flames}
        bombs = [
            (cell, ord(text)) for cell, text in zip(cells, self.seen.bomb_blast_strength, strict=True) if ord(text)
        ]
        return burning.union(*[self.blast(*bomb) for bomb in bombs])

    def way_out(self, fire):
        """The first move of a shortest way to a cell without fire; 0 where there is none."""
        ways, infostate = [(0, self.seen.position)], {self.seen.position}
        for first, place in ways:
            if place not in fire:
                return first
            for action, cell in self.near(place):
                if self.board(cell) in OPEN and cell not in infostate:
                    infostate.add(cell)
                    ways.append((first or action, cell))
        return 0
