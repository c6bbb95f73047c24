//! Finds other copies of the library in the process, such as one that nginx's master loaded before a reload with
//! another `lua_package_cpath`. They share no memory.

use std::ffi::{CStr, c_int, c_void};

/// The path of another `libtxid.so` that the process has loaded.
pub(crate) fn other() -> Option<String> {
    let mut found: Option<String> = None;
    // SAFETY: `look` gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found
}

/// Notes an object that is another copy, which ends the search.
///
/// # Safety
///
/// `object` must be as the loader describes an object, and `found` an `Option<String>`.
unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the caller's promise; a name ends with a NUL.
    let (object, path, segments) = unsafe {
        let object = &*object;
        let segments = std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into());
        (object, CStr::from_ptr(object.dlpi_name), segments)
    };
    let name = path.to_bytes().rsplit(|&byte| byte == b'/').next();
    let is_copy = name.is_some_and(|name| name.starts_with(b"libtxid.so"));
    let own = (look as *const () as u64).wrapping_sub(object.dlpi_addr);
    let is_own = segments
        .iter()
        .any(|segment| segment.p_type == libc::PT_LOAD && own.wrapping_sub(segment.p_vaddr) < segment.p_memsz);
    if !is_copy || is_own {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { *found.cast() = Some(path.to_string_lossy().into_owned()) };
    1
}
