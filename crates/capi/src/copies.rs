//! Finds other copies of the library in the process, such as one that nginx's master loaded before a reload with
//! another `lua_package_cpath`. They share no memory.

use std::ffi::{CStr, c_char, c_int, c_void};

/// The path of another copy that the process has loaded.
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
    let own = (look as *const () as u64).wrapping_sub(object.dlpi_addr);
    let is_own = segments
        .iter()
        .any(|segment| segment.p_type == libc::PT_LOAD && own.wrapping_sub(segment.p_vaddr) < segment.p_memsz);
    let dynamic = segments.iter().find(|segment| segment.p_type == libc::PT_DYNAMIC);
    // The name in it, because its file may have any.
    let is_copy = dynamic.is_some_and(|dynamic| {
        // SAFETY: the loader has mapped the object whole.
        let name = unsafe { soname(object.dlpi_addr as usize, dynamic.p_vaddr as usize) };
        name.is_some_and(|name| name.to_bytes().starts_with(b"libtxid.so"))
    });
    if !is_copy || is_own {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { *found.cast() = Some(path.to_string_lossy().into_owned()) };
    1
}

/// The name that the object at `base` was given when it was linked.
///
/// # Safety
///
/// The object must be mapped, with its table of dynamic entries at `dynamic` from its base.
unsafe fn soname<'a>(base: usize, dynamic: usize) -> Option<&'a CStr> {
    const DT_NULL: usize = 0;
    const DT_STRTAB: usize = 5;
    const DT_SONAME: usize = 14;

    let (mut texts, mut name) = (None, None);
    let mut entry = base.wrapping_add(dynamic) as *const [usize; 2];
    loop {
        // SAFETY: the table ends with DT_NULL.
        let [tag, value] = unsafe { *entry };
        match tag {
            DT_NULL => break,
            DT_STRTAB => texts = Some(value),
            DT_SONAME => name = Some(value),
            _ => {}
        }
        entry = entry.wrapping_add(1);
    }
    // glibc has made an address of it in most objects, and musl in none.
    let texts = texts.map(|at| if at < base { base.wrapping_add(at) } else { at })?;
    // SAFETY: the name is among the texts of the object, and ends with a NUL.
    Some(unsafe { CStr::from_ptr(texts.wrapping_add(name?) as *const c_char) })
}
