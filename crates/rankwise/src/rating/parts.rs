//! Who can be compared with whom: what a likelihood can and cannot say.
//!
//! Players that no chain of games connects are in different *parts*: nothing is known of their difference. Within a part, a
//! player who is reached from another by wins and ties alone, and reaches it back, is in the same *tier*; between tiers
//! all games were won by one side, and the likelihood grows without end as that side's rating does (Ford, *Solution of a
//! ranking problem from binary comparisons*, 1957). Finite ratings exist within tiers.
//!
//! With ties there is one more way to grow without end: if all wins can have a difference of at least 2 and all ties one of
//! at most 2, both can grow together with the tie parameter, and tell all games perfectly.

use crate::data::{Game, Outcome};

/// Parts and tiers of players.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// The part of every player, by size: 0 is the largest one. `None` for players without games.
    pub part: Vec<Option<u32>>,
    /// The tier of every player within all parts; lower numbers are never below higher ones of the same part.
    pub tier: Vec<Option<u32>>,
    /// How many players each part has.
    pub part_sizes: Vec<usize>,
    /// How many players each tier has.
    pub tier_sizes: Vec<usize>,
    /// Whether wins and ties can be told apart perfectly, so that no rating is finite.
    pub is_separable: bool,
}

impl Parts {
    /// Finds parts and tiers; games of weight 0 are absent.
    pub fn of(n_players: usize, games: &[Game]) -> Self {
        let edges = || games.iter().filter(|game| game.weight > 0.0);
        let mut has_games = vec![false; n_players];
        for game in edges() {
            has_games[game.left as usize] = true;
            has_games[game.right as usize] = true;
        }
        let (part, part_sizes) = connected(&has_games, edges());
        let beats = Arrows::new(n_players, edges());
        let (tier, tier_sizes) = beats.strong_parts(&has_games);
        Parts { part, tier, part_sizes, tier_sizes, is_separable: is_separable(n_players, edges()) }
    }

    /// Whether two players have ratings on the same scale.
    pub fn are_comparable(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|player| self.tier[player as usize]);
        a.is_some() && a == b && !self.is_separable
    }

    /// The tiers that have more than one player, as lists of players.
    pub(super) fn rated_tiers(&self) -> Vec<Vec<u32>> {
        if self.is_separable {
            return Vec::new();
        }
        let mut tiers = vec![Vec::new(); self.tier_sizes.len()];
        for (player, tier) in (0..).zip(&self.tier) {
            if let Some(tier) = tier {
                tiers[*tier as usize].push(player);
            }
        }
        tiers.retain(|players| players.len() > 1);
        tiers
    }
}

/// Parts by size, then by their first player.
fn connected<'a>(has_games: &[bool], games: impl Iterator<Item = &'a Game>) -> (Vec<Option<u32>>, Vec<usize>) {
    let n = has_games.len();
    let mut parent: Vec<u32> = (0..n as u32).collect();
    let root = |parent: &mut Vec<u32>, mut at: u32| {
        while parent[at as usize] != at {
            parent[at as usize] = parent[parent[at as usize] as usize];
            at = parent[at as usize];
        }
        at
    };
    for game in games {
        let (a, b) = (root(&mut parent, game.left), root(&mut parent, game.right));
        // The lower number stays, so that the order of the games does not matter.
        parent[a.max(b) as usize] = a.min(b);
    }
    let roots: Vec<Option<u32>> = (0..n as u32).map(|k| has_games[k as usize].then(|| root(&mut parent, k))).collect();
    let mut sizes = vec![0usize; n];
    roots.iter().flatten().for_each(|&at| sizes[at as usize] += 1);
    let mut order: Vec<u32> = (0..n as u32).filter(|&at| sizes[at as usize] > 0).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(sizes[at as usize]), at));
    let mut number = vec![0u32; n];
    order.iter().enumerate().for_each(|(new, &at)| number[at as usize] = new as u32);
    let part = roots.iter().map(|at| at.map(|at| number[at as usize])).collect();
    (part, order.iter().map(|&at| sizes[at as usize]).collect())
}

/// Who won against whom; a tie points both ways.
struct Arrows {
    starts: Vec<usize>,
    losers: Vec<u32>,
}

impl Arrows {
    fn new<'a>(n: usize, games: impl Iterator<Item = &'a Game> + Clone) -> Self {
        let arrows = games.flat_map(|game| {
            let forth = (game.outcome != Outcome::Right).then_some((game.left, game.right));
            let back = (game.outcome != Outcome::Left).then_some((game.right, game.left));
            forth.into_iter().chain(back)
        });
        let mut starts = vec![0; n + 1];
        arrows.clone().for_each(|(winner, _)| starts[winner as usize + 1] += 1);
        (0..n).for_each(|k| starts[k + 1] += starts[k]);
        let mut next = starts.clone();
        let mut losers = vec![0; starts[n]];
        for (winner, loser) in arrows {
            losers[next[winner as usize]] = loser;
            next[winner as usize] += 1;
        }
        Arrows { starts, losers }
    }

    /// Tarjan's strongly connected components, without recursion. They come out losers first, so that numbers are turned
    /// around in the end.
    fn strong_parts(&self, has_games: &[bool]) -> (Vec<Option<u32>>, Vec<usize>) {
        const NEW: u32 = u32::MAX;
        let n = has_games.len();
        let (mut index, mut low) = (vec![NEW; n], vec![0u32; n]);
        let mut found: Vec<Option<u32>> = vec![None; n];
        let (mut sizes, mut open, mut path): (Vec<usize>, Vec<u32>, Vec<(u32, usize)>) = Default::default();
        let mut counter = 0;
        for start in (0..n as u32).filter(|&k| has_games[k as usize]) {
            if index[start as usize] != NEW {
                continue;
            }
            path.push((start, self.starts[start as usize]));
            while let Some((at, next)) = path.pop() {
                let a = at as usize;
                if index[a] == NEW {
                    (index[a], low[a]) = (counter, counter);
                    counter += 1;
                    open.push(at);
                }
                let mut next = next;
                let mut went_down = false;
                while next < self.starts[a + 1] {
                    let loser = self.losers[next] as usize;
                    if index[loser] == NEW {
                        // Comes back to the same arrow, whose other end is known by then.
                        path.push((at, next));
                        path.push((loser as u32, self.starts[loser]));
                        went_down = true;
                        break;
                    }
                    if found[loser].is_none() {
                        low[a] = low[a].min(low[loser]);
                    }
                    next += 1;
                }
                if !went_down && low[a] == index[a] {
                    let mut size = 0;
                    while let Some(member) = open.pop() {
                        found[member as usize] = Some(sizes.len() as u32);
                        size += 1;
                        if member == at {
                            break;
                        }
                    }
                    sizes.push(size);
                }
            }
        }
        sizes.reverse();
        let last = sizes.len() as u32;
        found.iter_mut().flatten().for_each(|tier| *tier = last - 1 - *tier);
        (found, sizes)
    }
}

/// Whether there are wins and ties, and numbers with a difference of at least 2 for every win and at most 2 for every tie. Such
/// numbers are lengths of shortest paths over these bounds, which exist unless a circle has a negative length.
fn is_separable<'a>(n: usize, games: impl Iterator<Item = &'a Game> + Clone) -> bool {
    let mut bounds: Vec<Bound> = Vec::new();
    let (mut n_wins, mut n_ties) = (0usize, 0usize);
    for game in games {
        match game.outcome {
            Outcome::Left => bounds.push((game.left, game.right, -2)),
            Outcome::Right => bounds.push((game.right, game.left, -2)),
            Outcome::Tie => bounds.extend([(game.left, game.right, 2), (game.right, game.left, 2)]),
        }
        if game.outcome == Outcome::Tie { n_ties += 1 } else { n_wins += 1 }
    }
    if n_wins == 0 || n_ties == 0 {
        return false;
    }
    bounds.sort_unstable();
    bounds.dedup();
    !ShortestPaths::new(n, &bounds).has_negative_circle()
}

/// (a, b, most): number of b ≤ number of a + most.
type Bound = (u32, u32, i64);

/// Shortest paths from everywhere at once by passes in topological order (Goldberg and Radzik, *A heuristic improvement of the
/// Bellman–Ford algorithm*, 1993): a pass follows all arcs that shorten a path, or make it as short in another way, from who is
/// no longer up to date, so that a long chain takes one pass. These arcs usually show a negative circle long before all
/// passes are made.
struct ShortestPaths<'a> {
    starts: Vec<usize>,
    bounds: &'a [Bound],
    numbers: Vec<i64>,
    /// Whose shortest path comes by whom.
    before: Vec<u32>,
}

/// A player on the way of a search in depth: the arc that is looked at next, and how many arcs on the way shorten something.
struct OnTheWay {
    player: u32,
    next: usize,
    n_shorter: usize,
}

/// Where a search in depth has been.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    No,
    /// At this place of the way.
    OnTheWay(u32),
    Done,
}

impl<'a> ShortestPaths<'a> {
    const NOBODY: u32 = u32::MAX;

    /// `bounds` are sorted.
    fn new(n: usize, bounds: &'a [Bound]) -> Self {
        let mut starts = vec![0; n + 1];
        bounds.iter().for_each(|bound| starts[bound.0 as usize + 1] += 1);
        (0..n).for_each(|k| starts[k + 1] += starts[k]);
        ShortestPaths { starts, bounds, numbers: vec![0; n], before: vec![Self::NOBODY; n] }
    }

    fn has_negative_circle(mut self) -> bool {
        let n = self.numbers.len();
        let mut late: Vec<u32> = (0..n as u32).collect();
        let mut is_late = vec![false; n];
        let mut seen = vec![Seen::No; n];
        let mut n_arcs = 0;
        while !late.is_empty() {
            let Some(order) = self.in_order(&late, &mut seen) else { return true };
            order.iter().for_each(|&player| seen[player as usize] = Seen::No);
            late.clear();
            for &player in order.iter().rev() {
                is_late[player as usize] = false;
                for &(_, b, most) in self.arcs_of(player) {
                    n_arcs += 1;
                    let bound = self.numbers[player as usize] + most;
                    if self.numbers[b as usize] > bound {
                        (self.numbers[b as usize], self.before[b as usize]) = (bound, player);
                        is_late[b as usize] = true;
                        late.push(b);
                    }
                }
            }
            late.retain(|&player| std::mem::take(&mut is_late[player as usize]));
            // As much work as this takes.
            if n_arcs > n {
                n_arcs = 0;
                if self.goes_round() {
                    return true;
                }
            }
        }
        false
    }

    fn arcs_of(&self, player: u32) -> &'a [Bound] {
        &self.bounds[self.starts[player as usize]..self.starts[player as usize + 1]]
    }

    /// By how much an arc shortens the path to its end, below 0.
    fn change(&self, &(a, b, most): &Bound) -> i64 {
        self.numbers[a as usize] + most - self.numbers[b as usize]
    }

    /// Whom arcs that do not lengthen paths reach from those of the late ones who shorten some, everybody behind those that his
    /// arcs lead to; `None` where the way comes round and is shorter.
    fn in_order(&self, late: &[u32], seen: &mut [Seen]) -> Option<Vec<u32>> {
        let mut order = Vec::new();
        let mut way: Vec<OnTheWay> = Vec::new();
        for &first in late {
            if seen[first as usize] != Seen::No || !self.arcs_of(first).iter().any(|arc| self.change(arc) < 0) {
                continue;
            }
            seen[first as usize] = Seen::OnTheWay(0);
            way.push(OnTheWay { player: first, next: self.starts[first as usize], n_shorter: 0 });
            while let Some(&OnTheWay { player, next, n_shorter }) = way.last() {
                if next == self.starts[player as usize + 1] {
                    seen[player as usize] = Seen::Done;
                    order.push(player);
                    way.pop();
                    continue;
                }
                if let Some(last) = way.last_mut() {
                    last.next += 1;
                }
                let arc = &self.bounds[next];
                let change = self.change(arc);
                if change > 0 {
                    continue;
                }
                let n_shorter = n_shorter + usize::from(change < 0);
                match seen[arc.1 as usize] {
                    Seen::No => {
                        seen[arc.1 as usize] = Seen::OnTheWay(way.len() as u32);
                        way.push(OnTheWay { player: arc.1, next: self.starts[arc.1 as usize], n_shorter });
                    }
                    Seen::OnTheWay(at) if n_shorter > way[at as usize].n_shorter => return None,
                    // Round and as long as before.
                    Seen::OnTheWay(_) | Seen::Done => {}
                }
            }
        }
        Some(order)
    }

    /// Whether paths come by the same player twice, as they do only where that shortens them.
    fn goes_round(&self) -> bool {
        let n = self.before.len();
        let mut walk = vec![0u32; n];
        for first in 0..n {
            let mut at = first as u32;
            while at != Self::NOBODY && walk[at as usize] == 0 {
                walk[at as usize] = first as u32 + 1;
                at = self.before[at as usize];
            }
            if at != Self::NOBODY && walk[at as usize] == first as u32 + 1 {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    fn games(list: &[(u32, u32, Outcome)]) -> Vec<Game> {
        let game = |&(left, right, outcome)| Game { time: 0.0, left, right, outcome, is_neutral: false, weight: 1.0 };
        list.iter().map(game).collect()
    }

    use Outcome::{Left, Right, Tie};

    #[test]
    fn by_hand() {
        // a beats b and c, b beats c: three tiers of one, in this order.
        let parts = Parts::of(3, &games(&[(0, 1, Left), (2, 0, Right), (1, 2, Left)]));
        assert_eq!(parts.part, [Some(0); 3]);
        assert_eq!(parts.tier, [Some(0), Some(1), Some(2)]);
        assert!(parts.rated_tiers().is_empty() && !parts.is_separable);
        // A circle, somebody below all of it, two who play each other alone, and one without games.
        let list = [(1, 2, Left), (2, 3, Left), (3, 1, Left), (0, 1, Right), (4, 5, Tie)];
        let parts = Parts::of(7, &games(&list));
        assert_eq!(parts.part, [0, 0, 0, 0, 1, 1].map(Some).into_iter().chain([None]).collect::<Vec<_>>());
        assert_eq!((parts.part_sizes.as_slice(), parts.tier[6]), ([4, 2].as_slice(), None));
        assert!(parts.tier[1] == parts.tier[3] && parts.tier[1] < parts.tier[0] && parts.tier[4] == parts.tier[5]);
        assert_eq!(parts.rated_tiers().len(), 2);
        assert!(parts.are_comparable(2, 3) && !parts.are_comparable(0, 1) && !parts.are_comparable(6, 6));
        // Games of weight 0 connect nobody.
        let mut absent = games(&[(0, 1, Tie)]);
        absent[0].weight = 0.0;
        assert_eq!(Parts::of(2, &absent).part, [None, None]);
    }

    /// a beats b, who ties with c: the win can have any difference, if the tie parameter grows with it. With c beating a
    /// it cannot. Two wins in a row and a tie of both ends cannot either: 4 > 2.
    #[test]
    fn wins_and_ties_that_can_be_told_apart() {
        let separable = |list: &[(u32, u32, Outcome)]| Parts::of(4, &games(list)).is_separable;
        assert!(separable(&[(0, 1, Left), (1, 2, Tie)]));
        assert!(separable(&[(0, 1, Left), (1, 2, Left), (0, 3, Tie)]));
        assert!(separable(&[(0, 1, Left), (1, 2, Tie), (2, 3, Left), (0, 2, Tie)]));
        assert!(!separable(&[(0, 1, Left), (1, 2, Tie), (2, 0, Left)]));
        assert!(!separable(&[(0, 1, Left), (1, 2, Left), (0, 2, Tie)]));
        assert!(!separable(&[(0, 1, Left), (0, 1, Tie), (0, 1, Right)]));
        assert!(!separable(&[(0, 1, Left)]) && !separable(&[(0, 1, Tie)]));
    }

    /// Against Bellman and Ford's algorithm in its plainest form.
    #[test]
    fn wins_and_ties_are_told_apart_as_by_plain_shortest_paths() {
        let plain = |n: usize, list: &[(u32, u32, Outcome)]| {
            let mut numbers = vec![0i64; n];
            for _ in 0..2 * n {
                for &(left, right, outcome) in list {
                    let [a, b] = [left as usize, right as usize];
                    match outcome {
                        Left => numbers[b] = numbers[b].min(numbers[a] - 2),
                        Right => numbers[a] = numbers[a].min(numbers[b] - 2),
                        Tie => {
                            numbers[b] = numbers[b].min(numbers[a] + 2);
                            numbers[a] = numbers[a].min(numbers[b] + 2);
                        }
                    }
                }
            }
            let holds = |&(left, right, outcome): &(u32, u32, Outcome)| {
                let lead = numbers[left as usize] - numbers[right as usize];
                match outcome {
                    Left => lead >= 2,
                    Right => lead <= -2,
                    Tie => lead.abs() <= 2,
                }
            };
            let has = |wanted: bool| list.iter().any(|game| (game.2 == Tie) == wanted);
            has(true) && has(false) && list.iter().all(holds)
        };
        let mut dice = Random::new(7);
        let mut n_separable = 0;
        for trial in 0..4000 {
            let n = 2 + dice.below(9);
            let truth: Vec<usize> = (0..n).map(|_| dice.below(6)).collect();
            let list: Vec<_> = (0..1 + dice.below(2 * n))
                .map(|_| {
                    let left = dice.below(n);
                    let right = (left + 1 + dice.below(n - 1)) % n;
                    // Games that can be told apart, and a surprise now and then.
                    let outcome = match truth[left].cmp(&truth[right]) {
                        _ if dice.below(8) == 0 => [Left, Tie, Right][dice.below(3)],
                        _ if truth[left].abs_diff(truth[right]) == 1 && dice.below(2) == 0 => Tie,
                        std::cmp::Ordering::Greater => Left,
                        std::cmp::Ordering::Equal => Tie,
                        std::cmp::Ordering::Less => Right,
                    };
                    (left as u32, right as u32, outcome)
                })
                .collect();
            let found = Parts::of(n, &games(&list)).is_separable;
            assert_eq!(found, plain(n, &list), "{trial}: {list:?}");
            n_separable += usize::from(found);
        }
        assert!((1000..3000).contains(&n_separable), "{n_separable}");
    }

    /// Passes over all games, as many as there are players, took hours.
    #[test]
    fn long_chains_and_large_boards_are_told_apart_at_once() {
        let n = 200_000;
        let mut dice = Random::new(2);
        let mut players: Vec<u32> = (0..n as u32).collect();
        dice.shuffle(&mut players);
        let neighbours = |outcome: Outcome| players.windows(2).map(move |two| (two[0], two[1], outcome));
        let mut chain: Vec<_> = neighbours(Left).chain(neighbours(Tie)).collect();
        assert!(Parts::of(n, &games(&chain)).is_separable);
        // From the last one back to the first one in as many ties as there are wins, and in one less.
        let back = |n_ties: usize, dice: &mut Random| {
            let mut stops: Vec<u32> = (n as u32..(n + n_ties - 1) as u32).collect();
            dice.shuffle(&mut stops);
            let ends = (players[n - 1], players[0]);
            let all: Vec<u32> = [ends.0].into_iter().chain(stops).chain([ends.1]).collect();
            all.windows(2).map(|two| (two[0], two[1], Tie)).collect::<Vec<_>>()
        };
        chain = neighbours(Left).chain(back(n - 1, &mut dice)).collect();
        assert!(Parts::of(2 * n, &games(&chain)).is_separable);
        chain = neighbours(Left).chain(back(n - 2, &mut dice)).collect();
        assert!(!Parts::of(2 * n, &games(&chain)).is_separable);
        let random: Vec<_> = (0..n)
            .map(|_| {
                let left = dice.below(n);
                (left as u32, ((left + 1 + dice.below(n - 1)) % n) as u32, [Left, Tie, Right][dice.below(3)])
            })
            .collect();
        assert!(!Parts::of(n, &games(&random)).is_separable);
    }

    /// Against the obvious: two players are in one tier when each is reached from the other.
    #[test]
    fn tiers_are_what_reaching_says() {
        let mut dice = Random::new(5);
        for n_games in [3, 8, 14, 20, 30] {
            for _ in 0..40 {
                let n = 10;
                let list: Vec<_> = (0..n_games)
                    .map(|_| {
                        let left = dice.below(n);
                        let right = (left + 1 + dice.below(n - 1)) % n;
                        let outcome = [Left, Left, Left, Left, Tie, Right][dice.below(6)];
                        (left as u32, right as u32, outcome)
                    })
                    .collect();
                let parts = Parts::of(n, &games(&list));
                let mut reached = vec![[false; 10]; n];
                (0..n).for_each(|k| reached[k][k] = true);
                for _ in 0..n {
                    for &(left, right, outcome) in &list {
                        for row in &mut reached {
                            row[right as usize] |= row[left as usize] && outcome != Right;
                            row[left as usize] |= row[right as usize] && outcome != Left;
                        }
                    }
                }
                let plays = |k: usize| list.iter().any(|game| game.0 as usize == k || game.1 as usize == k);
                for a in (0..n).filter(|&a| plays(a)) {
                    for b in (0..n).filter(|&b| plays(b)) {
                        let are_equal = parts.tier[a] == parts.tier[b];
                        assert_eq!(are_equal, reached[a][b] && reached[b][a], "{list:?}: {a}, {b}");
                        assert!(!reached[a][b] || parts.tier[a] <= parts.tier[b], "{list:?}: {a} above {b}");
                    }
                    assert_eq!(parts.tier_sizes[parts.tier[a].unwrap() as usize], {
                        (0..n).filter(|&b| plays(b) && parts.tier[b] == parts.tier[a]).count()
                    });
                }
            }
        }
    }
}
