//! The way along an edge, and where it no longer falls: past every term that comes to its margin, or leaves it, the slope rises.

use super::vertex::Vertex;

/// What counts as 0 in leads.
pub(super) const ZERO: f64 = 1e-11;
/// The least pivot, of a term in units of the most that a column does to it.
const PIVOT: f64 = 1e-10;

/// An edge as a direction: what a unit does to basic columns, scores, the free coefficient and the leads of terms, and the slope.
pub(super) struct Way {
    pub(super) change: Vec<f64>,
    pub(super) of_scores: Vec<f64>,
    pub(super) of_free: f64,
    pub(super) of_leads: Vec<f64>,
    pub(super) slope: f64,
}

/// What ends a way.
#[derive(Debug, Clone, Copy)]
pub(super) enum Blocker {
    /// The column basic at this place is 0.
    Basic(usize),
    /// This term is at its margin.
    Term(usize),
}

/// Something that happens on the way: where, and by how much the slope rises there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) at: f64,
    rise: f64,
    pivot: f64,
    pub(super) blocker: Blocker,
}

/// Where a way from a vertex no longer falls.
pub(super) fn end_of(vertex: &Vertex<'_>, way: &Way) -> Option<Event> {
    let mut events = Vec::new();
    for (at, (&x, &change)) in vertex.x.iter().zip(&way.change).enumerate() {
        if change < -PIVOT {
            let blocker = Blocker::Basic(at);
            events.push(Event { at: x.max(0.0) / -change, rise: f64::INFINITY, pivot: -change, blocker });
        }
    }
    for (at, (&slack, &change)) in vertex.slacks.iter().zip(&way.of_leads).enumerate() {
        let least = PIVOT * vertex.sizes[at];
        let comes = if slack > 0.0 { change > least } else { change < -least };
        if comes && !vertex.is_tight[at] {
            let (pivot, blocker) = (change.abs(), Blocker::Term(at));
            events.push(Event { at: slack / change, rise: vertex.terms[at].cost * pivot, pivot, blocker });
        }
    }
    let end = last_fall(&mut events, way.slope)?;
    // Of what happens at about the same place, the one that leaves the best inverse (Harris, 1973).
    let is_near = |event: &&Event| (event.at - end.at).abs() * event.pivot.min(end.pivot) <= ZERO;
    events.iter().filter(is_near).max_by(|a, b| a.pivot.total_cmp(&b.pivot)).copied()
}

/// The event at which a slope below 0 that rises with each comes to 0; the last one, where rounding hides that it does.
fn last_fall(mut events: &mut [Event], mut slope: f64) -> Option<Event> {
    let mut last = None;
    while !events.is_empty() {
        let middle = events.len() / 2;
        events.select_nth_unstable_by(middle, |a, b| a.at.total_cmp(&b.at));
        let before: f64 = events[..middle].iter().map(|event| event.rise).sum();
        if slope + before >= 0.0 {
            events = &mut events[..middle];
            continue;
        }
        slope += before + events[middle].rise;
        last = Some(events[middle]);
        if slope >= 0.0 {
            break;
        }
        events = &mut events[middle + 1..];
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    #[test]
    fn a_way_ends_where_its_slope_comes_to_0() {
        let mut random = Random::new(1);
        for n in 1..60 {
            let event = |at: usize, random: &mut Random| Event {
                at: random.below(20) as f64,
                rise: random.uniform(),
                pivot: 1.0,
                blocker: Blocker::Term(at),
            };
            let mut events: Vec<Event> = (0..n).map(|at| event(at, &mut random)).collect();
            let slope = -random.uniform() * n as f64 * 0.6;
            let mut sorted = events.clone();
            sorted.sort_by(|a, b| a.at.total_cmp(&b.at));
            let mut sum = slope;
            let passed = sorted.iter().position(|event| {
                sum += event.rise;
                sum >= 0.0
            });
            let expected = sorted[passed.unwrap_or(n - 1)].at;
            assert_eq!(last_fall(&mut events, slope).unwrap().at, expected);
        }
    }
}
