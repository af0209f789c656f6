#!/usr/bin/env python3
"""Makes the tables of this example: train.csv, train.letor, test.csv and tonight.csv.

    python3 make_data.py [DIRECTORY]      (default: where this script is)

Travellers search for a hotel, see a few, and grade what they saw from 0 (no interest) to 3 (booked). Searches, hotels and
grades are invented. What a traveller likes is a weighted sum of a hotel's numbers; how generous a traveller is with
grades differs from one search to the next, so that grades can be compared within a search only. The same bytes on every
machine: of the standard library's generator only random() is used, whose numbers are promised to stay the same.
"""

import csv
import math
import pathlib
import random
import sys

SEED = 86
N_TRAIN, N_TEST, N_TONIGHT = 40, 20, 2
FEATURES = ["price", "distance", "stars", "reviews", "breakfast"]
FIRST = ["Alte", "Blue", "Casa", "Dorada", "Grand", "Kleine", "Le", "Porto", "Villa", "White"]
SECOND = ["Arena", "Bridge", "Corso", "Dune", "Garten", "Harbour", "Linde", "Mirador", "Post", "Sirene"]


class Dice:
    """Random numbers made of random() alone."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def normal(self):
        return math.sqrt(-2.0 * math.log(1.0 - self.random())) * math.cos(2.0 * math.pi * self.random())

    def between(self, low, high):
        return low + int((high - low + 1) * self.random())


def make_hotel(dice, level):
    """Good hotels near the centre are dear; some cities are dearer than others."""
    stars = dice.between(1, 5)
    distance = round(math.exp(0.3 + 0.8 * dice.normal()), 1)
    price = 45 * level * math.exp(0.28 * stars - 0.08 * distance + 0.2 * dice.normal())
    return {
        "price": round(price),
        "distance": distance,
        "stars": stars,
        "reviews": round(min(max(6.2 + 0.4 * stars + 0.9 * dice.normal(), 3.0), 9.8), 1),
        "breakfast": int(dice.random() < 0.5),
    }


def liking(hotel, level):
    dear = hotel["price"] / level
    return 0.9 * hotel["reviews"] + 0.5 * hotel["stars"] + 0.7 * hotel["breakfast"] - 0.6 * hotel["distance"] - 0.02 * dear


def make_searches(dice, prefix, n):
    """Rows of items, a search after the other."""
    rows = []
    for search in range(1, n + 1):
        level = math.exp(0.35 * dice.normal())
        generous = 0.5 * dice.normal()
        names = set()
        for _ in range(dice.between(6, 10)):
            hotel = make_hotel(dice, level)
            name = f"{FIRST[dice.between(0, 9)]}-{SECOND[dice.between(0, 9)]}"
            while name in names:
                name = f"{FIRST[dice.between(0, 9)]}-{SECOND[dice.between(0, 9)]}"
            names.add(name)
            felt = (liking(hotel, level) - 5.5) / 1.5 + generous + 0.5 * dice.normal()
            grade = min(max(math.floor(1.5 + felt), 0), 3)
            rows.append({"id": name, "qid": f"{prefix}{search}", "label": grade, **hotel})
    return rows


def write(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows([row[column] for column in columns] for row in rows)


def write_letor(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        for row in rows:
            features = " ".join(f"{k}:{row[name]}" for k, name in enumerate(FEATURES, 1) if row[name] != 0)
            file.write(f"{row['label']} qid:{row['qid']} {features} # {row['id']}\n")


def main():
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    dice = Dice(SEED)
    columns = ["id", "qid", "label"] + FEATURES
    train = make_searches(dice, "s", N_TRAIN)
    write(directory / "train.csv", columns, train)
    write_letor(directory / "train.letor", train)
    write(directory / "test.csv", columns, make_searches(dice, "t", N_TEST))
    write(directory / "tonight.csv", ["id", "qid"] + FEATURES, make_searches(dice, "tonight-", N_TONIGHT))


if __name__ == "__main__":
    main()
