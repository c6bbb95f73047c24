//! The functions of `libtxid.so` that make ids.

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::LazyLock;
use test_helpers::library;

type Open = unsafe extern "C" fn(*const Word, usize, bool, *mut *mut c_void, *mut c_char) -> i32;
type Fill = unsafe extern "C" fn(*const c_void, i64, *mut c_char, *mut bool, *mut c_char) -> i32;

type Function = unsafe extern "C" fn(*mut c_char, i64);

/// A txid_text.
#[repr(C)]
struct Word {
    len: usize,
    data: *const u8,
}

static LIBRARY: LazyLock<usize> = LazyLock::new(|| {
    let path = CString::new(library::path().as_os_str().as_bytes()).unwrap();
    // SAFETY: the library's initializers are Rust's own.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    assert!(!handle.is_null());
    handle as usize
});

/// The address of a function of the library.
pub fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: the handle is never closed.
    let symbol = unsafe { libc::dlsym(*LIBRARY as *mut c_void, name.as_ptr()) };
    assert!(!symbol.is_null(), "{name:?}");
    symbol
}

/// What makes ids.
enum Way {
    /// A function of its own. The one of UUIDs ignores the time.
    Function(Function),
    Maker(Fill, *mut c_void),
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
    pub fn of(name: &str) -> Self {
        let (mut message, guessable) = (Box::new([0; 1024]), Box::new(false));
        // SAFETY: the functions have this signature. An argument more does no harm.
        let function = |name| Way::Function(unsafe { std::mem::transmute::<*mut c_void, Function>(symbol(name)) });
        let (way, len) = match name {
            "txid_fill" => (function(c"txid_fill"), 20),
            "txid_uuid_v4" => (function(c"txid_uuid_v4"), 36),
            _ => {
                let (word, mut maker) = (Word { len: name.len(), data: name.as_ptr() }, ptr::null_mut());
                // SAFETY: the functions have these signatures, and a message has at most 1024 bytes.
                let fill = unsafe {
                    let open = std::mem::transmute::<*mut c_void, Open>(symbol(c"txid_maker_open"));
                    assert_eq!(open(&word, 1, false, &mut maker, message.as_mut_ptr()), 0, "{name}");
                    std::mem::transmute::<*mut c_void, Fill>(symbol(c"txid_maker_fill"))
                };
                (Way::Maker(fill, maker), 0)
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
            Way::Maker(fill, maker) => {
                // SAFETY: as above, and the maker is open.
                let len = unsafe { fill(maker, ms, text, &mut *self.guessable, self.message.as_mut_ptr()) };
                self.len = len as usize;
            }
        }
    }

    pub fn text(&self) -> &[u8] {
        &self.text[..self.len]
    }
}
