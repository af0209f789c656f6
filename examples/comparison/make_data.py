#!/usr/bin/env python3
"""Makes the tables of this example: wines.csv, tastings.csv, held_out.csv and tonight.csv.

    python3 make_data.py [DIRECTORY]      (default: where this script is)

Wines, tasters and judgments are invented. A wine's worth is a curved function of its numbers: too little and too much
are both bad. A taster perceives the difference of two wines with some noise of her own and calls what is too small for
her a tie. The same bytes on every machine: of the standard library's generator only random() is used, whose numbers are
promised to stay the same.
"""

import csv
import math
import pathlib
import random
import sys

SEED = 151
YEAR = 2024
N_WINES = 40
N_TASTINGS, N_HELD_OUT, N_TONIGHT = 50, 20, 12  # the first two for every taster

HOUSES = [
    "Almendra", "Bellacosta", "Carrefosse", "Dornach", "Estrevel", "Falkenried", "Granvaux", "Hochrain", "Isolabruna",
    "Jasperthal", "Kirschau", "Lamorelle", "Montarse", "Nerovalle", "Oltrebosco", "Pedralva", "Quintarol", "Rocaverde",
    "Sonnhalde", "Tornesca",
]
# How large a difference each taster needs to call one wine better, and how much her impressions vary.
TASTERS = {
    "Ada": (0.25, 0.20), "Bruno": (0.60, 0.40), "Chiara": (0.30, 0.25), "Dmitri": (0.75, 0.50),
    "Elif": (0.40, 0.25), "Farid": (0.50, 0.45), "Greta": (0.30, 0.20), "Hugo": (0.90, 0.55),
    "Ines": (0.45, 0.30), "Jonas": (0.60, 0.45), "Keiko": (0.25, 0.25), "Luca": (0.50, 0.40),
}


class Dice:
    """Random numbers made of random() alone."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def normal(self):
        return math.sqrt(-2.0 * math.log(1.0 - self.random())) * math.cos(2.0 * math.pi * self.random())

    def below(self, n):
        return int(n * self.random())


def make_wines(dice):
    """Ripe years have more alcohol and less acid; old and good bottles cost more."""
    wines = []
    for k in range(N_WINES):
        ripeness, style = dice.normal(), dice.normal()
        age = min(1 + int(3.0 * abs(dice.normal()) + 5.0 * dice.random()), 15)
        alcohol = min(max(13.2 + 0.65 * ripeness + 0.25 * dice.normal(), 11.5), 15.2)
        acidity = min(max(5.9 - 0.45 * ripeness + 0.40 * dice.normal(), 4.4), 7.6)
        sugar = min(max(math.exp(0.9 + 0.45 * style), 0.8), 9.0)
        tannin = min(max(2.6 - 0.5 * style + 0.35 * ripeness + 0.4 * dice.normal() - 0.05 * age, 0.8), 4.5)
        wine = {
            "id": f"{HOUSES[k % len(HOUSES)]} {YEAR - age}",
            "alcohol": round(alcohol, 1),
            "acidity": round(acidity, 2),
            "sugar": round(sugar, 1),
            "tannin": round(tannin, 1),
            "age": age,
        }
        price = math.exp(2.5 + 0.25 * worth(wine) + 0.055 * age + 0.25 * dice.normal())
        wine["price"] = round(price + 0.5) - 0.1
        wines.append(wine)
    names = [wine["id"] for wine in wines]
    for k, wine in enumerate(wines):  # two bottles of the same house and year
        if wine["id"] in names[:k]:
            wine["id"] += " Riserva"
    return wines


def worth(wine):
    """What everybody tastes: balance, neither young nor tired."""
    alcohol = -0.6 * (wine["alcohol"] - 13.8) ** 2
    acid = -0.8 * (wine["acidity"] - 5.8) ** 2
    # Sweetness is welcome where acid carries it.
    sweet = 0.25 * (wine["sugar"] - 2.5) * (wine["acidity"] - 5.6)
    tannin = -0.35 * (wine["tannin"] - 2.4) ** 2
    ageing = -0.03 * (wine["age"] - 9.0) ** 2
    return 2.0 + alcohol + acid + sweet + tannin + ageing


def judge(dice, taster, left, right):
    fineness, noise = TASTERS[taster]
    difference = worth(right) - worth(left) + noise * dice.normal()
    if abs(difference) <= fineness:
        return "tie"
    return "right" if difference > 0 else "left"


def make_pairs(dice, n, seen):
    pairs = []
    while len(pairs) < n:
        left, right = dice.below(N_WINES), dice.below(N_WINES)
        pair = (min(left, right), max(left, right))
        if left != right and pair not in seen:
            seen.add(pair)
            pairs.append((left, right))
    return pairs


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


def main():
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    dice = Dice(SEED)
    wines = make_wines(dice)
    columns = list(wines[0])
    write(directory / "wines.csv", columns, [[wine[column] for column in columns] for wine in wines])
    tastings, held_out = [], []
    for taster in TASTERS:
        # Nobody is asked twice about the same two wines.
        seen = set()
        for table, n in [(tastings, N_TASTINGS), (held_out, N_HELD_OUT)]:
            for left, right in make_pairs(dice, n, seen):
                outcome = judge(dice, taster, wines[left], wines[right])
                table.append([wines[left]["id"], wines[right]["id"], outcome, taster])
    header = ["left", "right", "outcome", "group"]
    write(directory / "tastings.csv", header, tastings)
    write(directory / "held_out.csv", header, held_out)
    tonight = [[wines[left]["id"], wines[right]["id"]] for left, right in make_pairs(dice, N_TONIGHT, set())]
    write(directory / "tonight.csv", ["left", "right"], tonight)


if __name__ == "__main__":
    main()
