"""One linear program written out in full, solved by HiGHS (scipy's linprog): prints seconds and the optimum as JSON."""

import json
import sys
import time

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack, identity, vstack

from common import peak_memory


def rvm(x, y, gamma, big_c):
    square = (x**2).sum(1)
    k = np.exp(-gamma * np.maximum(0, square[:, None] + square[None] - 2 * x @ x.T))
    better, worse = np.where(y[:, None] > y[None])
    leads = csr_matrix(k[better] - k[worse])
    rows = hstack([leads, -leads, identity(len(better))]).tocsr()
    cost = np.concatenate([np.ones(2 * len(y)), np.full(len(better), big_c)])
    return cost, rows, np.ones(len(better)), (0, None)


def comparison(table, big_c):
    d, outcome = (table.shape[1] - 1) // 2, table[:, -1]
    difference = (table[:, d : 2 * d] - table[:, :d]) * np.where(outcome == 0, 1, outcome)[:, None]
    ties, others = difference[outcome == 0], difference[outcome != 0]
    if big_c is None:
        ones = lambda part: -np.ones((len(part), 1))
        rows = np.vstack([np.hstack([-ties, ones(ties)]), np.hstack([ties, ones(ties)]), np.hstack([others, ones(others)])])
        bound = np.concatenate([-np.ones(2 * len(ties)), np.ones(len(others))])
        return np.append(np.zeros(d), -1.0), csr_matrix(rows), bound, (None, None)
    slack = identity(len(table)).tocsr()
    part = lambda x, sign, which: hstack([csr_matrix(x), csr_matrix(-x), csr_matrix(np.full((len(x), 1), sign)), slack[which]])
    rows = vstack([part(others, 1.0, outcome != 0), part(-ties, -1.0, outcome == 0), part(ties, -1.0, outcome == 0)]).tocsr()
    cost = np.concatenate([np.ones(2 * d), [0.0], np.full(len(table), big_c)])
    bounds = [(0, None)] * (2 * d) + [(None, -1)] + [(0, None)] * len(table)
    return cost, rows, np.ones(rows.shape[0]), bounds


def main():
    task = json.loads(sys.argv[1])
    table = np.loadtxt(task["file"], delimiter=",", skiprows=1)
    started = time.perf_counter()
    if task["kind"] == "rvm":
        program = rvm(table[:, 1:], table[:, 0], task["gamma"], task["C"])
    else:
        program = comparison(table, task["C"])
    cost, rows, bound, bounds = program
    found = linprog(cost, A_ub=-rows, b_ub=-bound, bounds=bounds, method=task["method"])
    took = time.perf_counter() - started
    value = -found.fun if task["kind"] == "hard" else found.fun
    print(json.dumps({"seconds": took, "objective": float(value), "memory": float(peak_memory()), "status": int(found.status)}))


main()
