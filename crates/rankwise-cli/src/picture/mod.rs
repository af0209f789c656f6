//! Pictures: charts as SVG that look the same inside a page and as a file of their own.
//!
//! Colours are classes over CSS variables, so that one picture serves light, dark and print. Whatever colour tells,
//! a dash, a shape, hatching or a word tells, too. Hostile numbers are left out, never drawn.

mod bars;
mod contour;
mod frame;
mod heat_map;
mod histogram;
mod intervals;
mod levels;
mod lines;
mod margins;
mod reliability;
mod roc;
mod scale;
mod scatter;
mod sheet;
mod strips;
mod svg;

pub(crate) use bars::{Bar, Bars};
pub(crate) use frame::Axis;
pub(crate) use heat_map::HeatMap;
pub(crate) use histogram::Histogram;
pub(crate) use intervals::{IntervalKind, Intervals};
pub(crate) use levels::{Arrow, Field, Levels, Panel};
pub(crate) use lines::{LineChart, Reference, Series};
pub(crate) use margins::MarginChart;
pub(crate) use reliability::ReliabilityChart;
pub(crate) use roc::RocChart;
pub(crate) use scatter::{Cloud, Scatter, Stroke};
pub(crate) use sheet::Sheet;
pub(crate) use strips::{Strip, Strips};
pub(crate) use svg::{escape, shortened};

use svg::{Canvas, coordinate};

/// Colours of light and dark pages; pictures and pages use the same.
pub(crate) const COLOURS: &str = "\
:root{color-scheme:light dark;--paper:#fff;--panel:#f5f6f8;--ink:#1b1f24;--soft:#59616b;--grid:#dfe3e8;--accent:#0b62a8;\
--c0:#0b62a8;--c1:#b3430a;--c2:#00755a;--c3:#8a3f9c;--c4:#7a6400;--c5:#444c56}\
@media (prefers-color-scheme:dark){:root{--paper:#14171b;--panel:#1d2126;--ink:#e9ecef;--soft:#a3acb7;--grid:#343b44;--accent:#6cb4f5;\
--c0:#6cb4f5;--c1:#ff9a5c;--c2:#4fcfa6;--c3:#d79be6;--c4:#e0c24a;--c5:#b4bdc7}}\
@media print{:root{color-scheme:light;--paper:#fff;--panel:#fff;--ink:#000;--soft:#333;--grid:#ccc;--accent:#0b62a8;\
--c0:#0b62a8;--c1:#b3430a;--c2:#00755a;--c3:#8a3f9c;--c4:#7a6400;--c5:#444c56}}";

/// How the marks look.
pub(crate) const MARKS: &str = "\
.rw-picture{font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",sans-serif;fill:var(--ink)}\
.rw-picture text{fill:var(--ink)}\
.rw-picture .rw-soft{fill:var(--soft)}\
.rw-picture .rw-bold{font-weight:600}\
.rw-picture .rw-small{font-size:11px}\
.rw-picture .rw-halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}\
.rw-grid{stroke:var(--grid);stroke-width:1}\
.rw-axis{stroke:var(--soft);stroke-width:1;fill:none}\
.rw-zero{stroke:var(--ink);stroke-width:1}\
.rw-guide{stroke:var(--soft);stroke-width:1.5;stroke-dasharray:6 4;fill:none}\
.rw-threshold{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:2 3}\
.rw-region{fill:var(--soft);fill-opacity:.12}\
.rw-hatch{stroke:var(--c1);stroke-width:3}.rw-hatch-soft{stroke:var(--grid);stroke-width:3}\
.rw-wrong{stroke:var(--c1);stroke-width:1}\
.rw-right{fill:var(--c0);stroke:var(--c0);stroke-width:1}\
.rw-cell{fill:var(--accent);stroke:var(--grid);stroke-width:1}\
.rw-missing{stroke:var(--grid);stroke-width:1}\
.rw-under{stroke:var(--paper);stroke-width:5}\
.rw-whisker{stroke:var(--c0);stroke-width:1.5;fill:none}\
.rw-best{fill:none;stroke:var(--ink);stroke-width:2.5}\
.rw-tie{stroke:var(--soft);stroke-width:1.2;stroke-opacity:.75}\
.rw-arrow{stroke:var(--c1);stroke-width:1.2;fill:var(--c1);stroke-opacity:.8;fill-opacity:.8}\
.rw-faint{opacity:.3}\
.rw-level{stroke:var(--c0);fill:none;stroke-linejoin:round;stroke-width:1.8}\
.rw-chosen{fill:var(--paper);stroke:var(--ink);stroke-width:2}\
.rw-line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:butt}\
.rw-band{fill-opacity:.15;stroke:none}\
.rw-mark{stroke:var(--paper);stroke-width:1}\
.rw-line.rw-s0{stroke:var(--c0)}.rw-line.rw-s1{stroke:var(--c1);stroke-dasharray:8 4}\
.rw-line.rw-s2{stroke:var(--c2);stroke-dasharray:2 3}.rw-line.rw-s3{stroke:var(--c3);stroke-dasharray:10 3 2 3}\
.rw-line.rw-s4{stroke:var(--c4);stroke-dasharray:5 2}.rw-line.rw-s5{stroke:var(--c5);stroke-dasharray:1 2}\
.rw-band.rw-s0,.rw-mark.rw-s0{fill:var(--c0)}.rw-band.rw-s1,.rw-mark.rw-s1{fill:var(--c1)}\
.rw-band.rw-s2,.rw-mark.rw-s2{fill:var(--c2)}.rw-band.rw-s3,.rw-mark.rw-s3{fill:var(--c3)}\
.rw-band.rw-s4,.rw-mark.rw-s4{fill:var(--c4)}.rw-band.rw-s5,.rw-mark.rw-s5{fill:var(--c5)}";

/// A finished picture.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    name: &'static str,
    title: String,
    description: String,
    size: (f64, f64),
    body: String,
}

impl Picture {
    /// `name` is the file's name and tells the picture from the others of a page; title and description are what those
    /// hear who do not see it.
    fn new(name: &'static str, title: String, description: String, size: (f64, f64), canvas: Canvas) -> Self {
        Picture { name, title, description, size, body: canvas.into_string() }
    }

    /// The name, without extension.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// For a page that has [`COLOURS`] and [`MARKS`].
    pub(crate) fn inline(&self) -> String {
        self.svg("", "")
    }

    /// A file of its own.
    pub(crate) fn file(&self) -> String {
        let style = format!("<style>{COLOURS}{MARKS}.rw-picture{{background:var(--paper)}}</style>\n");
        self.svg(" xmlns=\"http://www.w3.org/2000/svg\"", &style)
    }

    fn svg(&self, attributes: &str, head: &str) -> String {
        let Picture { name, title, description, size, body } = self;
        let [width, height] = [size.0, size.1].map(coordinate);
        let [title, description] = [title, description].map(|text| escape(text));
        format!(
            "<svg{attributes} class=\"rw-picture\" role=\"img\" aria-labelledby=\"{name}-title {name}-desc\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
             <title id=\"{name}-title\">{title}</title>\n<desc id=\"{name}-desc\">{description}</desc>\n{head}{body}</svg>\n"
        )
    }
}

#[cfg(test)]
mod tests;
