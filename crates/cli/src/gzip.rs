//! Reads gzip as it occurs in files: one or more members, possibly followed by zeros.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, Read};

/// The first bytes of a gzip file.
pub(crate) const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// The contents of all members of a gzip, one after the other.
///
/// Zeros between members and after the last one are padding, left by tapes and by some programs that append to files.
pub struct Members<R> {
    /// None only between two members.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    /// Starts to read.
    pub fn new(input: R) -> Self {
        Self { member: Some(GzDecoder::new(input)) }
    }

    /// Whether another member follows.
    fn next_member(&mut self) -> io::Result<bool> {
        let Some(mut input) = self.member.take().map(GzDecoder::into_inner) else {
            return Ok(false);
        };
        loop {
            let next = input.fill_buf()?;
            let zeros = next.iter().take_while(|&&byte| byte == 0).count();
            match next.get(zeros) {
                None if next.is_empty() => return Ok(false),
                None => input.consume(zeros),
                Some(&byte) if byte == MAGIC[0] => {
                    input.consume(zeros);
                    self.member = Some(GzDecoder::new(input));
                    return Ok(true);
                }
                Some(_) => {
                    let error = "the data after the compressed part is neither gzip nor padding; skipped";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, error));
                }
            }
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.next_member()?;
        }
        Ok(0)
    }
}
