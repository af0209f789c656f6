//! Names of items in sentences and lines.

/// A name without what would turn the text around it, or break its line.
pub fn plain_name(name: &str) -> String {
    let is_turning = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    name.chars().filter(|&c| !is_turning(c) && !c.is_control()).collect()
}

/// A name that is cut where it would make a line too long.
pub fn short_name(name: &str) -> String {
    const LONGEST: usize = 40;
    let name = plain_name(name);
    match name.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name,
    }
}

/// The first names, and how many more there are.
pub fn first_names(all: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown = all[..all.len().min(SHOWN)].iter().map(|name| short_name(name)).collect::<Vec<_>>().join(", ");
    if all.len() > SHOWN { format!("{shown} and {} more", all.len() - SHOWN) } else { shown }
}
