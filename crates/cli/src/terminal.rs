//! Makes foreign text safe to print on a terminal.

use memchr::memrchr;
use std::io::{self, Write};

/// The text without anything that could control a terminal: an escape is shown as `\x1b`, a zero as `\0`, and bytes that are
/// not UTF-8 in the same way. Tabs and line ends stay.
pub fn harmless(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        let mut rest = chunk.valid().chars().peekable();
        while let Some(char) = rest.next() {
            let stays = matches!(char, '\t' | '\n') || char == '\r' && rest.peek() == Some(&'\n');
            match char.is_control() && !stays {
                true if char == '\0' => shown += "\\0",
                true => shown += &format!("\\x{:02x}", u32::from(char)),
                false => shown.push(char),
            }
        }
        chunk.invalid().iter().for_each(|byte| shown += &format!("\\x{byte:02x}"));
    }
    shown
}

/// Passes on whole lines, without anything that could control a terminal.
pub(crate) struct Harmless<W> {
    out: W,
    /// The beginning of a line.
    rest: Vec<u8>,
}

impl<W: Write> Harmless<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, rest: Vec::new() }
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        if let Some(newline) = memrchr(b'\n', &self.rest) {
            self.out.write_all(harmless(&self.rest[..=newline]).as_bytes())?;
            self.rest.drain(..=newline);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn nothing_is_left_that_could_control_a_terminal() {
        assert_eq!(harmless("é\tü\r\n".as_bytes()), "é\tü\r\n");
        assert_eq!(harmless(b"\x1b]0;title\x07\r\x7f\0"), r"\x1b]0;title\x07\x0d\x7f\0");
        assert_eq!(harmless(b"\xc2\x9b1m \x9b1m\n"), "\\x9b1m \\x9b1m\n");
        for byte in 0..=255 {
            let shown = harmless(&[b'a', byte, b'b']);
            assert!(!shown.contains(|char: char| char.is_control() && !"\t\n".contains(char)), "{byte}");
        }
    }
}
