//! What all charts have in common: they survive hostile numbers and hostile names.

use rankwise::data::Outcome;
use rankwise::metrics::{Reliability, ReliabilityBin, RocPoint};

use super::*;

const HOSTILE_NAME: &str = "<script>alert(1)</script> a&b\"'";

/// Every chart, made from these numbers.
fn charts(numbers: &[f64]) -> Vec<Picture> {
    let n = numbers.len();
    let points: Vec<(f64, f64)> = (0..n).map(|k| (numbers[k], numbers[n - 1 - k])).collect();
    let name = || HOSTILE_NAME.to_string();
    let series = |band| Series { label: name(), points: points.clone(), band };
    let number = |k: usize| numbers.get(k).copied().unwrap_or(0.0);
    let line = |x: Axis, y: Axis| {
        LineChart {
            name: "lines",
            title: name(),
            description: name(),
            x,
            y,
            series: vec![series(band_of(&points)), series(Vec::new()), series(Vec::new())],
            reference: Some(Reference { label: name(), y: number(0) }),
        }
        .draw()
    };
    let roc: Vec<RocPoint> =
        points.iter().map(|&(x, y)| RocPoint { threshold: x, false_positive_rate: x, true_positive_rate: y }).collect();
    let chosen = RocPoint { threshold: number(0), false_positive_rate: number(1), true_positive_rate: number(2) };
    let outcomes: Vec<Outcome> = (0..n).map(|k| Outcome::ALL[k % 3]).collect();
    let predicted: Vec<Outcome> = (0..n).map(|k| Outcome::ALL[k % 2]).collect();
    let margins = |threshold| MarginChart {
        name: "margins",
        margins: numbers,
        outcomes: &outcomes,
        predicted: &predicted,
        weights: None,
        threshold,
    };
    let bins = |n: usize| {
        let bin = |k: usize| ReliabilityBin {
            predicted: number(k),
            observed: number(k + 1),
            low: number(k + 2),
            high: number(k + 3),
            weight: number(k),
        };
        (0..n).map(bin).collect::<Vec<_>>()
    };
    let reliability = Reliability { bins: bins(n.min(12)), error: number(0) };
    let side = n.min(30);
    let cells = (0..side).map(|row| (0..side).map(|column| Some(numbers[(row * column) % n])).collect()).collect();
    let heat = HeatMap {
        name: "tuning",
        title: name(),
        x_title: name(),
        x: vec![name(); side],
        y_title: name(),
        y: vec![name(); side],
        value_title: name(),
        cells,
        best: Some((side / 2, side / 3)),
        greater_is_better: n > 3,
    };
    let bars = numbers.iter().take(20).map(|&value| Bar { label: name(), value }).collect();
    let arrows = points.iter().enumerate().map(|(k, &from)| Arrow { from, to: (from.1, from.0), is_tie: k % 2 == 0 });
    let field =
        |threshold| Field { n_columns: 3, values: numbers.iter().copied().cycle().take(9).collect(), threshold };
    let panel = |threshold| Panel {
        heading: name(),
        pairs: arrows.clone().collect(),
        are_pairs_faint: threshold > 0.0,
        field: (n > 0).then(|| field(threshold)),
        levels: if n.is_multiple_of(2) { numbers.to_vec() } else { Vec::new() },
        beneath: (n > 1).then(|| (field(0.0), numbers.to_vec())),
    };
    let scatter = |of: &'static str| Scatter {
        name: of,
        title: name(),
        description: name(),
        x: Axis::linear(HOSTILE_NAME),
        y: Axis::log(HOSTILE_NAME),
        clouds: vec![Cloud { label: name(), points: points.clone() }, Cloud { label: name(), points: Vec::new() }],
        strokes: vec![Stroke { label: name(), lines: points.windows(2).map(|two| [two[0], two[1]]).collect() }],
    };
    vec![
        line(Axis::linear(HOSTILE_NAME), Axis::log(HOSTILE_NAME)),
        line(Axis::log(HOSTILE_NAME), Axis::linear(HOSTILE_NAME).with(&[0.0])),
        RocChart { name: "roc", points: &roc, chosen, has_band: n > 3, auc: number(0), baseline: number(1) }.draw(),
        margins(Some(0.0)).draw(),
        margins(Some(number(0).abs())).draw(),
        margins(None).draw(),
        ReliabilityChart { name: "reliability-ties", event: name(), reliability: &reliability }.draw(),
        heat.draw(),
        Histogram {
            name: "groups",
            axis: name(),
            noun: name(),
            values: numbers,
            range: (number(1), number(0)),
            marks: vec![(name(), number(0)), (name(), number(1)), (name(), number(2))],
        }
        .draw(),
        Strips {
            name: "strips",
            title: name(),
            axis: name(),
            kinds: vec![name(), name()],
            strips: vec![
                Strip { label: name(), kind: 0, values: numbers.to_vec() },
                Strip { label: name(), kind: 7, values: Vec::new() },
            ],
        }
        .draw(),
        scatter("scatter").draw(),
        Intervals {
            name: "intervals",
            title: name(),
            description: name(),
            axis: Axis::linear(HOSTILE_NAME),
            rows: vec![name(); n.min(9)],
            kinds: vec![
                IntervalKind {
                    label: name(),
                    values: numbers.iter().take(9).map(|&v| Some((v, v - 1.0, v + 1.0))).collect(),
                },
                IntervalKind { label: name(), values: vec![None; n.min(9)] },
            ],
        }
        .draw(),
        Sheet {
            name: "sheet",
            title: name(),
            n_columns: n % 3,
            panels: vec![(name(), scatter("first").draw()), (name(), scatter("second").draw())],
        }
        .draw(),
        Bars { name: "weights", title: name(), axis: name(), bars }.draw(),
        Levels {
            name: "levels",
            title: name(),
            features: [name(), name()],
            extent: [(number(0), number(1)), (number(2), number(3))],
            panels: vec![panel(0.0), panel(1.0), panel(number(1))],
        }
        .draw(),
    ]
}

fn band_of(points: &[(f64, f64)]) -> Vec<(f64, f64, f64)> {
    points.iter().map(|&(x, y)| (x, y - 1.0, y + 1.0)).collect()
}

/// Every number in an attribute is one, and the tags are balanced.
fn check(svg: &str) {
    let mut open = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("a tag without end: {part}"));
        assert!(!text.contains('"') || tag == "style", "quotes in text: {part}");
        let name = tag.split([' ', '/']).next().unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{svg}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        assert!(
            ["svg", "title", "desc", "style", "line", "rect", "path", "text", "circle", "defs", "pattern", "g", ""]
                .contains(&name),
            "{name}"
        );
        for value in tag.split('"').skip(1).step_by(2) {
            assert!(!["NaN", "inf", "e+", "e-3"].iter().any(|bad| value.contains(bad)), "{value} in {tag}");
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn hostile_numbers_and_names_are_drawn_safely() {
    let max = f64::MAX;
    let cases: Vec<Vec<f64>> = vec![
        vec![],
        vec![0.0],
        vec![f64::NAN; 5],
        vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN],
        vec![3.0; 40],
        vec![1e300, -1e300, 1e-300, 0.0],
        vec![max, -max, f64::INFINITY, 1.0],
        vec![1.0, 1.0 + f64::EPSILON, 5e-324],
        (0..500).map(|k| (f64::from(k) * 0.37).sin()).collect(),
        (0..50).map(|k| 10f64.powi(k - 25)).collect(),
    ];
    for numbers in cases {
        for picture in charts(&numbers) {
            for svg in [picture.inline(), picture.file()] {
                check(&svg);
                assert!(!svg.contains("<script"), "{svg}");
                assert!(svg.contains("role=\"img\"") && svg.contains("viewBox=\"0 0 "), "{svg}");
                let name = picture.name();
                assert!(svg.contains(&format!("<title id=\"{name}-title\">")), "{svg}");
                assert!(svg.contains(&format!("<desc id=\"{name}-desc\">")), "{svg}");
            }
            assert!(picture.file().contains("prefers-color-scheme:dark"));
            assert!(!picture.inline().contains("http"), "a page must not even look like fetching something");
        }
    }
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    let numbers: Vec<f64> = (0..100).map(|k| (f64::from(k) * 1.7).cos()).collect();
    let [once, again] = [0, 1].map(|_| charts(&numbers).iter().map(Picture::file).collect::<String>());
    assert_eq!(once, again);
}

#[test]
fn missing_cells_are_hatched_and_the_best_is_outlined() {
    let heat = HeatMap {
        name: "tuning",
        title: "Error by C and γ".into(),
        x_title: "C".into(),
        x: ["0.1", "1", "10"].map(String::from).to_vec(),
        y_title: "γ".into(),
        y: ["0.5", "2"].map(String::from).to_vec(),
        value_title: "error".into(),
        cells: vec![vec![Some(0.3), Some(0.125), None], vec![Some(0.5), Some(f64::NAN), Some(0.25)]],
        best: Some((0, 1)),
        greater_is_better: false,
    };
    let svg = heat.draw().inline();
    assert_eq!(svg.matches("rw-missing").count(), 2);
    assert_eq!(svg.matches("rw-best").count(), 1);
    assert!(svg.contains("★ 0.125") && svg.contains("The best, 0.125, is at C 1 and γ 0.5."), "{svg}");
    assert!(
        svg.contains("fill-opacity=\"0.55\"><title>C 1, γ 0.5: error 0.125"),
        "the best has the strongest shade: {svg}"
    );
}

#[test]
fn long_curves_are_thinned() {
    let points: Vec<RocPoint> = (0..=20_000)
        .map(|k| {
            let share = f64::from(k) / 20_000.0;
            RocPoint { threshold: 1.0 - share, false_positive_rate: share, true_positive_rate: share.sqrt() }
        })
        .collect();
    let chart = RocChart {
        name: "roc",
        points: &points,
        chosen: points[5000],
        has_band: false,
        auc: 2.0 / 3.0,
        baseline: 0.25,
    };
    let svg = chart.draw().inline();
    assert!(svg.len() < 20_000, "{}", svg.len());
    assert!(svg.contains("τ = 0.75"));
}
