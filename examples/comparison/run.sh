#!/bin/sh
# The whole story: choose a model, measure it on later tastings, look at it, use it.
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

say 'Choose kernel, C and gamma by what tasters say whom the machine has not heard'
"$rankwise" tune --pairs "$here/tastings.csv" --items "$here/wines.csv" --scale standard --folds 4 \
    --grid kernel=linear,rbf --grid C=0.01:100:5 --grid gamma=0.01:1:5 \
    --table "$out/points.csv" -o "$out/wine.safetensors"

say 'Measure it on tastings that came later'
"$rankwise" evaluate "$out/wine.safetensors" --pairs "$here/held_out.csv" --items "$here/wines.csv"
"$rankwise" evaluate "$out/wine.safetensors" --pairs "$here/held_out.csv" --items "$here/wines.csv" --json \
    > "$out/held_out.json"

say 'The same as a page with pictures'
"$rankwise" report "$out/wine.safetensors" --pairs "$here/held_out.csv" --items "$here/wines.csv" \
    -o "$out/wine.html" --svg "$out/pictures"

say 'Who will win tonight, and where will nobody taste a difference?'
"$rankwise" predict "$out/wine.safetensors" --pairs "$here/tonight.csv" --items "$here/wines.csv" -o "$out/tonight.csv"
cat "$out/tonight.csv"

say 'How likely is each outcome? Probabilities, chosen by how well they come true'
"$rankwise" tune --pairs "$here/tastings.csv" --items "$here/wines.csv" --scale standard --folds 4 --kernel rbf \
    --loss logistic --grid C=0.1:10:3 --grid gamma=0.01,0.1 --metric log_loss -o "$out/chances.safetensors"
"$rankwise" evaluate "$out/chances.safetensors" --pairs "$here/held_out.csv" --items "$here/wines.csv" \
    --metric zero_one,log_loss,brier
"$rankwise" predict "$out/chances.safetensors" --pairs "$here/tonight.csv" --items "$here/wines.csv" -o "$out/chances.csv"
cat "$out/chances.csv"

say 'All wines, from the best down: the first five'
"$rankwise" predict "$out/wine.safetensors" "$here/wines.csv" --format csv -o "$out/ranking.csv"
tail -n +2 "$out/ranking.csv" | sort -t , -k 3 -n | head -n 5

say 'What is in the model'
"$rankwise" inspect "$out/wine.safetensors" --top 5
