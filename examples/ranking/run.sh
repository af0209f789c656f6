#!/bin/sh
# The whole story: learn from graded searches, look at what was learnt, rank the hotels of new searches.
#
#     sh run.sh [DIRECTORY]      (default: out, beside this script)
#
# RANKWISE names the program if it is not on the path.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
out=${1:-$here/out}
rankwise=${RANKWISE:-rankwise}
mkdir -p "$out"

say() {
    printf '\n== %s\n' "$1"
}

say 'Learn from what travellers graded; only hotels of one search are compared. C by folds that never split a search'
"$rankwise" tune "$here/train.csv" --scale standard --metric ndcg@5 -o "$out/hotels.safetensors"

say 'How good is it on searches it has not seen?'
"$rankwise" evaluate "$out/hotels.safetensors" "$here/test.csv" --ci --per-group "$out/searches.csv"

say 'A page with pictures'
"$rankwise" report "$out/hotels.safetensors" "$here/test.csv" -o "$out/hotels.html"

say 'What matters: the weights'
"$rankwise" inspect "$out/hotels.safetensors"

say 'Tonight: the three best hotels of each search'
"$rankwise" predict "$out/hotels.safetensors" "$here/tonight.csv" --format csv --top 3 -o "$out/tonight.csv"
cat "$out/tonight.csv"

say 'Other searches as a run, as tools for search engines read it'
"$rankwise" predict "$out/hotels.safetensors" "$here/test.csv" --format trec -o "$out/test.run"
head -n 3 "$out/test.run"

say 'Every search the same, however many hotels it shows; from where the last training ended'
"$rankwise" train "$here/train.csv" --scale standard --balance groups --C 20 --init "$out/hotels.safetensors" \
    -o "$out/balanced.safetensors"

say 'The same grades in a LETOR file, with the hinge'
"$rankwise" train "$here/train.letor" --scale standard --loss hinge -o "$out/hinge.safetensors"

say 'Is either of the two better on the later searches?'
"$rankwise" evaluate "$out/hotels.safetensors" "$here/test.csv" --compare "$out/balanced.safetensors" --metric ndcg@5,map

say 'Do any weights put all hotels in order? A hard margin says no, and writes no model'
"$rankwise" train "$here/train.csv" --C inf --json -o "$out/hard.safetensors" > "$out/hard.json"
cat "$out/hard.json"
