//! The kernel's getrandom without a system call: in the vDSO of Linux 6.11 and later. glibc uses it only since 2.41.
//!
//! It draws from a state in a WIPEONFORK page. Only one caller at a time may use a state: if it
//! is taken, the system call is made. Nothing here locks or allocates, and nothing remains of a thread that ends.

use super::thread_number;
use std::ffi::{c_int, c_uint};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

type GetRandom = unsafe extern "C" fn(*mut u8, usize, c_uint, *mut u8, usize) -> isize;

/// Each thread has one, until there are more threads.
const STATES: usize = 256;

/// A state of 144 bytes must be in a single page. This divides every page.
const ROOM: usize = 256;

/// Whether a state is taken. The flag is not beside the state, because the kernel may zero that while it is in use. Each
/// has a cache line of its own. A state that another thread has when the process forks stays taken in the child.
#[repr(align(64))]
struct Borrowed(AtomicBool);

static BORROWED: [Borrowed; STATES] = [const { Borrowed(AtomicBool::new(false)) }; STATES];

/// The states: null until the kernel was asked, [`NONE`] where it has no such function. With the first state, the two
/// others are set for good.
static FIRST: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static FUNCTION: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
static SIZE: AtomicUsize = AtomicUsize::new(0);

const NONE: *mut u8 = ptr::dangling_mut();

/// Fills `bytes` with the kernel's randomness. Returns whether that worked.
#[inline]
pub(crate) fn fill(bytes: &mut [u8]) -> bool {
    fill_from(thread_number::get() as usize % STATES, bytes)
}

fn fill_from(place: usize, bytes: &mut [u8]) -> bool {
    let mut first = FIRST.load(Ordering::Acquire);
    if first.is_null() {
        first = begin();
    }
    let Borrowed(is_borrowed) = &BORROWED[place];
    if first == NONE || is_borrowed.swap(true, Ordering::Acquire) {
        return false;
    }
    // SAFETY: `begin` has stored the function, and the mapping has this many states, of which this one is borrowed.
    let given = unsafe {
        let function = std::mem::transmute::<*mut (), GetRandom>(FUNCTION.load(Ordering::Relaxed));
        let size = SIZE.load(Ordering::Relaxed);
        function(bytes.as_mut_ptr(), bytes.len(), 0, first.add(place * ROOM), size)
    };
    is_borrowed.store(false, Ordering::Release);
    given == bytes.len() as isize
}

#[cold]
fn begin() -> *mut u8 {
    let first = find().and_then(map).unwrap_or(NONE);
    match FIRST.compare_exchange(ptr::null_mut(), first, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => first,
        Err(others) => {
            if first != NONE {
                // SAFETY: mapped by `map`, and not shared with anyone yet.
                unsafe { libc::munmap(first.cast(), STATES * ROOM) };
            }
            others
        }
    }
}

/// Maps memory for the states of `function` as the kernel asks for it.
fn map(function: GetRandom) -> Option<*mut u8> {
    /// The kernel's `struct vgetrandom_opaque_params`.
    #[repr(C)]
    #[derive(Default)]
    struct Wanted {
        size: u32,
        protection: u32,
        flags: u32,
        reserved: [u32; 13],
    }

    let mut wanted = Wanted::default();
    // SAFETY: with these arguments, the function only describes the memory that it wants.
    let answer = unsafe { function(ptr::null_mut(), 0, 0, (&raw mut wanted).cast(), usize::MAX) };
    if answer != 0 || wanted.size as usize > ROOM {
        return None;
    }
    // Every thread that comes here stores the same values.
    FUNCTION.store(function as *mut (), Ordering::Relaxed);
    SIZE.store(wanted.size as usize, Ordering::Relaxed);
    let (protection, flags) = (wanted.protection as c_int, wanted.flags as c_int);
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    let states = unsafe { libc::mmap(ptr::null_mut(), STATES * ROOM, protection, flags, -1, 0) };
    (states != libc::MAP_FAILED).then_some(states.cast())
}

/// Looks the function up in the vDSO. Not with `dlopen`, which takes locks and allocates.
#[cfg(all(target_os = "linux", target_pointer_width = "64", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn find() -> Option<GetRandom> {
    use std::slice;

    const NAME: &[u8] = if cfg!(target_arch = "x86_64") { b"__vdso_getrandom\0" } else { b"__kernel_getrandom\0" };
    const DT_STRTAB: u64 = 5;
    const DT_SYMTAB: u64 = 6;
    const DT_STRSZ: u64 = 10;

    // SAFETY: the kernel has mapped a whole ELF object, which is never unmapped or written to; valgrind, and kernels
    // without a vDSO, give null. Its names follow its symbols directly, by the kernel's linker script; where they do
    // not, what is read is still between the two tables.
    unsafe {
        let image = libc::getauxval(libc::AT_SYSINFO_EHDR) as *const u8;
        let header = image.cast::<libc::Elf64_Ehdr>().as_ref()?;
        let segments = image.add(header.e_phoff as usize).cast::<libc::Elf64_Phdr>();
        let segments = slice::from_raw_parts(segments, header.e_phnum.into());
        let dynamic = segments.iter().find(|segment| segment.p_type == libc::PT_DYNAMIC)?;
        // The object is loaded in one piece, so all of its parts are as far from their addresses.
        let base = image.wrapping_add(dynamic.p_offset as usize).wrapping_sub(dynamic.p_vaddr as usize);
        let entries = image.add(dynamic.p_offset as usize).cast::<[u64; 2]>();
        let entries = slice::from_raw_parts(entries, dynamic.p_filesz as usize / size_of::<[u64; 2]>());
        let value_of = |tag| entries.iter().find(|entry| entry[0] == tag).map(|entry| entry[1] as usize);

        let (symbols, names) = (value_of(DT_SYMTAB)?, value_of(DT_STRTAB)?);
        let count = names.checked_sub(symbols)? / size_of::<libc::Elf64_Sym>();
        let symbols = slice::from_raw_parts(base.wrapping_add(symbols).cast::<libc::Elf64_Sym>(), count);
        let names = slice::from_raw_parts(base.wrapping_add(names), value_of(DT_STRSZ)?);
        let is_it = |symbol: &&libc::Elf64_Sym| {
            symbol.st_shndx != 0 && names.get(symbol.st_name as usize..).is_some_and(|name| name.starts_with(NAME))
        };
        let address = base.wrapping_add(symbols.iter().find(is_it)?.st_value as usize);
        Some(std::mem::transmute::<*const u8, GetRandom>(address))
    }
}

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
fn find() -> Option<GetRandom> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Whether the kernel's object, if it is shown, has the name of the function, wherever in it.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn is_named() -> bool {
        use std::os::unix::fs::FileExt;
        // SAFETY: it only reads what the kernel has passed on.
        if unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } == 0 {
            return false;
        }
        let mappings = std::fs::read_to_string("/proc/self/maps").unwrap();
        let Some(place) = mappings.lines().find(|line| line.ends_with("[vdso]")) else { return false };
        let (start, end) = place.split(' ').next().unwrap().split_once('-').unwrap();
        let [start, end] = [start, end].map(|address| u64::from_str_radix(address, 16).unwrap());
        let mut object = vec![0; (end - start) as usize];
        std::fs::File::open("/proc/self/mem").unwrap().read_exact_at(&mut object, start).unwrap();
        object.windows(11).any(|bytes| bytes == b"_getrandom\0")
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn where_the_kernel_has_the_function_every_state_gives_randomness_twice() {
        // Another test may have borrowed it for a moment.
        let is_given = |place, bytes: &mut _| {
            (0..1_000_000).any(|_| {
                std::thread::yield_now();
                fill_from(place, bytes)
            })
        };
        let mut drawn = vec![[0; 16]; 2 * STATES];
        if !is_named() {
            return assert!(!fill_from(0, &mut drawn[0]));
        }
        for (at, bytes) in drawn.iter_mut().enumerate() {
            assert!(is_given(at % STATES, bytes), "{at}");
        }
        drawn.sort_unstable();
        assert!(drawn.windows(2).all(|pair| pair[0] != pair[1]) && !drawn.contains(&[0; 16]));
    }

    /// Threads meet in a state when there are more of them than states.
    #[test]
    fn two_threads_with_one_state_get_nothing_twice() {
        let all = std::thread::scope(|scope| {
            let draw = || {
                let mut drawn = Vec::with_capacity(1_000_000);
                let mut bytes = [0; 8];
                for _ in 0..drawn.capacity() {
                    if fill_from(STATES - 1, &mut bytes) {
                        drawn.push(bytes);
                    }
                }
                drawn
            };
            let threads = [scope.spawn(draw), scope.spawn(draw)];
            threads.map(|thread| thread.join().unwrap()).concat()
        });
        println!("{} draws", all.len());
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }

    #[test]
    fn states_are_apart_from_each_other() {
        if !fill_from(250, &mut [0; 8]) {
            return test_helpers::skipped("the vDSO of this kernel has no getrandom");
        }
        assert!(fill_from(252, &mut [0; 8]));
        let is_used = |place: usize| {
            let state = FIRST.load(Ordering::Relaxed).wrapping_add(place * ROOM);
            // SAFETY: the mapping has this many states, and no other test has these.
            unsafe { std::slice::from_raw_parts(state, ROOM) }.iter().any(|&byte| byte != 0)
        };
        assert_eq!([249, 250, 251, 252, 253].map(is_used), [false, true, false, true, false]);
    }

    #[test]
    fn a_thread_has_the_state_of_its_number() {
        // The next thread's is not 0.
        thread_number::get();
        let is_filled = std::thread::spawn(|| {
            let Borrowed(is_borrowed) = &BORROWED[thread_number::get() as usize % STATES];
            is_borrowed.store(true, Ordering::Relaxed);
            let is_filled = fill(&mut [0; 8]);
            is_borrowed.store(false, Ordering::Relaxed);
            is_filled
        });
        assert!(!is_filled.join().unwrap());
    }

    #[test]
    fn what_is_borrowed_is_left_alone_and_what_was_is_not() {
        let given = fill_from(7, &mut [0; 8]);
        BORROWED[7].0.store(true, Ordering::Relaxed);
        assert!(!fill_from(7, &mut [0; 8]));
        BORROWED[7].0.store(false, Ordering::Relaxed);
        assert_eq!(fill_from(7, &mut [0; 8]), given);
        assert_eq!(fill_from(6, &mut [0; 8]), given);
    }
}
