//! Numbers from bytes, eight digits at a time and correctly rounded: what `str::parse` gives, sooner.

use crate::data::{POWERS, SHORT};

const WHOLE_POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
/// Whole numbers up to here are exact in f64, and quotients of exact numbers are correctly rounded.
const LARGEST_EXACT: u64 = 1 << 53;
/// Numbers of so many digits fit in u64.
const MAX_DIGITS: usize = 19;

/// The byte at a place; text ends with a line end.
#[inline(always)]
pub(super) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(b'\n')
}

/// Whether a byte ends a token.
#[inline(always)]
pub(super) fn is_end(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'#')
}

/// Where the token ends that a place is in.
pub(super) fn token_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().position(|&byte| is_end(byte)).map_or(text.len(), |n| at + n)
}

#[inline(always)]
fn eight_bytes(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => last_bytes(text, at),
    }
}

#[cold]
fn last_bytes(text: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|n| byte(text, at + n)))
}

/// The number that the first of eight bytes make, as far as they are digits, and how many these are.
#[inline(always)]
fn leading_digits(bytes: u64) -> (u64, usize) {
    // Digits become 0 to 9; adding 0x76 sets the top bit of the first byte above 9, and carries only beyond it.
    let bytes = bytes ^ 0x3030_3030_3030_3030;
    let others = (bytes.wrapping_add(0x7676_7676_7676_7676) | bytes) & 0x8080_8080_8080_8080;
    let n = others.trailing_zeros() / 8;
    // The digits move to the end, behind zeros; in two steps, because a shift by all 64 bits is none.
    let half = 4 * (8 - n);
    let bytes = (bytes << half) << half;
    // Neighbours join: digits, then twos, then fours.
    let twos = (bytes.wrapping_mul(10 * (1 << 8) + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos.wrapping_mul(100 * (1 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000 * (1 << 32) + 1) >> 32, n as usize)
}

/// The number that the next digits make, and how many they are, at most eight.
#[inline(always)]
pub(super) fn digits(text: &[u8], at: usize) -> (u64, usize) {
    leading_digits(eight_bytes(text, at))
}

/// Indices as they are written, with the colon.
static INDICES: [u64; 1000] = written_indices();

const fn written_indices() -> [u64; 1000] {
    let mut written = [0; 1000];
    let mut index = 0;
    while index < written.len() {
        let mut bytes = b':' as u64;
        let mut rest = index;
        loop {
            bytes = bytes << 8 | (b'0' + (rest % 10) as u8) as u64;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        written[index] = bytes;
        index += 1;
    }
    written
}

/// Whether the text goes on with this index and a colon, and where the value begins. Where it does not, or the index
/// has many digits, `None`.
#[inline(always)]
pub(super) fn expected_index(text: &[u8], at: usize, index: u64) -> Option<usize> {
    let written = *INDICES.get(index as usize)?;
    // Predicted, not computed: where the value begins is then known before the index is read.
    let n = if index < 10 {
        2
    } else if index < 100 {
        3
    } else {
        4
    };
    let is_there = (eight_bytes(text, at) ^ written) << (64 - 8 * n) == 0;
    is_there.then_some(at + n)
}

/// The number that begins here and where it ends, if it is of the usual kind: few digits, perhaps a sign and a point.
#[inline(always)]
pub(super) fn usual_number(text: &[u8], start: usize) -> Option<(f64, usize)> {
    usual_value(text, start).map(|(value, end, _)| (value, end))
}

/// The same, and whether it has more digits than a short number.
#[inline(always)]
pub(super) fn usual_value(text: &[u8], start: usize) -> Option<(f64, usize, bool)> {
    let is_negative = byte(text, start) == b'-';
    let at = start + usize::from(is_negative);
    // Half of all signs would be mispredicted.
    let signed = |value: f64| f64::from_bits(value.to_bits() ^ u64::from(is_negative) << 63);
    // One digit, a point, and at most five more digits: the point is taken out, and all are read at once.
    let bytes = eight_bytes(text, at);
    if bytes >> 8 & 0xff == u64::from(b'.') {
        let (mantissa, n) = leading_digits(bytes & 0xff | bytes >> 8 & !0xff);
        if (1..7).contains(&n) && is_end(byte(text, at + n + 1)) {
            return Some((signed(mantissa as i64 as f64 / POWERS[n - 1]), at + n + 1, false));
        }
    }
    longer_number(text, at).map(|(value, end, is_long)| (signed(value), end, is_long))
}

/// A number without a sign.
#[inline]
fn longer_number(text: &[u8], start: usize) -> Option<(f64, usize, bool)> {
    let (mut mantissa, mut n_digits) = digits(text, start);
    let mut at = start + n_digits;
    let mut n_decimals = 0;
    if byte(text, at) == b'.' {
        let (decimals, n) = digits(text, at + 1);
        mantissa = mantissa * WHOLE_POWERS[n] + decimals;
        n_decimals = n;
        n_digits += n;
        at += 1 + n;
        if n == 8 {
            let (decimals, n) = digits(text, at);
            n_decimals += n;
            n_digits += n;
            at += n;
            if n_digits > MAX_DIGITS {
                return None;
            }
            mantissa = mantissa * WHOLE_POWERS[n] + decimals;
        }
    }
    if n_digits == 0 || mantissa > LARGEST_EXACT || !is_end(byte(text, at)) {
        return None;
    }
    Some((mantissa as i64 as f64 / POWERS[n_decimals], at, mantissa >= SHORT))
}

/// The number that a token is.
pub(super) fn any_number(token: &[u8]) -> Option<f64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    #[track_caller]
    fn check(word: &str) -> bool {
        let found = usual_number(word.as_bytes(), 0);
        if let Some((value, end)) = found {
            assert_eq!(end, word.len(), "{word}");
            let expected: f64 = word.parse().unwrap_or_else(|_| panic!("{word:?} is no number"));
            assert_eq!(value.to_bits(), expected.to_bits(), "{word}: {value} is not {expected}");
        }
        found.is_some()
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut random = Random::new(7);
        let mut n_usual = 0;
        let alphabet = b"0123456789012345678901234567899999000.-+e";
        for round in 0..2_000_000 {
            let word = match round % 4 {
                0 => {
                    let n = 1 + random.below(20);
                    (0..n).map(|_| alphabet[random.below(alphabet.len())] as char).collect()
                }
                1 => format!("{:.*}", random.below(19), random.normal() * 10f64.powi(random.below(8) as i32 - 3)),
                2 => format!("{}", f64::from_bits(random.below(usize::MAX) as u64)),
                _ => format!("{}.{}", random.below(100_000), (random.below(usize::MAX) as u64) >> random.below(64)),
            };
            n_usual += usize::from(check(&word));
        }
        assert!(n_usual > 800_000, "{n_usual}");
    }

    #[test]
    fn unusual_words_are_left_to_others() {
        for word in ["", "-", ".", "-.", "+1", "1e3", "nan", "inf", "1x", "--1", "1-", "1.2.3", "12345678901234567890"]
        {
            assert!(!check(word), "{word}");
        }
        for word in ["0", "-0", "1.", ".5", "-.5", "007", "12345678.90", "0.9007199254740992", "123.0000000000000"] {
            assert!(check(word), "{word}");
        }
        assert!(!check("0.9007199254740993"));
    }

    #[test]
    fn bytes_behind_digits_do_not_matter() {
        for other in 0..=255u8 {
            for n in 0..8 {
                let mut text = [other; 8];
                text[..n].fill(b'7');
                let expected = (7 * (10u64.pow(n as u32) - 1) / 9, n);
                if !other.is_ascii_digit() {
                    assert_eq!(digits(&text, 0), expected, "{other} after {n}");
                }
            }
        }
    }
}
