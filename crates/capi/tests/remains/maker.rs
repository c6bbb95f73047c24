//! The functions of `libtxid.so` that make ids.

use std::ffi::{c_char, c_void};
use std::ptr;
use test_helpers::library::{FUNCTIONS, Fill, Text};

/// What makes ids.
enum Way {
    /// A function of its own. The one of UUIDs ignores the time.
    Function(Fill),
    Maker(*mut c_void),
}

/// Makes ids in one way, and has the last one.
pub struct Maker {
    way: Way,
    /// Not on the stack, where it would be found.
    text: Box<[u8; 90]>,
    len: usize,
    message: Box<[c_char; 1024]>,
    guessable: Box<bool>,
}

impl Maker {
    /// A format, or a function.
    pub fn of(name: &'static str) -> Self {
        let (mut message, guessable) = (Box::new([0; 1024]), Box::new(false));
        let (way, len) = match name {
            "txid_fill" => (Way::Function(FUNCTIONS.fill), 20),
            "txid_uuid_v4" => (Way::Function(FUNCTIONS.uuid_v4), 36),
            _ => {
                let mut maker = ptr::null_mut();
                // SAFETY: a message has at most 1024 bytes.
                let code =
                    unsafe { (FUNCTIONS.maker_open)(&Text::of(name), 1, false, &mut maker, message.as_mut_ptr()) };
                assert_eq!(code, 0, "{name}");
                (Way::Maker(maker), 0)
            }
        };
        Self { way, text: Box::new([0; 90]), len, message, guessable }
    }

    /// Makes an id.
    #[inline(always)]
    pub fn make(&mut self, ms: i64) {
        let text = self.text.as_mut_ptr().cast();
        match self.way {
            // SAFETY: the text has room for an id of any format.
            Way::Function(fill) => unsafe { fill(text, ms) },
            Way::Maker(maker) => {
                let (guessable, message) = (&mut *self.guessable, self.message.as_mut_ptr());
                // SAFETY: as above, and the maker is open.
                let len = unsafe { (FUNCTIONS.maker_fill)(maker, ms, text, guessable, message) };
                self.len = len as usize;
            }
        }
    }

    pub fn text(&self) -> &[u8] {
        &self.text[..self.len]
    }
}
