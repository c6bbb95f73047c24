//! Data of a request in nginx, kept until the request has ended. A table maps the connection, which internal redirects and
//! subrequests share, to memory of the request. nginx runs a request's cleanups before the log phase. Our cleanup removes
//! the data from the table, and adds itself to the list again, where the log phase finds the data.
//!
//! No header of nginx is compiled here, for a library that any nginx may load. So what is known of its structs is checked
//! against the nginx that is there, once in each process: a request begins with a signature, and the list is tried.

use crate::caller::txid_text;
use crate::span::txid_span;
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr::{self, null, null_mut};
use std::sync::atomic::{AtomicU8, Ordering};

/// Adds an entry to the list of a request's main request, with `size` bytes of its memory as data, and returns it: nginx's
/// ngx_http_cleanup_add.
pub type txid_add_cleanup = Option<unsafe extern "C" fn(request: *mut c_void, size: usize) -> *mut c_void>;

/// An entry of that list, an ngx_http_cleanup_t.
#[repr(C)]
struct Cleanup {
    /// Called when the request ends, unless it is NULL.
    handler: Option<unsafe extern "C" fn(data: *mut c_void)>,
    data: *mut c_void,
    /// The entry that was added before.
    next: *mut Cleanup,
}

/// What is kept for a request.
#[repr(C)]
pub struct txid_kept {
    /// Its id. NULL until there is one.
    pub id: txid_text,
    /// Its span. NULL until there is one.
    pub span: *mut txid_span,
    /// Whether it is still to be rejected.
    pub rejected: bool,
    /// As in txid_request.
    pub trust: i8,
}

/// The longest id that needs no memory of its own: a UUID.
const SHORT: usize = 36;

/// A [`txid_kept`], and what only the library needs.
#[repr(C)]
struct Entry {
    shown: txid_kept,
    request: *mut c_void,
    connection: *const c_void,
    /// What is next in its list of the table.
    next: Cell<*mut Entry>,
    add: txid_add_cleanup,
    text: [u8; SHORT],
}

/// The beginning of a request in every nginx; the rest differs with its version and how it was built.
#[repr(C)]
struct RequestHead {
    signature: u32,
    connection: *const c_void,
}

const SIGNATURE: u32 = 0x5054_5448;

/// Whether this nginx lays out its requests and their cleanups as here: 0 until it was tried.
static NGINX: AtomicU8 = AtomicU8::new(0);
const KNOWN: u8 = 1;
const UNKNOWN: u8 = 2;

/// Tries the list with two entries, which do nothing.
///
/// # Safety
///
/// As for [`txid_kept_start`].
#[cold]
unsafe fn is_known(head: &RequestHead, add: txid_add_cleanup, request: *mut c_void) -> bool {
    if head.signature != SIGNATURE || NGINX.load(Ordering::Relaxed) == UNKNOWN {
        return false;
    }
    // SAFETY: the caller vouches for both. Whatever an entry is in this nginx, its memory is that of a pool, as large as three
    // pointers, which are compared and not followed.
    let entries = unsafe { [add_cleanup(add, request, 8), add_cleanup(add, request, 0)] };
    let [Some(first), Some(second)] = entries else { return false };
    let is_known = first.handler.is_none()
        && second.handler.is_none()
        && !first.data.is_null()
        && second.data.is_null()
        && ptr::eq(second.next, first);
    NGINX.store(if is_known { KNOWN } else { UNKNOWN }, Ordering::Relaxed);
    is_known
}

/// How many lists there are: about as many as a worker has requests at once.
const LISTS: usize = 1024;

/// A hash table of what is kept, by connection. Entries with the same hash are in one list.
struct Table([Cell<*mut Entry>; LISTS]);

thread_local! {
    static TABLE: Table = const { Table([const { Cell::new(null_mut()) }; LISTS]) };
}

impl Table {
    /// Where the pointer is to what is kept for the connection; or NULL at the end of its list.
    fn at(&self, connection: *const c_void) -> &Cell<*mut Entry> {
        // Allocations differ in the bits above the lowest four; their product with this differs in the highest ones.
        let hash = (connection as usize as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = &self.0[(hash >> (64 - LISTS.ilog2())) as usize];
        // SAFETY: what is in the table is in the memory of a request that has not ended.
        while let Some(kept) = unsafe { at.get().as_ref() } {
            if kept.connection == connection {
                break;
            }
            at = &kept.next;
        }
        at
    }
}

/// Returns what is kept for the request, or NULL: before txid_kept_start, in the log phase, and if `request` is NULL.
///
/// # Safety
///
/// `request` must be an ngx_http_request_t, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_kept_of(request: *const c_void) -> *mut txid_kept {
    // SAFETY: the caller vouches for the request.
    match unsafe { request.cast::<RequestHead>().as_ref() } {
        Some(head) => TABLE.with(|table| table.at(head.connection).get().cast()),
        None => null_mut(),
    }
}

/// Returns what is kept for the request, or begins to keep it, with `add`, and without an id. In the log phase, `is_over` must
/// be true. Returns NULL if there is no memory, or if this nginx lays out its requests in an unknown way.
///
/// # Safety
///
/// `request` must be an ngx_http_request_t of a client, and `add` ngx_http_cleanup_add.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_kept_start(request: *mut c_void, add: txid_add_cleanup, is_over: bool) -> *mut txid_kept {
    // SAFETY: the caller vouches for the request, which is larger in every nginx.
    let head = unsafe { &*request.cast::<RequestHead>() };
    let known = TABLE.with(|table| table.at(head.connection).get());
    if !known.is_null() {
        return known.cast();
    }
    // SAFETY: the caller's promise is the same.
    if NGINX.load(Ordering::Relaxed) != KNOWN && unsafe { !is_known(head, add, request) } {
        return null_mut();
    }
    // In the log phase, it most often is in the list.
    let size = if is_over { 0 } else { size_of::<Entry>() };
    // SAFETY: the caller vouches for both.
    let Some(mut cleanup) = (unsafe { add_cleanup(add, request, size) }) else { return null_mut() };
    let mut next = cleanup.next;
    // SAFETY: the list is nginx's, and each entry lives as long as the request's memory.
    while let Some(other) = unsafe { next.as_ref() } {
        if other.handler.is_some_and(|handler| handler as *const () == over as *const ()) {
            // The next call finds it first.
            cleanup.data = other.data;
            cleanup.handler = Some(over);
            return other.data.cast();
        }
        next = other.next;
    }
    if is_over {
        // SAFETY: as above.
        match unsafe { add_cleanup(add, request, size_of::<Entry>()) } {
            Some(with_room) => cleanup = with_room,
            None => return null_mut(),
        }
    }
    let kept: *mut Entry = cleanup.data.cast();
    let shown = txid_kept { id: txid_text { len: 0, data: null() }, span: null_mut(), rejected: false, trust: 0 };
    let connection = head.connection;
    // SAFETY: nginx has allocated as much.
    unsafe { kept.write(Entry { shown, request, connection, next: Cell::new(null_mut()), add, text: [0; SHORT] }) };
    cleanup.handler = Some(over);
    // Nothing would remove it after the list was run.
    if !is_over {
        TABLE.with(|table| table.at(connection).set(kept));
    }
    kept.cast()
}

/// Keeps the id of a request. Returns false if there is no memory.
///
/// # Safety
///
/// `kept` must be from txid_kept_start for the current request, and `id` valid for reads of `id_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_kept_set_id(kept: *mut txid_kept, id: *const c_char, id_len: usize) -> bool {
    // SAFETY: the caller vouches for both; nginx allocates as much as is asked for.
    unsafe {
        let kept = &mut *kept.cast::<Entry>();
        let place = match kept.text.get_mut(..id_len) {
            Some(text) => text.as_mut_ptr(),
            None => memory(kept, id_len),
        };
        if place.is_null() {
            return false;
        }
        place.copy_from_nonoverlapping(id.cast(), id_len);
        kept.shown.id = txid_text { len: id_len, data: place.cast() };
    }
    true
}

/// Returns memory for a span that lives as long as the request, or NULL.
///
/// # Safety
///
/// `kept` must be from txid_kept_start for the current request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_kept_span_place(kept: *const txid_kept) -> *mut txid_span {
    // SAFETY: the caller vouches for it.
    unsafe { memory(&*kept.cast(), size_of::<txid_span>()).cast() }
}

/// # Safety
///
/// As for [`txid_kept_span_place`].
unsafe fn memory(kept: &Entry, size: usize) -> *mut u8 {
    // SAFETY: the caller's promise is the same. nginx sets no handler.
    let cleanup = unsafe { add_cleanup(kept.add, kept.request, size) };
    cleanup.map_or(null_mut(), |cleanup| cleanup.data.cast())
}

/// # Safety
///
/// `add` must be ngx_http_cleanup_add, and `request` one that has not ended.
unsafe fn add_cleanup<'a>(add: txid_add_cleanup, request: *mut c_void, size: usize) -> Option<&'a mut Cleanup> {
    // SAFETY: the caller vouches for both, and nginx returns NULL or an entry.
    unsafe { add?(request, size).cast::<Cleanup>().as_mut() }
}

/// # Safety
///
/// Called by nginx, in whose list it is together with what is kept for the request.
unsafe extern "C" fn over(data: *mut c_void) {
    let kept: *mut Entry = data.cast();
    // SAFETY: the memory is the request's, and lives longer than the list.
    let of = unsafe { &*kept };
    TABLE.with(|table| {
        let at = table.at(of.connection);
        // nginx runs the list twice for a request that it terminates.
        if at.get() == kept {
            at.set(of.next.get());
        }
    });
    // SAFETY: the request and its memory are still there.
    if let Some(cleanup) = unsafe { add_cleanup(of.add, of.request, 0) } {
        cleanup.data = data;
        cleanup.handler = Some(over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request of an nginx whose entries begin with something else.
    #[repr(C)]
    struct Request {
        head: RequestHead,
        last: *mut c_void,
        first: usize,
    }

    unsafe extern "C" fn add(request: *mut c_void, size: usize) -> *mut c_void {
        // SAFETY: it is the request below.
        let request = unsafe { &mut *request.cast::<Request>() };
        let data = if size > 0 { vec![0_u64; size.div_ceil(8)].leak().as_mut_ptr().cast() } else { null_mut() };
        let mut entry = [null_mut(); 4];
        (entry[request.first + 1], entry[request.first + 2]) = (data, request.last);
        request.last = Box::leak(Box::new(entry)).as_mut_ptr().cast();
        request.last
    }

    #[test]
    fn nothing_is_kept_where_entries_are_laid_out_in_another_way() {
        for (first, expected) in [(0, KNOWN), (1, UNKNOWN)] {
            NGINX.store(0, Ordering::Relaxed);
            let head = RequestHead { signature: SIGNATURE, connection: null() };
            let mut request = Request { head, last: null_mut(), first };
            // SAFETY: `add` takes such a request.
            let kept = unsafe { txid_kept_start((&raw mut request).cast(), Some(add), true) };
            assert_eq!((kept.is_null(), NGINX.load(Ordering::Relaxed)), (first == 1, expected));
        }
    }
}
