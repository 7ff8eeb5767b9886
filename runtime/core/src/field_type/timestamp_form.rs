//! Timestamps in the three output formats of the specification.

use chrono::{DateTime, Datelike, Timelike, Utc};

use crate::meta::TimestampForm;

/// Writes `2026-03-21T10:00:00Z`, with `.000` or `+00:00` depending on the format. Years have four digits, 0001 to
/// 9999.
pub fn write_timestamp(out: &mut Vec<u8>, time: DateTime<Utc>, form: TimestampForm) {
    // Hand-written, because chrono's formatter costs more than the rest of a row.
    let mut text = *b"0000-00-00T00:00:00";
    write_digits(&mut text[0..4], time.year().clamp(0, 9999) as u32);
    write_digits(&mut text[5..7], time.month());
    write_digits(&mut text[8..10], time.day());
    write_digits(&mut text[11..13], time.hour());
    write_digits(&mut text[14..16], time.minute());
    write_digits(&mut text[17..19], time.second());
    out.extend_from_slice(&text);
    match form {
        TimestampForm::Seconds => out.push(b'Z'),
        TimestampForm::Offset => out.extend_from_slice(b"+00:00"),
        TimestampForm::Millis => {
            let mut millis = *b".000Z";
            write_digits(&mut millis[1..4], time.timestamp_subsec_millis().min(999));
            out.extend_from_slice(&millis);
        }
    }
}

fn write_digits(out: &mut [u8], mut number: u32) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_matches_the_specification() {
        let time = "2026-03-21T10:05:09.070+02:00".parse::<DateTime<Utc>>().unwrap();
        let text = |form| {
            let mut out = Vec::new();
            write_timestamp(&mut out, time, form);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(TimestampForm::Seconds), "2026-03-21T08:05:09Z");
        assert_eq!(text(TimestampForm::Millis), "2026-03-21T08:05:09.070Z");
        assert_eq!(text(TimestampForm::Offset), "2026-03-21T08:05:09+00:00");
    }
}
