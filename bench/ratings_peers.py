"""One run of another tool on games: `ratings_peers.py TASK`, TASK a JSON object, one JSON object on standard output.

Seconds are those of rating alone; `prepare` is what the tool needs to turn arrays of item numbers and outcomes into what it eats.
Tools that take one game after the other stop after `budget` seconds and say how many games they did.
"""

import importlib.metadata
import json
import sys
import time

import numpy as np

CHUNK = 10_000


def version(package):
    return f"{package} {importlib.metadata.version(package)}"


def load(task):
    file = np.load(task["games"])
    return file["left"], file["right"], file["outcome"], len(file["r"])


def timed(work):
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


# One game after the other.

def game_by_game(task, package, players, play, strength):
    """`play(players, left, right, outcome)` for every game; strengths are for comparing the order alone."""
    left, right, outcome, n = load(task)
    who, prepare = timed(lambda: players(n))
    games = list(zip(left.tolist(), right.tolist(), outcome.tolist()))
    done, start = 0, time.perf_counter()
    while done < len(games) and time.perf_counter() - start < task["budget"]:
        play(who, games[done : done + CHUNK])
        done += CHUNK
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "prepare": prepare, "games": min(done, len(games)), "version": version(package)}, [strength(one) for one in who]


def elote(name, **settings):
    def run(task):
        import logging

        import elote

        logging.disable(logging.CRITICAL)
        kind = getattr(elote, name)
        if name == "TrueSkillCompetitor":
            kind._draw_probability = task["ties"]

        def play(who, games):
            for left, right, outcome in games:
                if outcome < 0:
                    who[left].beat(who[right])
                elif outcome > 0:
                    who[right].beat(who[left])
                else:
                    who[left].tied(who[right])

        strength = (lambda one: one.mu) if name == "TrueSkillCompetitor" else (lambda one: one.rating)
        return game_by_game(task, "elote", lambda n: [kind(**settings) for _ in range(n)], play, strength)

    return run


def openskill(name):
    def run(task):
        import openskill.models

        model = getattr(openskill.models, name)()
        ranks = {-1: [1, 2], 0: [1, 1], 1: [2, 1]}

        def play(who, games):
            for left, right, outcome in games:
                (who[left],), (who[right],) = model.rate([[who[left]], [who[right]]], ranks=ranks[outcome])

        return game_by_game(task, "openskill", lambda n: [model.rating() for _ in range(n)], play, lambda one: one.mu)

    return run


def trueskill(task):
    import trueskill

    setting = trueskill.TrueSkill(draw_probability=task["ties"])
    rate = trueskill.rate_1vs1

    def play(who, games):
        for left, right, outcome in games:
            if outcome > 0:
                who[right], who[left] = rate(who[right], who[left], env=setting)
            else:
                who[left], who[right] = rate(who[left], who[right], drawn=outcome == 0, env=setting)

    return game_by_game(task, "trueskill", lambda n: [setting.create_rating() for _ in range(n)], play, lambda one: one.mu)


# evalica: its functions take lists of items and winners; the index of items is given to them.

def evalica_input(task):
    import pandas as pd
    from evalica import Winner

    left, right, outcome, n = load(task)
    winner = {-1: Winner.X, 0: Winner.Draw, 1: Winner.Y}
    return left.tolist(), right.tolist(), [winner[one] for one in outcome.tolist()], pd.Index(range(n))


def evalica_elo(task):
    import evalica

    (xs, ys, winners, index), prepare = timed(lambda: evalica_input(task))
    found, seconds = timed(lambda: evalica.elo(xs, ys, winners, index=index, initial=1500.0, k=32.0, solver="pyo3"))
    answer = found.scores.reindex(index).to_numpy()
    return {"seconds": seconds, "prepare": prepare, "games": len(xs), "version": version("evalica")}, answer


def evalica_elo_core(task):
    """The compiled part of evalica.elo alone, which is not for users."""
    from evalica import _brzo

    (xs, ys, winners, index), prepare = timed(lambda: evalica_input(task))
    weights = [1.0] * len(xs)
    answer, seconds = timed(lambda: _brzo.elo(xs=xs, ys=ys, winners=winners, weights=weights, total=len(index), initial=1500.0,
                                              base=10.0, scale=400.0, k=32.0, win_weight=1.0, tie_weight=0.5))
    return {"seconds": seconds, "prepare": prepare, "games": len(xs), "version": version("evalica")}, answer


def evalica_fit(task):
    import evalica

    (xs, ys, winners, index), prepare = timed(lambda: evalica_input(task))
    method = getattr(evalica, task["method"])
    found, seconds = timed(lambda: method(xs, ys, winners, index=index, solver="pyo3", **task["settings"]))
    scores = found.scores.reindex(index).to_numpy()
    nu = 2 * float(found.v) if task["method"] == "newman" else None
    with np.errstate(all="ignore"):
        answer = np.log(scores)
    return {"seconds": seconds, "prepare": prepare, "games": len(xs), "iterations": found.iterations, "nu": nu,
            "version": version("evalica")}, answer


def evalica_bootstrap(task):
    import evalica

    (xs, ys, winners, index), prepare = timed(lambda: evalica_input(task))
    found, seconds = timed(lambda: evalica.bootstrap(evalica.bradley_terry, xs, ys, winners, index=index, solver="pyo3",
                                                     n_resamples=task["resamples"], bootstrap_method="percentile", random_state=0,
                                                     **task["settings"]))
    ends = lambda side: np.log(side.reindex(index).to_numpy())
    return {"seconds": seconds, "prepare": prepare, "version": version("evalica")}, ends(found.high) - ends(found.low)


def evalica_loop(task):
    """Its fit on counts of every (left, right, outcome), drawn anew: the best that its interface allows."""
    import evalica
    import pandas as pd

    left, right, outcome, n = load(task)

    def prepared():
        rows, counts = np.unique(np.stack([left, right, outcome.astype(np.int32)]), axis=1, return_counts=True)
        winner = {-1: evalica.Winner.X, 0: evalica.Winner.Draw, 1: evalica.Winner.Y}
        return rows[0].tolist(), rows[1].tolist(), [winner[one] for one in rows[2].tolist()], counts

    (xs, ys, winners, counts), prepare = timed(prepared)
    index, random = pd.Index(range(n)), np.random.default_rng(0)

    def resampled():
        drawn = random.multinomial(len(left), counts / counts.sum()).astype(float)
        found = evalica.bradley_terry(xs, ys, winners, index=index, weights=drawn, solver="pyo3", **task["settings"])
        return np.log(found.scores.reindex(index).to_numpy())

    return loop(task, resampled, prepare, "evalica")


def loop(task, resampled, prepare, package):
    """As many resamples as were asked for, or as the budget allows; the widths of the percentile intervals."""
    start, found = time.perf_counter(), []
    while len(found) < task["resamples"] and time.perf_counter() - start < task["budget"]:
        found.append(resampled())
    seconds = time.perf_counter() - start
    low, high = np.quantile(np.array(found), [0.025, 0.975], axis=0)
    return {"seconds": seconds, "prepare": prepare, "resamples": len(found), "version": version(package)}, high - low


# choix: knows no ties; half a win for either side is half a count in the matrix, or every other game twice.

def wins_matrix(left, right, outcome, n, counts=None):
    matrix = np.zeros((n, n))
    counts = np.ones(len(left)) if counts is None else counts
    np.add.at(matrix, (left, right), counts * (1 - outcome) / 2)
    np.add.at(matrix, (right, left), counts * (1 + outcome) / 2)
    return matrix


def choix_dense(task):
    import choix

    left, right, outcome, n = load(task)
    matrix, prepare = timed(lambda: wins_matrix(left, right, outcome, n))
    answer, seconds = timed(lambda: choix.ilsr_pairwise_dense(matrix, alpha=0.0))
    return {"seconds": seconds, "prepare": prepare, "games": len(left), "version": version("choix")}, answer


def twice(left, right, outcome):
    """A list of (better, worse): every game twice, a tie once for either side."""
    data = []
    for a, b, who in zip(left.tolist(), right.tolist(), outcome.tolist()):
        data += [(a, b), (a, b)] if who < 0 else [(b, a), (b, a)] if who > 0 else [(a, b), (b, a)]
    return data


def choix_opt(task):
    import choix

    left, right, outcome, n = load(task)
    data, prepare = timed(lambda: twice(left, right, outcome))
    answer, seconds = timed(lambda: choix.opt_pairwise(n, data, alpha=0.0, method=task["method"]))
    return {"seconds": seconds, "prepare": prepare, "games": len(left), "version": version("choix")}, answer


def choix_loop(task):
    import choix

    left, right, outcome, n = load(task)
    (rows, counts), prepare = timed(
        lambda: np.unique(np.stack([left, right, outcome.astype(np.int32)]), axis=1, return_counts=True))
    random = np.random.default_rng(0)

    def resampled():
        drawn = random.multinomial(len(left), counts / counts.sum()).astype(float)
        return choix.ilsr_pairwise_dense(wins_matrix(*rows, n, drawn), alpha=0.0)

    return loop(task, resampled, prepare, "choix")


# arena-rank: Bradley and Terry's model, a tie is an outcome of one half.

def arena_input(task):
    import jax.numpy as jnp
    import pandas as pd
    from arena_rank.utils.data_utils import PairDataset

    left, right, outcome, n = load(task)
    table = pd.DataFrame({"model_a": left, "model_b": right, "winner": np.array(["model_a", "tie", "model_b"])[outcome + 1]})

    def prepared():
        data = PairDataset.from_pandas(table)
        jnp.asarray(data.opt_weights).block_until_ready()
        return data

    data, prepare = timed(prepared)
    assert list(data.competitors) == list(range(n)), "an item without a game"
    return data, prepare, n


def arena_fit(task):
    from arena_rank.models.bradley_terry import BradleyTerry

    data, prepare, n = arena_input(task)
    model = BradleyTerry(n, **task["settings"])
    answer, seconds = timed(lambda: np.asarray(model.fit(data).params["ratings"]))
    return {"seconds": seconds, "prepare": prepare, "games": int(data.counts.sum()), "version": version("arena-rank")}, answer


def arena_intervals(task):
    import multiprocessing

    # Its pool of processes hangs if they are forked, as they are where nothing else is said: JAX has threads by then.
    multiprocessing.set_start_method("spawn")
    from arena_rank.models.bradley_terry import BradleyTerry

    data, prepare, n = arena_input(task)
    model = BradleyTerry(n)

    def work():
        settings = {"num_bootstrap": task["resamples"], "n_jobs": task["threads"]} if task["method"] == "bootstrap" else {}
        found = model.compute_ratings_and_cis(data, ci_method=task["method"], **settings)
        return (np.asarray(found["rating_upper"]) - np.asarray(found["rating_lower"])) / model.alpha

    widths, seconds = timed(work)
    return {"seconds": seconds, "prepare": prepare, "resamples": task["resamples"], "version": version("arena-rank")}, widths


TOOLS = {
    "evalica.elo": evalica_elo,
    "evalica.elo, compiled part alone": evalica_elo_core,
    "elote Elo": elote("EloCompetitor", initial_rating=1500, k_factor=32),
    "elote Glicko": elote("GlickoCompetitor"),
    "elote Glicko-2": elote("Glicko2Competitor"),
    "elote TrueSkill": elote("TrueSkillCompetitor"),
    "openskill PlackettLuce": openskill("PlackettLuce"),
    "openskill BradleyTerryFull": openskill("BradleyTerryFull"),
    "trueskill": trueskill,
    "evalica": evalica_fit,
    "choix ilsr": choix_dense,
    "choix opt": choix_opt,
    "arena-rank": arena_fit,
    "arena-rank intervals": arena_intervals,
    "evalica.bootstrap": evalica_bootstrap,
    "evalica loop": evalica_loop,
    "choix loop": choix_loop,
}

if __name__ == "__main__":
    described = json.loads(sys.argv[1])
    report, found = TOOLS[described["tool"]](described)
    np.save(described["answer"], np.asarray(found, dtype=float))
    print(json.dumps(report))
