//! Triplet comparisons of compressed images, as JPEG AIC publishes them.

use std::collections::BTreeSet;
use std::path::Path;

use super::files::Origin;
use super::pairs::{PairRows, PublishedPairs, table_source};
use crate::data::Outcome;
use crate::error::{Error, Result};
use crate::io::source::blame_named;
use crate::io::table::Table;

const ORIGIN: Origin = Origin {
    what: "responses of JPEG AIC (JPEG_AIC_SDR_BTC_JPEG_AI_responses_….csv and the like)",
    from: "https://github.com/jpeg-aic/dataset-JPEG-AI-SDR25",
};

/// The columns that are read.
const COLUMNS: [&str; 10] = [
    "img_num",
    "worker",
    "img_left",
    "img_right",
    "codec_left",
    "codec_right",
    "dlevel_left",
    "dlevel_right",
    "is_trap",
    "response",
];

/// Reads responses to triplets: a reference and two images, of which the response names the one that differs **more**
/// from the reference. The other one is the better image and the outcome; `notsure` is a tie. Trap questions and
/// skipped ones are left out and counted.
///
/// The features of an image are an indicator for each codec (`codec=NUMBER`, 0 is the reference itself) and `level`,
/// the level of distortion. Groups are source images (`image`), or workers (`worker`).
pub fn read_jpeg_ai(path: &Path) -> Result<PublishedPairs> {
    blame_named(read_plain(path))
}

fn read_plain(path: &Path) -> Result<PublishedPairs> {
    ORIGIN.open(path)?;
    let mut table = Table::open_published(&table_source(path))?;
    let mut at = [0; COLUMNS.len()];
    for (at, name) in at.iter_mut().zip(COLUMNS) {
        *at = table.header.find(name).ok_or_else(|| {
            let problem = format!("no column {name}; columns: {}", table.header.listing());
            Error::data(table.header.place(), problem, format!("expected {}", ORIGIN.what))
        })?;
    }
    let [image, worker, left, right, left_codec, right_codec, left_level, right_level, trap, response] = at;
    let mut rows = PairRows::grouped_by(["image", "worker"]);
    let (mut n_traps, mut n_skipped) = (0, 0);
    let mut images: Vec<(u32, f64)> = Vec::new();
    while table.next_row()? {
        let outcome = match table.word(response)? {
            "left" => Some(Outcome::Right),
            "right" => Some(Outcome::Left),
            "notsure" | "not sure" => Some(Outcome::Tie),
            "skip" => None,
            other => {
                let problem = format!("found {other:?}, expected left, right, notsure or skip");
                return Err(Error::data(table.place(response), problem, "correct it, or take the row out of the file"));
            }
        };
        if finite_number(&table, trap)? != 0.0 {
            n_traps += 1;
            continue;
        }
        let Some(outcome) = outcome else {
            n_skipped += 1;
            continue;
        };
        let numbers =
            rows.add([table.word(left)?, table.word(right)?], outcome, &[table.word(image)?, table.word(worker)?]);
        let sides = [(left_codec, left_level, left), (right_codec, right_level, right)];
        for (number, (codec_at, level_at, name_at)) in numbers.into_iter().zip(sides) {
            let codec = table.word(codec_at)?.parse::<u32>().map_err(|_| {
                let problem = format!("found {:?}, expected the number of a codec", table.word(codec_at).unwrap_or(""));
                Error::data(table.place(codec_at), problem, "correct it, or take the row out of the file")
            })?;
            let known = (codec, finite_number(&table, level_at)?);
            match images.get(number as usize) {
                None => images.push(known),
                Some(first) if *first != known => {
                    let problem = "the image has another codec or level in a row before";
                    return Err(Error::data(
                        table.place(name_at),
                        problem,
                        "fetch the file again, as it was published",
                    ));
                }
                Some(_) => {}
            }
        }
    }
    if rows.len() == 0 {
        let problem = format!("nothing is left: {n_traps} trap questions, {n_skipped} skipped ones");
        return Err(Error::data(table.header.place(), problem, "take a file with responses"));
    }
    let codecs: BTreeSet<u32> = images.iter().map(|image| image.0).collect();
    let names = codecs.iter().map(|codec| format!("codec={codec}")).chain(["level".to_string()]).collect();
    let of_image = |&(codec, level): &(u32, f64)| {
        codecs.iter().map(move |&known| f64::from(known == codec)).chain([level]).collect::<Vec<_>>()
    };
    let values = images.iter().flat_map(of_image).collect();
    let found = rows.finish(Some((names, values)), None)?;
    Ok(found.with_left_out("trap questions", n_traps).with_left_out("skipped questions", n_skipped))
}

/// A finite number in the current row.
fn finite_number(table: &Table, column: usize) -> Result<f64> {
    let word = table.word(column)?;
    word.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(|| {
        let problem = format!("found {word:?}, expected a finite number");
        Error::data(table.place(column), problem, "correct it, or take the row out of the file")
    })
}
