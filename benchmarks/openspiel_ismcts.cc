// OpenSpiel's ISMCTSBot for games whose states cannot be sampled anew there (phantom_ttt, dark_hex, liars_dice,
// goofspiel): the same bot, with a sampler of worlds given to it, which Python cannot do.  Compiled by rivals.py against
// the headers that come with the wheel; the code of the bot and of the games is that in pyspiel itself.
//
// A world is drawn from what the player knows alone: its information states at its own decisions, and what it did there.
// From the start of the game on, chance moves by its chances and the others uniformly at random until the player is to
// move; what leads to another information state than the one remembered is taken back and another way tried, in random
// order, and after so many states the world is begun anew.
// At most half of the time goes into new worlds, of which there are at most 10,000; otherwise one that was found in this
// search is used again.

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "open_spiel/algorithms/is_mcts.h"
#include "open_spiel/algorithms/mcts.h"
#include "open_spiel/spiel.h"
#include "open_spiel/spiel_utils.h"

namespace {

using namespace open_spiel;  // NOLINT
using Clock = std::chrono::steady_clock;
using World = std::unique_ptr<State>;

constexpr int kAttempts = 10000;
constexpr size_t kWorlds = 10000;
constexpr int kStates = 2000;  // looked at in one attempt

double Since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// What a player knows where it is to move.
struct Known {
  std::string information;
  Action action;  // what it did there; kInvalidAction for the last one
};

class Sampler {
 public:
  Sampler(std::shared_ptr<const Game> game, int seed) : game_(std::move(game)), rng_(seed) {}

  // A search from `state` begins.
  void Begin(const State& state) {
    player_ = state.CurrentPlayer();
    known_.clear();
    World past = game_->NewInitialState();
    for (const auto& [player, action] : state.FullHistory()) {
      if (player == player_) known_.push_back({past->InformationStateString(player_), action});
      past->ApplyAction(action);
    }
    known_.push_back({state.InformationStateString(player_), kInvalidAction});
    worlds_.clear();
    drawn_ = 0;
    spent_ = 0;
    begun_ = Clock::now();
  }

  World Draw() {
    if (worlds_.size() == kWorlds || (!worlds_.empty() && spent_ > 0.5 * Since(begun_))) {
      return worlds_[std::uniform_int_distribution<size_t>(0, worlds_.size() - 1)(rng_)]->Clone();
    }
    const auto start = Clock::now();
    World world;
    for (int k = 0; k < kAttempts && !world; ++k) {
      left_ = kStates;
      world = Search(*game_->NewInitialState(), 0);
    }
    SPIEL_CHECK_TRUE(world != nullptr);
    worlds_.push_back(world->Clone());
    ++drawn_;
    spent_ += Since(start);
    return world;
  }

  std::int64_t drawn() const { return drawn_; }

 private:
  // From `state`, between the player's decisions `k - 1` and `k`, to its last one; nothing where no way was found.
  World Search(const State& state, size_t k) {
    if (state.IsTerminal() || --left_ < 0) return nullptr;
    if (state.CurrentPlayer() == player_) {
      if (state.InformationStateString(player_) != known_[k].information) return nullptr;
      return k + 1 == known_.size() ? state.Clone() : Search(*state.Child(known_[k].action), k + 1);
    }
    ActionsAndProbs open;
    if (state.IsChanceNode()) {
      open = state.ChanceOutcomes();
    } else {
      for (Action action : state.LegalActions()) open.push_back({action, 1.0});
    }
    while (!open.empty()) {
      double total = 0;
      for (const auto& entry : open) total += entry.second;
      double point = std::uniform_real_distribution<double>(0, total)(rng_);
      size_t place = 0;
      while (place + 1 < open.size() && (point -= open[place].second) >= 0) ++place;
      if (World found = Search(*state.Child(open[place].first), k)) return found;
      open.erase(open.begin() + place);
    }
    return nullptr;
  }

  std::shared_ptr<const Game> game_;
  std::mt19937 rng_;
  Player player_ = kInvalidPlayer;
  std::vector<Known> known_;
  std::vector<World> worlds_;
  std::int64_t drawn_ = 0;
  int left_ = 0;  // states that this attempt may still look at
  double spent_ = 0;
  Clock::time_point begun_;
};

// Counts the simulations: each ends in one evaluation, or at the end of the game, which is not evaluated.
struct Rival {
  std::shared_ptr<const Game> game;
  Sampler sampler;
  std::unique_ptr<algorithms::ISMCTSBot> bot;
  std::int64_t simulations = 0;

  Rival(const std::string& name, int seed, double uct_c, double seconds, bool most_visited)
      : game(LoadGame(name)), sampler(game, seed) {
    bot = std::make_unique<algorithms::ISMCTSBot>(
        seed, std::make_shared<algorithms::RandomRolloutEvaluator>(1, seed), uct_c, 1 << 30,
        algorithms::kUnlimitedNumWorldSamples,
        most_visited ? algorithms::ISMCTSFinalPolicyType::kMaxVisitCount
                     : algorithms::ISMCTSFinalPolicyType::kNormalizedVisitCount,
        false, false, seconds);
    bot->SetResampler([this](const State&, Player, std::function<double()>) {
      ++simulations;
      return sampler.Draw();
    });
  }
};

}  // namespace

extern "C" {

void* ismcts_new(const char* game, int seed, double uct_c, double seconds, int most_visited) {
  try {
    return new Rival(game, seed, uct_c, seconds, most_visited != 0);
  } catch (...) {
    return nullptr;
  }
}

void ismcts_delete(void* bot) { delete static_cast<Rival*>(bot); }

// The action after a history; -1 where something failed.  `counts`: simulations and worlds drawn for it.
std::int64_t ismcts_step(void* handle, const std::int64_t* history, int length, std::int64_t* counts) {
  try {
    Rival& bot = *static_cast<Rival*>(handle);
    World state = bot.game->NewInitialState();
    for (int k = 0; k < length; ++k) state->ApplyAction(history[k]);
    bot.sampler.Begin(*state);
    bot.simulations = 0;
    const Action action = bot.bot->Step(*state);
    counts[0] = bot.simulations;
    counts[1] = bot.sampler.drawn();
    return action;
  } catch (...) {
    return -1;
  }
}

// What the sampler makes of a history: one world's history, at most `room` long; its length, or -1.
int ismcts_world(void* handle, const std::int64_t* history, int length, std::int64_t* world, int room) {
  try {
    Rival& bot = *static_cast<Rival*>(handle);
    World state = bot.game->NewInitialState();
    for (int k = 0; k < length; ++k) state->ApplyAction(history[k]);
    bot.sampler.Begin(*state);
    const std::vector<Action> found = bot.sampler.Draw()->History();
    if (static_cast<int>(found.size()) > room) return -1;
    for (size_t k = 0; k < found.size(); ++k) world[k] = found[k];
    return static_cast<int>(found.size());
  } catch (...) {
    return -1;
  }
}
}
