//! Help, version, completions.

use crate::room::Room;

const COMMANDS: [&str; 13] = [
    "train",
    "tune",
    "predict",
    "evaluate",
    "report",
    "rate",
    "convert",
    "inspect",
    "export",
    "simulate",
    "demo",
    "reproduce",
    "completions",
];

#[test]
fn every_command_has_help_with_an_example() {
    let room = Room::new();
    for command in COMMANDS {
        for flag in ["--help", "-h"] {
            let ran = room.run(&format!("{command} {flag}")).ends(0);
            assert!(ran.out.contains("Example:\n  rankwise "), "{command}: {}", ran.out);
            assert!(ran.out.contains(&format!("Usage: rankwise {command}")), "{}", ran.out);
            for option in ["--threads", "--seed", "--json", "--quiet", "--verbose"] {
                assert!(ran.out.contains(option), "{command} lacks {option}");
            }
            assert_eq!(ran.err, "");
        }
    }
}

#[test]
fn the_program_has_help_that_names_every_command() {
    let ran = Room::new().run("--help").ends(0);
    COMMANDS.iter().for_each(|command| assert!(ran.out.contains(&format!("\n  {command}")), "{command}"));
    assert!(ran.out.contains("Example:"));
}

#[test]
fn lines_of_help_fit_the_screen() {
    let room = Room::new();
    for command in COMMANDS {
        let ran = room.run(&format!("{command} --help"));
        ran.out.lines().for_each(|line| assert!(line.chars().count() <= 100, "{line}"));
    }
}

#[test]
fn tune_offers_no_hard_margin() {
    for command in ["train", "tune"] {
        let help = Room::new().run(&format!("{command} --help")).ends(0).out;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("inf is a hard margin (train)"), "{help}");
    }
}

#[test]
fn train_help_lists_the_words_and_defaults_of_its_options() {
    let help = Room::new().run("train --help").ends(0).out;
    for words in [
        "[default: constant] [possible values: constant, pair]",
        "[default: rank for items, compare for pairs] [possible values: compare, rank, rank2, davidson, swap, ridge, online, classify, regress, ordinal, compare-lp, rvm, rank-l1]",
        "[possible values: linear, poly, rbf, sigmoid]",
        "[possible values: hinge, squared-hinge, logistic, epsilon, squared-epsilon]",
        "[default: refit] [possible values: refit, model]",
        "--C <C>",
        "[default: 0.001]",
        "[default: 512]",
        "[default: 3]",
        "[default: scale]",
    ] {
        let flat = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "no {words:?} in {help}");
    }
}

#[test]
fn version_is_told() {
    let ran = Room::new().run("--version").ends(0);
    assert_eq!(ran.out.trim(), format!("rankwise {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_exist_for_every_shell() {
    let room = Room::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = room.run(&format!("completions {shell}")).ends(0);
        assert!(ran.out.contains("rankwise") && ran.out.contains("tie-region"), "{shell}");
    }
    let json = room.run("completions fish --json").ends(0).json();
    assert_eq!(json["shell"], "fish");
    room.run("completions tcsh").fails(2, &["bash", "zsh", "fish"]);
}

#[test]
fn help_is_a_command_too() {
    let room = Room::new();
    assert_eq!(room.run("help").ends(0).out, room.run("--help").ends(0).out);
    for command in COMMANDS {
        let ran = room.run(&format!("help {command}")).ends(0);
        assert_eq!(ran.out, room.run(&format!("{command} --help")).ends(0).out);
        assert_eq!(ran.err, "");
    }
    room.run("help learn").fails(2, &["learn"]);
}
