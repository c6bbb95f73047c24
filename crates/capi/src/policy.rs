//! What a server does with the ids that come in.

#[cfg(feature = "nginx")]
use crate::caller::place;
use crate::caller::{fail, txid_text, words};
use crate::error::txid_error;
#[cfg(feature = "nginx")]
use ::txid::request::Field;
use ::txid::request::{Peer, Policy, PolicyError, Verdict};
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

/// The length of the longest name of a header of traces.
#[cfg(feature = "nginx")]
pub const TXID_TRACE_HEADER_MAX_LEN: usize = 27;

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
/// bytes; `list` for reads of `count` texts, as must be their bytes; `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
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
/// `policy` must be from txid_policy_open, and `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
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

/// Writes the name of a header of traces to `name`, in lower case, and returns its length: of the one at this place. Returns 0 for
/// those whose names the policy chooses.
///
/// # Safety
///
/// `name` must be valid for writes of TXID_TRACE_HEADER_MAX_LEN bytes.
#[cfg(feature = "nginx")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn txid_trace_header(at: usize, name: *mut c_char) -> usize {
    let known = Field::at(at).and_then(Field::name).unwrap_or_default().to_ascii_lowercase();
    // SAFETY: the caller vouches for the name.
    let name: &mut [u8; TXID_TRACE_HEADER_MAX_LEN] = unsafe { place(name) };
    name[..known.len()].copy_from_slice(known.as_bytes());
    known.len()
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
    /// IPv4 alone is inlined: most are of it.
    ///
    /// # Safety
    ///
    /// The address must be valid for reads of the size of its family, or the text for reads of its length.
    #[inline(always)]
    pub(crate) unsafe fn is_trusted_by(&self, policy: &Policy) -> bool {
        // SAFETY: the family says what the caller vouches for.
        unsafe {
            if !self.sockaddr.is_null() && self.family() == libc::AF_INET {
                let address = (*self.sockaddr.cast::<libc::sockaddr_in>()).sin_addr.s_addr;
                return policy.trusts(Peer::V4(u32::from_be(address)));
            }
            self.is_other_trusted_by(policy)
        }
    }

    /// # Safety
    ///
    /// As for [`Self::is_trusted_by`].
    #[inline(never)]
    unsafe fn is_other_trusted_by(&self, policy: &Policy) -> bool {
        // SAFETY: the caller's promise is the same.
        policy.trusts(unsafe {
            match self.sockaddr.is_null() {
                true => Peer::parse(self.text.bytes()),
                false if self.family() == libc::AF_INET6 => {
                    let address = (*self.sockaddr.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr;
                    IpAddr::V6(Ipv6Addr::from(address)).into()
                }
                false if self.family() == libc::AF_UNIX => Peer::Unix,
                false => Peer::Other,
            }
        })
    }

    /// # Safety
    ///
    /// There must be an address.
    unsafe fn family(&self) -> i32 {
        // SAFETY: the caller vouches for it.
        i32::from(unsafe { (*self.sockaddr.cast::<libc::sockaddr>()).sa_family })
    }
}
