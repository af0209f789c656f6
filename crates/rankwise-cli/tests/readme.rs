//! The commands of the README, typed as they stand there.

#[test]
fn the_commands_of_the_readme_work() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("wines.csv", "id,alcohol,acidity,age\nbarolo,14.1,5.6,9\nmerlot,13.2,5.1,3\nrioja,13.6,5.4,6\n");
    write("tastings.csv", "left,right,outcome\nbarolo,merlot,left\nmerlot,rioja,tie\nrioja,barolo,right\n");
    write("more_tastings.csv", "left,right,winner\nmerlot,barolo,b\nbarolo,rioja,tie\n");
    write("tonight.csv", "left,right\nmerlot,barolo\n");
    let readme = include_str!("../../../README.md");
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("rankwise ")).collect();
    assert!(commands.len() >= 5, "the README lost its commands");
    for command in commands {
        let words: Vec<&str> = command.split('#').next().unwrap().split_whitespace().collect();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_rankwise"))
            .args(&words)
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{command} printed nothing");
    }
}
