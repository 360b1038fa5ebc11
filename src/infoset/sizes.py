"""How large a game may be for what is done with it unasked: one table of limits, by what they count."""

# Histories
EXACT_AT_ONCE = 1_000  # exact methods solve such a game in milliseconds
LINEAR_PROGRAM = 20_000  # a linear program solves it in seconds
LUCK_REMOVED = 20_000  # luck is removed from a tournament's payoffs: every worker enumerates the histories
SOLVED_AT_ONCE = 300_000  # solved where a person waits to play
SAMPLES_EVALUATED = 300_000  # a sampled policy is evaluated on the tree, also while it is solved
FITTING_CHECKED = 1_000_000  # the tree is built to check whether a policy belongs to the game
PUBLIC_SUBGAME = 1_000_000  # the largest public subgame that is solved
SEARCHED_WHOLE = 2_000_000  # the agent ``search`` solves the whole tree, or one look-ahead
TEAM_PROOF = 2_000_000  # a proof of a team's optimum is tried
VALUES_SHOWN = 3_000_000  # the page shows the values of moves
TREE_PREFERRED = 3_000_000  # a tree is as good as the factored form; and one is built to count and compare a game

# Information sets
INFOSETS_LOCKED = 500_000  # a whole player is locked by listing them

# Entries of the matrices of all stages
STAGES_AS_TREE = 20_000  # such a game may have a tree, on which more methods work

# Probabilities of a vector form
ROWS_SOLVED_AT_ONCE = 3_000_000  # solved well where a person waits to play

# Joint private states
PUBLIC_STATES_TRIED = 1_000_000  # public states are examined without being asked for

# Positions, and moves in all of them
SOLVED_ON_PAGE = 300_000
MOVES_SOLVED_AT_ONCE = 50_000
ACTIONS_FOR_LEARNERS = 100_000  # enumerated for environments that name no moves

# Sequences
PIVOTING = 600  # complementary pivoting solves a two-player game in seconds
LOGIT_PATH = 300  # the logit path takes seconds
