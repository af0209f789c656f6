//! Marks on a canvas: the only place that writes SVG. Numbers that are none never get through, text is escaped.

use std::fmt::Write as _;

/// Text for XML and HTML, in elements and in attributes; what XML does not allow becomes U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// A coordinate: two digits after the point, never anything but a number.
pub(super) fn coordinate(value: f64) -> String {
    let value = if value.is_nan() { 0.0 } else { value.clamp(-1e5, 1e5) };
    let rounded = format!("{value:.2}");
    let short = rounded.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".into() } else { short.into() }
}

/// Size of the letters in pictures.
pub(super) const LETTER: f64 = 13.0;

/// About how wide a text is: letters of a system font have no common width, so this errs on the wide side.
pub(super) fn text_width(text: &str) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | 'f' | 't' | 'r' | '(' | ')' => 0.36,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 0.95,
        'A'..='Z' => 0.70,
        '\u{300}'..='\u{36f}' => 0.0,
        '\u{1100}'.. => {
            if ('\u{2000}'..='\u{22ff}').contains(&c) {
                0.62
            } else {
                1.05
            }
        }
        _ => 0.58,
    };
    LETTER * text.chars().map(width).sum::<f64>()
}

/// The text cut to a width: dots in the middle, because long names often differ at the end.
pub(crate) fn shortened(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.into();
    }
    let letters: Vec<char> = text.chars().collect();
    let (mut head, mut tail) = (String::new(), String::new());
    let mut room = width - text_width("…");
    for k in 0..letters.len() {
        // Two letters from the front, then one from the back.
        let c = if k % 3 == 2 { letters[letters.len() - 1 - k / 3] } else { letters[k - k / 3] };
        room -= text_width(c.encode_utf8(&mut [0; 4]));
        if room < 0.0 {
            break;
        }
        if k % 3 == 2 { tail.insert(0, c) } else { head.push(c) }
    }
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// Where a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The commands of a path.
#[derive(Debug, Clone, Default)]
pub(super) struct Path(String);

impl Path {
    /// A line through the points.
    pub(super) fn through(points: &[(f64, f64)]) -> Self {
        let mut path = Path::default();
        points.iter().enumerate().for_each(|(at, &point)| path.add(if at == 0 { 'M' } else { 'L' }, point));
        path
    }

    fn add(&mut self, command: char, (x, y): (f64, f64)) {
        self.0.push(command);
        self.0 += &coordinate(x);
        self.0.push(' ');
        self.0 += &coordinate(y);
    }

    pub(super) fn closed(mut self) -> Self {
        if !self.0.is_empty() {
            self.0.push('Z');
        }
        self
    }

    pub(super) fn extend(&mut self, other: Path) {
        self.0 += &other.0;
    }
}

/// What is drawn so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Canvas(String);

impl Canvas {
    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(coordinate);
        self.write(&format!(r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#));
    }

    pub(super) fn rect(&mut self, class: &str, area: Area) {
        self.write(&format!("<rect {}/>", area.attributes(class)));
    }

    /// A rectangle that lets `strength` (0 to 1) of its colour through and says what it is on hovering.
    pub(super) fn shaded(&mut self, class: &str, area: Area, strength: f64, says: &str) {
        let (attributes, strength) = (area.attributes(class), coordinate(strength.clamp(0.0, 1.0)));
        let says = escape(says);
        self.write(&format!(r#"<rect {attributes} fill-opacity="{strength}"><title>{says}</title></rect>"#));
    }

    /// A rectangle filled with the hatching of this picture.
    pub(super) fn hatched(&mut self, class: &str, area: Area, picture: &str) {
        let attributes = area.attributes(class);
        self.write(&format!(r#"<rect {attributes} fill="url(#{}-hatch)"/>"#, escape(picture)));
    }

    /// Defines that hatching, of lines of a class.
    pub(super) fn define_hatch(&mut self, picture: &str, class: &str) {
        self.write(&format!(
            "<defs><pattern id=\"{}-hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><line class=\"{class}\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs>",
            escape(picture)
        ));
    }

    pub(super) fn path(&mut self, class: &str, path: &Path) {
        if !path.0.is_empty() {
            self.write(&format!(r#"<path class="{class}" d="{}"/>"#, path.0));
        }
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        self.label(class, (x, y), anchor, text, text);
    }

    /// A text that may be shortened; the whole of it shows on hovering.
    pub(super) fn label(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, shown: &str, whole: &str) {
        let [x, y] = [x, y].map(coordinate);
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let whole = if shown == whole { String::new() } else { format!("<title>{}</title>", escape(whole)) };
        self.write(&format!(r#"<text class="{class}" x="{x}" y="{y}"{anchor}>{}{whole}</text>"#, escape(shown)));
    }

    /// A text that reads upwards.
    pub(super) fn upward_text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let [x, y] = [x, y].map(coordinate);
        self.write(&format!(
            r#"<text class="{class}" transform="translate({x} {y}) rotate(-90)" text-anchor="middle">{}</text>"#,
            escape(text)
        ));
    }

    /// One of six shapes that differ without colour.
    pub(super) fn marker(&mut self, class: &str, (x, y): (f64, f64), shape: usize) {
        let r = 4.0;
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + r * dx, y + r * dy)).collect();
            Path::through(&corners).closed()
        };
        let path = match shape % 6 {
            0 => {
                let [x, y] = [x, y].map(coordinate);
                return self.write(&format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="3.6"/>"#));
            }
            1 => polygon(&[(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)]),
            2 => polygon(&[(0.0, -1.15), (1.05, 0.8), (-1.05, 0.8)]),
            3 => polygon(&[(0.0, -1.25), (1.05, 0.0), (0.0, 1.25), (-1.05, 0.0)]),
            4 => polygon(&[(0.0, 1.15), (1.05, -0.8), (-1.05, -0.8)]),
            _ => polygon(&[(-1.2, -0.35), (1.2, -0.35), (1.2, 0.35), (-1.2, 0.35)]),
        };
        self.path(class, &path);
    }

    /// What another canvas holds, moved to a place.
    pub(super) fn inside(&mut self, (x, y): (f64, f64), body: &str) {
        let [x, y] = [x, y].map(coordinate);
        self.write(&format!("<g transform=\"translate({x} {y})\">\n{body}</g>"));
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }

    fn write(&mut self, element: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{element}");
    }
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    /// Between two corners, in any order.
    pub(super) fn between((x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Self {
        Area { left: x1.min(x2), top: y1.min(y2), width: (x2 - x1).abs(), height: (y2 - y1).abs() }
    }

    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Whether the two have a point in common.
    pub(super) fn touches(&self, other: &Area) -> bool {
        self.left < other.right() && other.left < self.right() && self.top < other.bottom() && other.top < self.bottom()
    }

    fn attributes(&self, class: &str) -> String {
        let [left, top] = [self.left, self.top].map(coordinate);
        let [width, height] = [self.width, self.height].map(|size| coordinate(size.max(0.0)));
        format!(r#"class="{class}" x="{left}" y="{top}" width="{width}" height="{height}""#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
        assert_eq!(escape("a&b\"'\u{1b}\u{0}é"), "a&amp;b&quot;&#39;\u{fffd}\u{fffd}é");
    }

    #[test]
    fn coordinates_are_numbers() {
        assert_eq!(coordinate(1.0), "1");
        assert_eq!(coordinate(-0.001), "0");
        assert_eq!(coordinate(12.345), "12.35");
        assert_eq!(coordinate(10.0), "10");
        for hostile in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
            assert!(coordinate(hostile).parse::<f64>().unwrap().abs() <= 1e5);
        }
    }

    #[test]
    fn long_labels_are_cut() {
        assert_eq!(shortened("age", 100.0), "age");
        let short = shortened(&"long ".repeat(50), 100.0);
        assert!(short.contains('…') && text_width(&short) <= 100.0 && short.len() > 8, "{short}");
        let [one, two] = ["one", "two"].map(|end| shortened(&format!("a long name that ends with {end}"), 100.0));
        assert!(one.starts_with("a long") && one.ends_with("one") && one != two, "{one}");
        assert_eq!(shortened("anything", 0.0), "…");
    }
}
