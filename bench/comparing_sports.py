"""What is known of teams and players before they meet, replayed from their earlier results."""

import numpy as np

HOME_ADVANTAGE = 85.0
START = 1500.0


def expected(difference):
    """The share of points that Elo expects at a difference in rating."""
    return 1.0 / (1.0 + 10.0 ** (-difference / 400.0))


class Elo:
    """Ratings that move more after a clear win."""

    def __init__(self, step):
        self.step = step
        self.ratings = {}

    def of(self, team):
        return self.ratings.get(team, START)

    def play(self, home, away, goals_home, goals_away, at_home):
        difference = self.of(home) + HOME_ADVANTAGE * at_home - self.of(away)
        points = 0.5 + 0.5 * np.sign(goals_home - goals_away)
        clear = 1.0 + np.log1p(max(abs(goals_home - goals_away) - 1.0, 0.0))
        change = self.step * clear * (points - expected(difference))
        self.ratings[home], self.ratings[away] = self.of(home) + change, self.of(away) - change


class Form:
    """Running means over a team's matches, newer ones counting more."""

    NEVER_PLAYED_REST, LONGEST_REST = 60.0, 365

    def __init__(self):
        self.n_matches = 0
        self.scored = self.conceded = self.scored_long = self.conceded_long = 1.2
        self.points = self.points_long = 1.3
        self.ties = 0.25
        self.last = None

    def features(self, today):
        rest = self.NEVER_PLAYED_REST if self.last is None else min((today - self.last).days, self.LONGEST_REST)
        return [np.log1p(self.n_matches), self.scored, self.conceded, self.points, self.points - self.points_long, self.ties,
                self.scored_long, self.conceded_long, rest]

    def play(self, today, scored, conceded):
        points = 3.0 if scored > conceded else 1.0 if scored == conceded else 0.0
        moves = (("scored", 0.1, scored), ("conceded", 0.1, conceded), ("points", 0.2, points), ("points_long", 0.05, points),
                 ("ties", 0.05, float(scored == conceded)), ("scored_long", 0.03, scored), ("conceded_long", 0.03, conceded))
        for name, share, value in moves:
            mean = getattr(self, name)
            setattr(self, name, mean + share * (value - mean))
        self.n_matches += 1
        self.last = today


def before_each_match(home, away, goals, at_home, dates):
    """Two Elo ratings, a slow and a fast one, and the form of both teams before each match; matches in order of time."""
    elos, forms = (Elo(20.0), Elo(50.0)), {}
    sides = np.zeros((2, len(home), 11))
    for k, (teams, scored, ground, today) in enumerate(zip(zip(home, away), goals, at_home, dates)):
        both = [forms.setdefault(team, Form()) for team in teams]
        for side, team, form in zip(sides, teams, both):
            side[k] = [*(elo.of(team) / 400.0 for elo in elos), *form.features(today)]
        for elo in elos:
            elo.play(*teams, *scored, ground)
        both[0].play(today, scored[0], scored[1])
        both[1].play(today, scored[1], scored[0])
    return sides


UNKNOWN, USUAL_STEP = 2050.0, 25.0


class Player:
    """One chess player: the official rating, one that follows the results month by month, and habits."""

    def __init__(self, official):
        self.is_listed = official is not None
        self.official = float(official["Rating"]) if self.is_listed else UNKNOWN
        self.step = float(official["KFactor"]) if self.is_listed else USUAL_STEP
        self.listed_games = float(official["NumGames"]) if self.is_listed else 0.0
        self.rating = self.official if self.is_listed else None
        self.n_games = self.n_ties = 0
        self.met = []

    def current(self):
        return UNKNOWN if self.rating is None else self.rating

    def features(self, has_white):
        ties = (self.n_ties + 1.0) / (self.n_games + 4.0) if self.n_games else 0.25
        return [self.official / 400.0, self.current() / 400.0, self.is_listed, self.rating is not None, np.log1p(self.listed_games),
                self.step / 10.0, has_white, np.log1p(self.n_games), ties]

    def end_month(self):
        """The new rating from (opponent's rating before the month, points) of its games."""
        if not self.met:
            return
        opponents, points = np.array(self.met).T
        if self.rating is not None:
            self.rating += self.step * np.sum(points - expected(self.rating - opponents))
        else:
            performance = opponents.sum() + 0.8 * 400.0 * np.sum(2.0 * points - 1.0)
            self.rating = (2.0 * UNKNOWN + performance) / (len(points) + 2.0)
        self.n_games += len(points)
        self.n_ties += int(np.sum(points == 0.5))
        self.met = []


def before_each_month(games, listed):
    """Features of white and black as they stood when the month of each game began."""
    official = listed.to_dict("index")
    names = {*games["WhitePlayer"], *games["BlackPlayer"]}
    players = {name: Player(official.get(name)) for name in names}
    white, black = np.zeros((2, len(games), 9))
    for _, month in games.groupby("MonthID"):
        met = [(k, players[a], players[b], points) for k, a, b, points in
               zip(month.index, month["WhitePlayer"], month["BlackPlayer"], month["WhiteScore"])]
        for k, left, right, points in met:
            white[k], black[k] = left.features(1.0), right.features(0.0)
            left.met.append((right.current(), points))
            right.met.append((left.current(), 1.0 - points))
        for player in players.values():
            player.end_month()
    return white, black
