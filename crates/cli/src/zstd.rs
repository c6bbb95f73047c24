//! Reads zstd as it occurs in files: one or more frames, of which some may be there to be skipped.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, ErrorKind, Read};

/// The first bytes of a zstd file.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The contents of all frames, one after the other.
pub struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    is_within: bool,
}

impl<R: BufRead> Frames<R> {
    /// Starts to read.
    pub fn new(input: R) -> Self {
        Self { input, decoder: FrameDecoder::new(), is_within: false }
    }

    /// Whether another frame follows.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.input.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(_))) => {
                    return Err(invalid("the data after the compressed part is not zstd; skipped"));
                }
                Err(error) => return Err(invalid(error)),
            }
        }
        Ok(false)
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.is_within = false;
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(written), Some(found)) if written != found => Err(invalid("the checksum of zstd is another")),
            _ => Ok(()),
        }
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_within {
                self.is_within = self.next_frame()?;
                if !self.is_within {
                    return Ok(0);
                }
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            match self.decoder.is_finished() {
                true => self.end_frame()?,
                false => {
                    let wanted = BlockDecodingStrategy::UptoBlocks(1);
                    self.decoder.decode_blocks(&mut self.input, wanted).map_err(invalid)?;
                }
            }
        }
    }
}
