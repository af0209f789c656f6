use rankwise::data::{Precision, Ranking};
use rankwise::io::{Columns, Source, read_ranking};
use rankwise::model::{Batch, Schedule};
use rankwise::{Loss, OnlineSvm, RankSvm};
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let data: Ranking = read_ranking(&Source::parse(&a[1], None).unwrap(), &Columns::default(), Precision::Auto).unwrap();
    let c: f64 = a[2].parse().unwrap();
    let exact = RankSvm::new().c(c).loss(Loss::Hinge).threads(1).fit(&data).unwrap();
    let best = exact.model.training.objective;
    println!("exact {best} in {:.3}s gap {:.1e}", exact.seconds, exact.model.training.gap);
    let stepss: Vec<u64> = a[3].split(',').map(|s| s.parse().unwrap()).collect();
    for batch in [Batch::Pair, Batch::Group] {
        for schedule in [Schedule::Inverse, Schedule::Sqrt] {
            for average in [true, false] {
                for &steps in &stepss {
                    let steps = if batch == Batch::Group { steps / 50 } else { steps };
                    let t = cpu();
                    let svm = OnlineSvm::new().c(c).batch(batch).schedule(schedule).average(average).steps(Some(steps)).certify(true).threads(0);
                    let fit = svm.fit(&data).unwrap();
                    let tr = &fit.model.training;
                    println!("{batch:?} {schedule:?} avg {average} steps {steps}: excess {:.4} gap {:.4} cpu {:.3} spread {:.3} t0 {:.3e}", tr.objective / best - 1.0, tr.gap, cpu() - t, fit.model.state.as_ref().unwrap().spread, fit.model.state.as_ref().unwrap().spread * c * tr.pairs as f64);
                }
            }
        }
    }
}
