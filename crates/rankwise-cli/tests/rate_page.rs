//! `rate -o board.html`: a page that says who is in front, and no more than the games do.

use crate::browser::check_page;
use crate::room::Room;

/// Games of `n` players, of whom those with small numbers are better; about a quarter are ties.
fn games(n: usize, n_games: usize, name: impl Fn(usize) -> String) -> String {
    let mut table = String::from("left,right,outcome,time\n");
    for k in 0..n_games {
        let (left, step) = (k * 7 % n, 1 + (k / n) % (n - 1));
        let right = (left + step) % n;
        // Even numbers from 0 to 99, in no visible order.
        let dice = (k * k * 31 + k * 17 + k / 3) % 100;
        let outcome = match dice {
            0..25 => "tie",
            25..80 if left < right => "left",
            25..80 => "right",
            _ if left < right => "right",
            _ => "left",
        };
        let (year, month, day) = (1990 + k * 20 / n_games, 1 + k % 12, 1 + k % 28);
        table += &format!("{},{},{outcome},{year}-{month:02}-{day:02}\n", name(left), name(right));
    }
    table
}

/// A room with these games, in which the page of these options was made.
fn page_of(games: &str, options: &str) -> (Room, String) {
    let room = Room::new();
    room.write("games.csv", games);
    room.run(&format!("rate --pairs games.csv {options} -o board.html")).ends(0);
    let page = room.read("board.html");
    for fault in ["NaN", "inf ", "<script", "http://", "https://"] {
        assert!(!page.contains(fault), "{fault} in {page}");
    }
    (room, page)
}

#[track_caller]
fn has(page: &str, words: &[&str]) {
    words.iter().for_each(|word| assert!(page.contains(word), "no {word:?} in {page}"));
}

#[track_caller]
fn lacks(page: &str, words: &[&str]) {
    words.iter().for_each(|word| assert!(!page.contains(word), "{word:?} in {page}"));
}

#[test]
fn a_likelihood_with_ties() {
    let (room, page) = page_of(&games(12, 600, |k| format!("player {k}")), "--side");
    has(
        &page,
        &[
            "<h2>Leaderboard</h2>",
            "<h2>Who beats whom</h2>",
            "<h2>What else helps</h2>",
            "<h2>Facts</h2>",
            "12 items were rated from 600 games, ",
            "of them ties.",
            "(sandwich)",
            "<title id=\"ratings-title\">",
            "for the first-named side (",
            "a tie between equals has a chance of",
        ],
    );
    // The order of games does not matter here.
    lacks(&page, &["Ratings over time", "scale</th>", "not shown"]);
    // The same numbers as everywhere.
    let json = room.run("rate --pairs games.csv --side --json").ends(0).json();
    let first = &json["leaderboard"][0];
    let told = |value: &serde_json::Value| format!("{:.0}", value.as_f64().unwrap()).replace('-', "−");
    let interval = format!("<td>{} to {}</td>", told(&first["low"]), told(&first["high"]));
    has(&page, &[&format!(">{}</th>", first["item"].as_str().unwrap()), &interval]);
    let ties = json["tie_parameter"].as_f64().unwrap();
    has(&page, &[&format!("{:.1}\u{a0}%", 100.0 * ties / (2.0 + ties))]);
    let chance = &json["chances"][0];
    has(&page, &[&format!(">{:.0}\u{a0}%<small>tie", 100.0 * chance["p_left"].as_f64().unwrap())]);
    check_page("a_likelihood_with_ties", &room.path("board.html"), 1);
}

#[test]
fn elo_over_the_years() {
    let table = games(12, 600, |k| format!("p{k}"));
    let (room, page) = page_of(&table, "--system elo --resamples 20 --anchor p3=1000");
    has(&page, &["<h2>Ratings over time</h2>", "id=\"history-title\"", "id=\"history-next-title\"", ">year<"]);
    has(&page, &["20 resamples of the games", "A line starts with the item&#39;s first game.", ">2000</text>"]);
    assert!(page.contains("<td>1000</td>"), "the anchor: {page}");
    check_page("elo_over_the_years", &room.path("board.html"), 3);
    for system in ["glicko", "glicko2", "trueskill", "trueskill --unit own"] {
        let (_, page) = page_of(&table, &format!("--system {system} --side"));
        has(
            &page,
            &["id=\"history-title\"", "deviations that the system keeps", "points for the first-named side: odds"],
        );
    }
    // Without times a line is over games.
    let rows: String = table.lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect();
    let (_, page) = page_of(&rows, "--system glicko");
    has(&page, &["id=\"history-title\"", ">game<"]);
}

#[test]
fn two_parts_are_not_on_one_axis() {
    let mut table = String::from("left,right,outcome\n");
    for (a, b) in [("a", "b"), ("b", "c"), ("c", "a"), ("x", "y")] {
        table += &format!("{a},{b},left\n{a},{b},left\n{b},{a},left\n{a},{b},tie\n");
    }
    for options in ["", "--system elo --resamples 10"] {
        let (room, page) = page_of(&table, options);
        has(&page, &["Among the 3 items that can be compared best, ", "The items fall into 2 parts", ">scale</th>"]);
        has(
            &page,
            &[
                "2 items on another scale are left out",
                "A row for each of 3 items",
                "class=\"apart\">–<small>never met",
            ],
        );
        let picture = &page[page.find("<svg").unwrap()..page.find("</svg>").unwrap()];
        lacks(picture, &[">x</text>", ">y</text>"]);
        let n_pictures = if options.is_empty() { 1 } else { 2 };
        check_page("two_parts_are_not_on_one_axis", &room.path("board.html"), n_pictures);
    }
}

#[test]
fn what_has_no_rating_gets_none() {
    let (room, page) = page_of("left,right,outcome\na,b,left\na,c,left\nb,c,left\n", "");
    has(&page, &["No item has a rating: these games do not tell who is in front.", "3 items without a finite rating"]);
    has(&page, &["none of them a tie", "class=\"apart\">–<small>1–0–0"]);
    lacks(&page, &["<svg"]);
    check_page("what_has_no_rating_gets_none", &room.path("board.html"), 0);
    // With a penalty everybody has one.
    let (_, page) = page_of("left,right,outcome\na,b,left\na,c,left\nb,c,left\n", "--C 1");
    has(&page, &["<svg", "<th scope=\"row\">C</th><td>1</td>"]);
    // One that always wins beside two that can be compared.
    let (_, page) = page_of("left,right,outcome\na,b,left\na,c,left\nb,c,left\nc,b,left\nb,c,tie\n", "");
    has(&page, &["Among the 2 items", "1 item without a rating is left out."]);
}

#[test]
fn few_games() {
    let (room, page) = page_of("left,right,outcome\na,b,tie\nb,c,tie\n", "");
    has(
        &page,
        &["all of them ties", "Every game is a tie", "infinite: every game is a tie", ">0\u{a0}%<small>tie 100\u{a0}%"],
    );
    check_page("few_games", &room.path("board.html"), 0);
    let (_, page) = page_of("left,right,outcome\na,b,left\n", "");
    has(&page, &["2 items were rated from 1 game, none of them a tie."]);
    for system in ["elo", "glicko", "glicko2", "trueskill"] {
        let (_, page) = page_of("left,right,outcome\na,b,left\n", &format!("--system {system}"));
        has(&page, &["2 items were rated from 1 game, none of them a tie.", "id=\"ratings-title\""]);
        lacks(&page, &["Ratings over time"]);
    }
}

#[test]
fn hostile_names() {
    let long = "long".repeat(75);
    let hard = ["<script>alert(1)</script>", "\"a & 'b'\"", &long, "😀👩‍👩‍👧 emoji", "שלום עולם", "\u{202e}abc", "]]>--><"];
    let name = |k: usize| format!("\"{}\"", hard[k].replace('"', "\"\""));
    for options in ["", "--system elo --resamples 5"] {
        let (room, page) = page_of(&games(hard.len(), 300, name), options);
        has(
            &page,
            &["&lt;script&gt;alert(1)", "&quot;a &amp; &#39;b&#39;&quot;", &long, "שלום עולם", "]]&gt;--&gt;&lt;"],
        );
        assert!(!page.contains('\u{202e}'), "a name must not turn what follows");
        let n_pictures = if options.is_empty() { 1 } else { 3 };
        check_page("hostile_names", &room.path("board.html"), n_pictures);
    }
}

#[test]
fn many_items_make_no_large_page() {
    let table = games(2000, 20_000, |k| format!("player number {k}"));
    for options in ["", "--system elo --resamples 2", "--top 3"] {
        let (_, page) = page_of(&table, options);
        assert!(page.len() < 300_000, "{options}: {}", page.len());
        has(&page, &["never met", "20\u{202f}000 games", "more items are not shown", "items are in it."]);
    }
    let (_, page) = page_of(&table, "--top 0");
    assert!(page.len() < 1_000_000, "{}", page.len());
    has(&page, &["player number 1999", "The picture has the first 100 items."]);
    lacks(&page, &["not shown"]);
}

#[test]
fn threads_do_not_change_a_page() {
    let table = games(12, 600, |k| format!("p{k}"));
    for options in
        ["--side", "--ci-method bootstrap --resamples 50", "--system elo --resamples 50", "--system trueskill"]
    {
        let [one, two] = [1, 2].map(|n| page_of(&table, &format!("{options} --threads {n}")).1);
        assert!(one == two, "{options}");
    }
}
