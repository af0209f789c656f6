//! Small data as strange as they come: few or one of everything, copies, constants, tiny and huge numbers, weights of 0.

use rankwise::data::{
    ClassItems, Comparisons, Features, Groups, Items, Outcome, Pair, PairSet, Precision, Random, Ranking,
};

/// What a fit learns from.
pub(crate) enum Data {
    Items(Ranking),
    Classes(ClassItems),
    Pairs(Comparisons),
}

impl Data {
    /// The same in another order.
    pub(crate) fn shuffled(&self, random: &mut Random) -> Data {
        let n = match self {
            Data::Items(data) => data.n_items(),
            Data::Classes(data) => data.n_items(),
            Data::Pairs(data) => data.n_pairs(),
        };
        let mut order: Vec<usize> = (0..n).collect();
        random.shuffle(&mut order);
        match self {
            Data::Items(data) => Data::Items(data.select(&order)),
            Data::Classes(data) => Data::Classes(data.select(&order)),
            Data::Pairs(data) => Data::Pairs(data.select(&order)),
        }
    }

    /// The rows of all items.
    pub(crate) fn rows(&self) -> Vec<Vec<f64>> {
        let features = &self.items().features;
        let dense = features.to_dense();
        (0..features.n_rows()).map(|row| dense[row * features.n_cols()..][..features.n_cols()].to_vec()).collect()
    }

    pub(crate) fn items(&self) -> &Items {
        match self {
            Data::Items(data) => &data.items,
            Data::Classes(data) => &data.items,
            Data::Pairs(data) => &data.set.items,
        }
    }
}

fn one_in(random: &mut Random, n: usize) -> bool {
    random.below(n) == 0
}

/// Rows, and the weight that each feature has in the truth.
fn features(random: &mut Random, n_items: usize, n_features: usize) -> Vec<Vec<f64>> {
    let scale = match random.below(12) {
        0 => 1e-8,
        1 => 1e8,
        2 => [1e-150, 1e150][random.below(2)],
        3 => 1e-3,
        4 => 1e3,
        _ => 1.0,
    };
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let constant: Vec<Option<f64>> = match one_in(random, 5) {
        true => (0..n_features).map(|_| [None, Some(0.0), Some(1.0)][random.below(3)]).collect(),
        false => vec![None; n_features],
    };
    let far = if one_in(random, 10) { 100.0 } else { 0.0 };
    let (kind, copies) = (random.below(5), [8, 8, 8, 2][random.below(4)]);
    for at in 0..n_items {
        if at > 0 && one_in(random, copies) {
            rows.push(rows[random.below(at)].clone());
            continue;
        }
        let mut value = || match kind {
            0 => random.below(3) as f64,
            1 => (4.0 * random.normal()).round(),
            2 => random.normal().round(),
            _ => random.normal(),
        };
        let row = constant.iter().map(|constant| constant.unwrap_or_else(&mut value));
        rows.push(row.map(|x| (x + far) * scale).collect());
    }
    rows
}

fn stored(random: &mut Random, rows: &[Vec<f64>]) -> Features {
    let (n, values) = (rows[0].len(), rows.concat());
    match random.below(4) {
        0 => {
            let (mut starts, mut columns, mut kept) = (vec![0], Vec::new(), Vec::new());
            for row in rows {
                for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                    columns.push(column as u32);
                    kept.push(value);
                }
                starts.push(kept.len());
            }
            Features::sparse(n, starts, columns, kept).unwrap()
        }
        1 => Features::dense(n, values, Precision::Auto).unwrap(),
        _ => Features::dense(n, values, Precision::F64).unwrap(),
    }
}

fn weights(random: &mut Random, n: usize) -> Option<Vec<f64>> {
    let of = |random: &mut Random| match random.below(8) {
        0 => 0.0,
        1 => 100.0,
        _ => random.between(-2.0, 2.0).exp2(),
    };
    one_in(random, 3).then(|| (0..n).map(|_| of(random)).collect())
}

/// How large an item is meant to be: a line, a parabola, or nothing but chance.
fn worth(random: &mut Random, rows: &[Vec<f64>]) -> Vec<f64> {
    let (kind, noise) = (random.below(3), [0.0, 0.1, 1.0][random.below(3)]);
    let size = rows.iter().flatten().fold(1e-300f64, |size, x| size.max(x.abs()));
    rows.iter()
        .map(|row| {
            let line: f64 = row.iter().enumerate().map(|(k, x)| x / size / (1.0 + k as f64)).sum();
            noise * random.normal()
                + match kind {
                    0 => line,
                    1 => line * line,
                    _ => random.normal(),
                }
        })
        .collect()
}

fn n_items(random: &mut Random) -> usize {
    match random.below(10) {
        0 => 1,
        1 => 2,
        2 => 3,
        _ => 4 + random.below(57),
    }
}

/// Items with labels: grades, numbers, or one label for all.
pub(crate) fn ranking(random: &mut Random) -> Ranking {
    let (n, p) = (n_items(random), 1 + random.below(8));
    let rows = features(random, n, p);
    let mut labels = worth(random, &rows);
    match random.below(6) {
        0 => labels.fill(1.0),
        1 => {}
        2 => labels.iter_mut().for_each(|y| *y *= 1e6),
        _ => labels.iter_mut().for_each(|y| *y = (2.0 * *y).round().clamp(-2.0, 2.0)),
    }
    let n_groups = 1 + random.below(5);
    let groups = one_in(random, 2).then(|| Groups::from_ids((0..n).map(|_| random.below(n_groups).to_string())));
    let n_groups = groups.as_ref().map_or(1, Groups::len);
    let items = Items::new(stored(random, &rows), None, None).unwrap();
    let mut data = Ranking::new(items, labels, groups).unwrap();
    if let Some(weights) = weights(random, n) {
        data = data.with_weights(weights).unwrap();
    }
    if one_in(random, 5) {
        data = data.with_group_weights((0..n_groups).map(|_| random.between(0.1, 5.0)).collect()).unwrap();
    }
    data
}

/// Items of classes.
pub(crate) fn classes(random: &mut Random) -> ClassItems {
    let (n, p) = (n_items(random), 1 + random.below(8));
    let rows = features(random, n, p);
    let n_classes = [1, 2, 2, 2, 2, 3, 4][random.below(7)];
    let worth = worth(random, &rows);
    let class = |y: &f64| match n_classes {
        2 => f64::from(*y > 0.0),
        n => (y.abs() * 2.0).floor().min(n as f64 - 1.0),
    };
    let labels: Vec<f64> = worth.iter().map(class).collect();
    let data = ClassItems::of_labels(Items::new(stored(random, &rows), None, None).unwrap(), &labels).unwrap();
    match weights(random, n) {
        Some(weights) => data.with_weights(weights).unwrap(),
        None => data,
    }
}

/// Pairs with ties, without any, or with nothing else.
pub(crate) fn comparisons(random: &mut Random) -> Comparisons {
    let (n, p) = (n_items(random), 1 + random.below(8));
    let rows = features(random, n, p);
    let worth = worth(random, &rows);
    let n_pairs = 1 + random.below(60);
    let pairs: Vec<Pair> =
        (0..n_pairs).map(|_| Pair { left: random.below(n) as u32, right: random.below(n) as u32 }).collect();
    let threshold = [-1.0, 0.0, 0.1, 0.5, 0.5, f64::INFINITY][random.below(6)];
    let outcome = |pair: &Pair| {
        let margin = worth[pair.right as usize] - worth[pair.left as usize];
        if threshold < 0.0 && margin == 0.0 { Outcome::Left } else { Outcome::of_margin(margin, threshold.max(0.0)) }
    };
    let outcomes = pairs.iter().map(outcome).collect();
    let set = PairSet::new(Items::new(stored(random, &rows), None, None).unwrap(), pairs).unwrap();
    let weights = weights(random, n_pairs);
    Comparisons::new(set, outcomes, weights, None).unwrap()
}
