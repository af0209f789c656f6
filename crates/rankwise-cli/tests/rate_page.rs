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
    has(&page, &["from 20 resamples", "A line starts with the item&#39;s first game.", ">2000</text>"]);
    assert!(page.contains("<td>1000</td>"), "the anchor: {page}");
    check_page("elo_over_the_years", &room.path("board.html"), 3);
    for system in ["glicko", "glicko2", "trueskill", "trueskill --unit own"] {
        let (_, page) = page_of(&table, &format!("--system {system} --side"));
        has(
            &page,
            &[
                "id=\"history-title\"",
                "deviations that the system keeps",
                " for the first-named side: odds of winning against losing × ",
            ],
        );
    }
    // Without times a line is over games.
    let rows: String = table.lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect();
    let (_, page) = page_of(&rows, "--system glicko");
    has(&page, &["id=\"history-title\"", ">game<"]);
}

/// The first and the last point of the k-th line of a picture, read off its axes.
fn ends_of_line(page: &str, picture: &str, k: usize) -> [(f64, f64); 2] {
    let svg = &page[page.find(&format!("<title id=\"{picture}-title\">")).unwrap()..];
    let svg = &svg[..svg.find("</svg>").unwrap()];
    let number = |text: &str| text.replace('−', "-").parse::<f64>().ok();
    let attribute = |tag: &str, name: &str| number(tag.split(&format!("{name}=\"")).nth(1)?.split('"').next()?);
    // From pixels to numbers by the first and the last tick.
    let axis = |anchor: &str, name: &str, shift: f64| {
        let is_tick = |text: &&str| text.contains(anchor) && text.starts_with("<text class=\"rw-soft\"");
        let tick =
            |text: &str| Some((attribute(text, name)? - shift, number(text.split('>').nth(1)?.split('<').next()?)?));
        let ticks: Vec<(f64, f64)> = svg.lines().filter(is_tick).filter_map(tick).collect();
        let (low, high) = (ticks[0], ticks[ticks.len() - 1]);
        move |pixel: f64| low.1 + (pixel - low.0) * (high.1 - low.1) / (high.0 - low.0)
    };
    let (x, y) = (axis("middle", "x", 0.0), axis("\"end\"", "y", 0.35 * 13.0));
    let is_line = |line: &&str| line.contains(&format!("\"rw-line rw-s{k}\""));
    // The first one is the legend's.
    let path = svg.lines().filter(is_line).nth(1).unwrap().split(" d=\"M").nth(1).unwrap();
    let point = |text: &str| {
        let (left, right) = text.split_once(' ').unwrap();
        (x(left.parse().unwrap()), y(right.parse().unwrap()))
    };
    let points: Vec<(f64, f64)> = path.split('"').next().unwrap().split('L').map(point).collect();
    assert!(points.len() <= 210, "{}", points.len());
    [points[0], points[points.len() - 1]]
}

#[test]
fn lines_end_at_the_ratings_and_start_with_the_first_game() {
    let mut table = games(4, 3000, |k| format!("p{k}"));
    for k in 0..80 {
        table += &format!("late,p{},left,{}-07-01\n", k % 4, 2005 + k / 20);
    }
    for options in
        ["elo --resamples 5", "elo --resamples 5 --side --anchor p2=3000", "glicko2", "trueskill --unit own --side"]
    {
        let (room, page) = page_of(&table, &format!("--system {options}"));
        let json = room.run(&format!("rate --pairs games.csv --system {options} --json")).ends(0).json();
        let board = json["leaderboard"].as_array().unwrap();
        let span = board[0]["rating"].as_f64().unwrap() - board[4]["rating"].as_f64().unwrap();
        for (k, line) in board.iter().enumerate() {
            let [first, last] = ends_of_line(&page, "history", k);
            let rating = line["rating"].as_f64().unwrap();
            assert!((last.1 - rating).abs() < 0.05 * span, "{options}, {line}: {last:?}");
            let start = if line["item"] == "late" { 2005.5 } else { 1990.0 };
            // A system that takes games together has its first point at the end of the first period.
            assert!((start - 0.2..start + 1.5).contains(&first.0), "{options}, {line}: {first:?}");
            assert!((2009.5..2010.1).contains(&last.0), "{options}, {line}: {last:?}");
        }
    }
}

#[test]
fn two_parts_are_not_on_one_axis() {
    let mut table = String::from("left,right,outcome\n");
    for (a, b) in [("a", "b"), ("b", "c"), ("c", "a"), ("x", "y")] {
        table += &format!("{a},{b},left\n{a},{b},left\n{b},{a},left\n{a},{b},tie\n");
    }
    for options in ["", "--system elo --resamples 10"] {
        let (room, page) = page_of(&table, options);
        has(&page, &["Among the 3 of 5 items that can be compared, ", "The items fall into 2 parts", ">scale</th>"]);
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
    has(
        &page,
        &[
            "Among the 2 of 3 items that can be compared, b and c cannot be told apart: each of them may be first (ranks 1–2).",
            "1 item without a rating is left out.",
        ],
    );
}

#[test]
fn few_games() {
    let (room, page) = page_of("left,right,outcome\na,b,tie\nb,c,tie\n", "");
    has(
        &page,
        &["all of them ties", "Every game is a tie", "infinite: every game is a tie", ">0\u{a0}%<small>tie 100\u{a0}%"],
    );
    check_page("few_games", &room.path("board.html"), 0);
    // Ties say nothing about who never met.
    let (_, page) = page_of("left,right,outcome\na,b,tie\nx,y,tie\n", "");
    assert_eq!(page.matches("<td class=\"apart\">–<small>never met").count(), 8, "{page}");
    let (_, page) = page_of("left,right,outcome\na,b,left\n", "");
    has(&page, &["2 items were rated from 1 game, none of them a tie."]);
    for system in ["elo", "glicko", "glicko2", "trueskill"] {
        let (_, page) = page_of("left,right,outcome\na,b,left\n", &format!("--system {system}"));
        has(&page, &["2 items were rated from 1 game, none of them a tie.", "id=\"ratings-title\""]);
        lacks(&page, &["Ratings over time"]);
    }
}

#[test]
fn rows_are_against_columns() {
    let table = "left,right,outcome,weight\na,b,left,2\nb,a,right,1\na,b,tie,0.5\nb,a,left,1\nc,b,left,0\n";
    let (_, page) = page_of(table, "");
    // a won three times: in its row three stand first, and its chance is the larger one.
    let row = |name: &str| {
        let start = format!("<tr><th scope=\"row\">{name}</th><td");
        let from = page.find(&start).unwrap_or_else(|| panic!("no {start} in {page}"));
        page[from..].lines().next().unwrap().to_string()
    };
    has(&row("a"), &["<td></td><td style=\"--share:0.", "<small>3–0.5–1</small>"]);
    has(&row("b"), &["<small>1–0.5–3</small></td><td></td>"]);
    let share = |row: &str| row.split("--share:").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap();
    assert!(share(&row("a")) > 2.5 * share(&row("b")), "{page}");
}

#[test]
fn what_else_helps() {
    let mut table = String::from("left,right,outcome,left.<b>,right.<b>,group\n");
    for k in 0..90 {
        let (left, right) = (k % 3, (k + 1 + k / 45) % 3);
        let (more, less) = ((k * 7) % 10, (k * 3) % 8);
        let outcome = ["tie", "left", "right", "left", "right"][(k * k + k / 7) % 5];
        table += &format!("p{left},p{right},{outcome},{more},{less},only\n");
    }
    let (_, page) = page_of(&table, "--drop group --side");
    has(
        &page,
        &[
            "points for the first-named side (",
            "points for one more of &lt;b&gt; (",
            "odds of winning against losing × ",
        ],
    );
    has(&page, &["when no side has an advantage"]);
    // One group says nothing about how sure anything is.
    let (_, page) = page_of(&table, "");
    has(&page, &["has the highest rating, ", "but there is nothing to tell how sure that is."]);
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
