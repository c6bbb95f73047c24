//! Draws the bits of an id with its fields.

use anstyle::{AnsiColor, Style};

const BITS_A_ROW: usize = 48;

/// Rows of bits, each with a ruler below that shows the fields.
pub fn of(bytes: &[u8], fields: &[(&str, usize)]) -> Vec<String> {
    let bits = 8 * bytes.len();
    (0..bits).step_by(BITS_A_ROW).flat_map(|row| rows(bytes, fields, row, bits.min(row + BITS_A_ROW))).collect()
}

fn rows(bytes: &[u8], fields: &[(&str, usize)], begin: usize, end: usize) -> [String; 2] {
    let colors = [AnsiColor::Cyan, AnsiColor::Yellow, AnsiColor::Green, AnsiColor::Magenta];
    let (mut digits, mut rulers) = (String::new(), String::new());
    let mut field_begin = 0;
    for (&(name, width), color) in fields.iter().zip(colors.iter().cycle()) {
        let (from, to) = (field_begin.max(begin), (field_begin + width).min(end));
        field_begin += width;
        if from >= to {
            continue;
        }
        let style = Style::new().fg_color(Some((*color).into()));
        // A gap between bytes, also where two fields meet.
        let gap = if from > begin && from % 8 == 0 { " " } else { "" };
        let part = digits_of(bytes, from, to);
        let ruler = ruler(&format!(" {name}, {width} bits "), part.len());
        digits += &format!("{gap}{style}{part}{style:#}");
        rulers += &format!("{gap}{style}{ruler}{style:#}");
    }
    [digits, rulers]
}

fn digits_of(bytes: &[u8], from: usize, to: usize) -> String {
    let mut digits = String::new();
    for bit in from..to {
        if bit > from && bit % 8 == 0 {
            digits.push(' ');
        }
        digits.push(if bytes[bit / 8] >> (7 - bit % 8) & 1 == 1 { '1' } else { '0' });
    }
    digits
}

/// `|---- label ----|`, without the label if it does not fit.
fn ruler(label: &str, width: usize) -> String {
    match width {
        0 | 1 => "|".repeat(width),
        _ if label.len() + 4 > width => format!("|{}|", "-".repeat(width - 2)),
        _ => format!("|{label:-^0$}|", width - 2),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_ruler_shows_each_field_and_its_name_if_that_fits() {
        let fields = [("head", 8), ("ab", 16), ("c", 8), ("abc", 3), ("rest", 21)];
        let rows = super::of(&[0xa5, 0xff, 0, 0, 0x0f, 0xf0, 0x81], &fields);
        assert_eq!(
            rows.iter().map(|row| anstream::adapter::strip_str(row).to_string()).collect::<Vec<_>>(),
            [
                "10100101 11111111 00000000 00000000 00001111 11110000",
                "|------| |- ab, 16 bits -| |------| |-||------------|",
                "10000001",
                "|------|",
            ]
        );
        assert_eq!(super::of(&[0, 0], &[("abc", 16)])[1], "\x1b[36m|---------------|\x1b[0m", "one character too long");
        // Four colors, and the first again.
        let [(a, b), (c, d), (e, end)] = [("\x1b[36m", "\x1b[33m"), ("\x1b[32m", "\x1b[35m"), ("\x1b[36m", "\x1b[0m")];
        let fields = ["a", "b", "c", "d", "e"].map(|name| (name, 4));
        let digits = format!("{a}0001{end}{b}0010{end} {c}0011{end}{d}0100{end} {e}0101{end}");
        let rulers = format!("{a}|--|{end}{b}|--|{end} {c}|--|{end}{d}|--|{end} {e}|--|{end}");
        assert_eq!(super::of(&[0x12, 0x34, 0x50], &fields), [digits, rulers]);
    }
}
