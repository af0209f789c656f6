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

/// Whether there are wins and ties, and numbers with a difference of at least 2 for every win and at most 2 for every tie:
/// shortest paths (Bellman and Ford) over these differences, which exist unless a circle has a negative length.
fn is_separable<'a>(n: usize, games: impl Iterator<Item = &'a Game> + Clone) -> bool {
    let mut bounds: Vec<(u32, u32, i64)> = Vec::new();
    let (mut n_wins, mut n_ties) = (0usize, 0usize);
    for game in games {
        // (a, b, most): number of b ≤ number of a + most.
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
    // A circle of wins is the usual end of it, and found without any paths.
    if has_circle(n, &bounds) {
        return false;
    }
    let mut numbers = vec![0i64; n];
    for _ in 0..=n {
        let mut has_moved = false;
        for &(a, b, most) in &bounds {
            let bound = numbers[a as usize] + most;
            if numbers[b as usize] > bound {
                numbers[b as usize] = bound;
                has_moved = true;
            }
        }
        if !has_moved {
            return true;
        }
        // Without circles no path has more than n wins.
        if numbers.iter().any(|&number| number < -2 * n as i64) {
            return false;
        }
    }
    false
}

/// Whether somebody beats himself by way of others: what is left after everybody without losses has been taken away, again
/// and again.
fn has_circle(n: usize, bounds: &[(u32, u32, i64)]) -> bool {
    let wins = || bounds.iter().filter(|bound| bound.2 < 0);
    let mut starts = vec![0; n + 1];
    let mut n_losses = vec![0usize; n];
    for &(winner, loser, _) in wins() {
        starts[winner as usize + 1] += 1;
        n_losses[loser as usize] += 1;
    }
    (0..n).for_each(|k| starts[k + 1] += starts[k]);
    // Sorted by winner already.
    let losers: Vec<u32> = wins().map(|bound| bound.1).collect();
    let mut free: Vec<usize> = (0..n).filter(|&k| n_losses[k] == 0).collect();
    let mut n_taken = 0;
    while let Some(winner) = free.pop() {
        n_taken += 1;
        for &loser in &losers[starts[winner]..starts[winner + 1]] {
            n_losses[loser as usize] -= 1;
            if n_losses[loser as usize] == 0 {
                free.push(loser as usize);
            }
        }
    }
    n_taken < n
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
