//! What a server does with the ids that come in.

#[cfg(feature = "nginx")]
use crate::caller::place;
use crate::caller::{bytes, fail, txid_text, words};
use crate::error::txid_error;
use ::txid::request::{Field, Header, Peer, Policy, PolicyError, Verdict};
use std::ffi::{c_char, c_void};
use std::net::{IpAddr, Ipv6Addr};

/// The options of a server: whose ids and traces it accepts, and in which headers.
pub struct txid_policy(pub(crate) Policy);

/// A header of a request, laid out as lua-nginx-module's ngx_http_lua_ffi_table_elt_t.
#[repr(C)]
pub struct txid_field {
    /// The length of the name.
    pub name_len: i32,
    /// The name, in any case.
    pub name: *const c_char,
    /// The length of the value.
    pub value_len: i32,
    /// The value.
    pub value: *const c_char,
}

/// The values of one header in a request.
#[repr(C)]
pub struct txid_header {
    /// How often the request has it.
    pub count: usize,
    /// The last value.
    pub value: txid_text,
    /// Whether spaces and tabs around the value were taken off.
    pub is_trimmed: bool,
}

/// The length of the longest name of a header of traces.
#[cfg(feature = "nginx")]
pub const TXID_TRACE_HEADER_MAX_LEN: usize = 27;

/// How many headers a trace comes in.
pub const TXID_TRACE_HEADERS: usize = 20;
const _: () = assert!(TXID_TRACE_HEADERS == Field::COUNT - 1);

/// How many headers an id comes in besides the first.
pub const TXID_OTHER_IDS: usize = 3;
const _: () = assert!(TXID_OTHER_IDS == Policy::MOST_HEADERS - 1);

/// The headers of a request that a policy looks at.
#[repr(C)]
pub struct txid_headers {
    /// The one with the id, by default X-Request-Id.
    pub id: txid_header,
    /// The headers of traces. The first is the one that holds only the trace's id, if the policy names one.
    pub of_trace: [txid_header; TXID_TRACE_HEADERS],
    /// The other ones with an id, if the policy names several: the first valid one of all counts.
    pub other_ids: [txid_header; TXID_OTHER_IDS],
}

/// The sender of a request.
#[repr(C)]
pub struct txid_peer {
    /// Its struct sockaddr, or NULL if only its text is known.
    pub sockaddr: *const c_void,
    /// Its address as nginx writes it.
    pub text: txid_text,
}

/// What to do with an id that may have come in with a request.
#[repr(C)]
pub enum txid_verdict {
    /// The request gets a new id.
    New = 0,
    /// The request keeps the id that came in.
    Accepted = 1,
    /// The peer may send an id, but it sent an invalid one, or several. The request gets a new id, or is rejected.
    Invalid = 2,
}

/// Opens a policy without options, which accepts nobody's ids. Release it with txid_policy_close.
#[unsafe(no_mangle)]
pub extern "C" fn txid_policy_open() -> *mut txid_policy {
    Box::into_raw(Box::new(txid_policy(Policy::default())))
}

/// Releases a policy.
///
/// # Safety
///
/// `policy` must be from txid_policy_open and must not be used any more; or NULL, which does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_close(policy: *mut txid_policy) {
    if !policy.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(policy) });
    }
}

/// Sets the option of this name to what the `count` words say. docs/request.md has the options that are directives, but format.
///
/// Returns 0, or a txid_error; then `message` says what is wrong.
///
/// # Safety
///
/// `policy` must be from txid_policy_open and not in use by another thread; `option` valid for reads of `option_len`
/// bytes; `list` for reads of `count` texts, as must be their bytes; `message` for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_set(
    policy: *mut txid_policy,
    option: *const c_char,
    option_len: usize,
    list: *const txid_text,
    count: usize,
    message: *mut c_char,
) -> i32 {
    let option = txid_text { len: option_len, data: option };
    // SAFETY: the caller vouches for the texts, and for the policy.
    let set = unsafe {
        let (option, list) = (words(&option, 1), words(list, count));
        (*policy).0.set(&option[0], &list.iter().map(|word| &**word).collect::<Vec<_>>())
    };
    match set {
        Ok(()) => 0,
        // SAFETY: the caller's promise is the same.
        Err(error) => unsafe { fail(txid_error::from(&error), &error, message) },
    }
}

/// Checks whether the options go together, when all are set or inherited. `is_id_of_trace` says whether the new id of a
/// request is that of its trace. Returns 0, or a txid_error; then `message` begins with the name of an option.
///
/// # Safety
///
/// `policy` must be from txid_policy_open, and `message` valid for writes of TXID_MESSAGE_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_check(
    policy: *const txid_policy,
    is_id_of_trace: bool,
    message: *mut c_char,
) -> i32 {
    // SAFETY: the caller vouches for the policy and the message.
    unsafe {
        match (*policy).0.check(is_id_of_trace) {
            Ok(()) => 0,
            Err(error) => fail(txid_error::from(&error), &error, message),
        }
    }
}

impl From<&PolicyError> for txid_error {
    fn from(error: &PolicyError) -> Self {
        match error {
            PolicyError::Twice => Self::OptionTwice,
            _ => Self::Option,
        }
    }
}

/// Finds the headers that the policy looks at among the `count` at `fields`, and writes them to `headers`. Returns whether
/// any but the one with the id is there.
///
/// # Safety
///
/// `policy` must be from txid_policy_open; `fields` valid for reads of `count` of them, as must be what they point to;
/// `headers` for a write. They then point to the values of the fields.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_headers_find(
    policy: *const txid_policy,
    fields: *const txid_field,
    count: usize,
    headers: *mut txid_headers,
) -> bool {
    // SAFETY: the caller vouches for all of them.
    let (policy, fields) = unsafe {
        txid_headers::forget(headers);
        let fields = if count == 0 { &[] } else { std::slice::from_raw_parts(fields, count) };
        (&(*policy).0, fields)
    };
    let has_others = !policy.other_headers().is_empty();
    let mut has_trace = false;
    for field in fields {
        // SAFETY: the caller vouches for the name.
        let name = unsafe { bytes(field.name, field.name_len as usize) };
        if let Some(known) = policy.field(name) {
            // SAFETY: the caller vouches for the headers, the name and the value.
            unsafe { txid_header::add(txid_headers::get(headers, known).cast_mut(), field) };
            has_trace |= known != Field::Id;
        } else if has_others {
            if let Some(at) = policy.other_header(name) {
                // SAFETY: the caller vouches for the headers, the name and the value.
                unsafe { txid_header::add(&raw mut (*headers).other_ids[at], field) };
            }
        }
    }
    has_trace
}

/// Writes the name of a header of traces to `name`, in lower case, and returns its length: of the one at this place of of_trace.
/// Returns 0 for the one whose name the policy chooses.
///
/// # Safety
///
/// `name` must be valid for writes of TXID_TRACE_HEADER_MAX_LEN bytes.
#[cfg(feature = "nginx")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_header(at: usize, name: *mut c_char) -> usize {
    let Some((_, known)) = Field::names().find(|(place, _)| *place == at + 1) else { return 0 };
    let known = known.to_ascii_lowercase();
    // SAFETY: the caller vouches for the name.
    let name: &mut [u8; TXID_TRACE_HEADER_MAX_LEN] = unsafe { place(name) };
    name[..known.len()].copy_from_slice(known.as_bytes());
    known.len()
}

/// Decides about the id in `header`, which `peer` sent. Returns a txid_verdict. Spaces and tabs around the value are taken
/// off in `header`.
///
/// # Safety
///
/// `policy` must be from txid_policy_open, and the others must be valid for a read, as must what they point to; `header`
/// also for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_policy_judge(
    policy: *const txid_policy,
    peer: *const txid_peer,
    header: *mut txid_header,
) -> i32 {
    // SAFETY: the caller vouches for all of them.
    let verdict = unsafe {
        let value = txid_header::read(header);
        if let Some(text) = value.single() {
            if text.len() != (*header).value.len {
                (*header).is_trimmed = true;
            }
            (*header).value = txid_text { len: text.len(), data: text.as_ptr().cast() };
        }
        Verdict::on((*peer).is_trusted_by(&(*policy).0), value)
    };
    txid_verdict::from(verdict) as i32
}

impl From<Verdict> for txid_verdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::New => Self::New,
            Verdict::Accepted => Self::Accepted,
            Verdict::Invalid => Self::Invalid,
        }
    }
}

impl txid_peer {
    /// Asks in each case, because it takes fewer instructions to look for a peer whose kind is known.
    ///
    /// # Safety
    ///
    /// The address must be valid for reads of the size of its family, or the text for reads of its length.
    #[inline]
    pub(crate) unsafe fn is_trusted_by(&self, policy: &Policy) -> bool {
        if self.sockaddr.is_null() {
            // SAFETY: the caller's promise is the same.
            return policy.trusts(Peer::parse(unsafe { self.text.bytes() }));
        }
        // SAFETY: the family says what the caller vouches for.
        unsafe {
            match i32::from((*self.sockaddr.cast::<libc::sockaddr>()).sa_family) {
                libc::AF_INET => {
                    let address = (*self.sockaddr.cast::<libc::sockaddr_in>()).sin_addr.s_addr;
                    policy.trusts(Peer::V4(u32::from_be(address)))
                }
                libc::AF_INET6 => {
                    let address = (*self.sockaddr.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr;
                    policy.trusts(IpAddr::V6(Ipv6Addr::from(address)).into())
                }
                libc::AF_UNIX => policy.trusts(Peer::Unix),
                _ => policy.trusts(Peer::Other),
            }
        }
    }
}

impl txid_header {
    /// # Safety
    ///
    /// `header` must be valid for a write, and its count for a read; the name and the value of the field must be valid for reads
    /// of their lengths.
    unsafe fn add(header: *mut Self, field: &txid_field) {
        let value = txid_text { len: field.value_len as usize, data: field.value };
        // SAFETY: the caller vouches for the header.
        unsafe { header.write(Self { count: (*header).count + 1, value, is_trimmed: false }) };
    }

    /// Not by a reference, because a server need not have written what is not read.
    ///
    /// # Safety
    ///
    /// `header` must be valid for a read of its count, and of its value if the count is 1; the value for reads of its length
    /// for as long as the result is used.
    #[inline]
    pub(crate) unsafe fn read<'a>(header: *const Self) -> Header<'a> {
        // SAFETY: the caller's promise is the same.
        unsafe {
            match (*header).count {
                0 => Header::Absent,
                1 => Header::One((*header).value.bytes()),
                _ => Header::Several,
            }
        }
    }
}

impl txid_headers {
    /// Says that no header is there. Nothing else of it is read then.
    ///
    /// # Safety
    ///
    /// `headers` must be valid for a write.
    unsafe fn forget(headers: *mut Self) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            (&raw mut (*headers).id.count).write(0);
            for at in 0..TXID_TRACE_HEADERS {
                (&raw mut (*headers).of_trace[at].count).write(0);
            }
            for at in 0..TXID_OTHER_IDS {
                (&raw mut (*headers).other_ids[at].count).write(0);
            }
        }
    }

    /// The header, without a reference to any: a server need not have written all.
    ///
    /// # Safety
    ///
    /// `headers` must be memory for them.
    #[inline]
    pub(crate) unsafe fn get(headers: *const Self, field: Field) -> *const txid_header {
        // SAFETY: the caller's promise is the same.
        unsafe {
            match field as usize {
                0 => &raw const (*headers).id,
                at => &raw const (*headers).of_trace[at - 1],
            }
        }
    }
}
