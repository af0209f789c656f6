//! Numbers read without the standard library have its bits, and end where a token does.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let Some((value, end)) = rankwise::io::fuzzing::usual_number(text) else { return };
    assert!(end <= text.len() && text.get(end).is_none_or(|byte| b" \n\t\r#".contains(byte)));
    let word = std::str::from_utf8(&text[..end]).expect("a number is text");
    let expected: f64 = word.parse().expect("it is a number to the standard library, too");
    assert_eq!(value.to_bits(), expected.to_bits(), "{word}");
});
