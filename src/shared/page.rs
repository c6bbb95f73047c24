//! A mapped page: how it is opened, made, checked, mapped, and found again in a child.

use super::file::{self, FileError, Identity, refused};
use super::list::List;
use super::page_bytes::{Flaw, Header, Kind, LEN, PageBytes, WORDS_AT};
use crate::text::error_texts;
use rustix::mm::{self, MapFlags, ProtFlags};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The pages that this process, or a process it was forked from, has opened.
static KNOWN: List<Known> = List::new();

/// A page, and how to find it.
struct Known {
    page: Page,
    header: Header,
    file: Option<FileId>,
}

/// The file of a page: its path, and which file that was when it was opened.
#[derive(PartialEq)]
struct FileId {
    path: PathBuf,
    identity: Identity,
}

impl Known {
    fn is_at(&self, path: &Path) -> bool {
        self.file.as_ref().is_some_and(|file| file.path == path)
    }
}

/// A mapped page. It stays mapped forever: there are only a few, and so nobody must track their users.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    words: &'static [AtomicU64; LEN / 8],
}

impl Page {
    /// Opens the page in the file at `path`, or makes it with the content of `fresh` if it does not exist. `check`
    /// decides whether an existing page is the right one.
    ///
    /// A process that may not open the file still gets the page if a process it was forked from had opened it.
    pub(crate) fn open_or_make<E: From<PageError>>(
        path: &Path,
        kind: &'static Kind,
        fresh: &PageBytes,
        check: impl FnOnce(&PageBytes) -> Result<(), E>,
    ) -> Result<Self, E> {
        let header = fresh.header();
        open(path, kind, Some(&|_| fresh.0.to_vec()), &|known| *known == header, |found, _| check(found))
    }

    /// Opens or makes a page that names its own file: `fresh` gets that. A known page is used if it has these `fields`.
    pub(crate) fn open_or_make_bound<E: From<PageError>>(
        path: &Path,
        kind: &'static Kind,
        fields: &[(usize, &[u8])],
        fresh: impl Fn(Identity) -> PageBytes,
        check: impl FnOnce(&PageBytes, Identity) -> Result<(), E>,
    ) -> Result<Self, E> {
        open(path, kind, Some(&|file| fresh(file).0.to_vec()), &|known| known.is_of(kind) && known.has(fields), check)
    }

    /// Opens the page in the file at `path`, which another program makes. A known page is used if it has these
    /// `fields`.
    ///
    /// A process that may not open the file still gets the page if a process it was forked from had opened it.
    pub(crate) fn attach<E: From<PageError>>(
        path: &Path,
        kind: &'static Kind,
        fields: &[(usize, &[u8])],
        check: impl FnOnce(&PageBytes, Identity) -> Result<(), E>,
    ) -> Result<Self, E> {
        open(path, kind, None, &|known| known.is_of(kind) && known.has(fields), check)
    }

    /// A page in memory, shared by this process and all that it forks from now on. Every call with this header returns
    /// the same page, also in a child.
    pub(crate) fn in_memory(fresh: &PageBytes) -> Result<Self, PageError> {
        let header = fresh.header();
        let same = |known: &Known| known.file.is_none() && known.header == header;
        if let Some(known) = KNOWN.find(&same) {
            return Ok(known.page);
        }
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let mapped =
            unsafe { mm::mmap_anonymous(ptr::null_mut(), LEN, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED) };
        let page = Self::at(mapped.map_err(|errno| PageError::NoMemory(errno.into()))?);
        for (word, bytes) in page.words.iter().zip(fresh.0.chunks_exact(8)) {
            word.store(u64::from_ne_bytes(std::array::from_fn(|place| bytes[place])), Ordering::Relaxed);
        }
        Ok(KNOWN.enter(Known { page, header, file: None }, &same).page)
    }

    fn map(file: &File) -> rustix::io::Result<Self> {
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        unsafe { mm::mmap(ptr::null_mut(), LEN, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0) }
            .map(Self::at)
    }

    fn at(address: *mut libc::c_void) -> Self {
        // SAFETY: the page was just mapped, and stays mapped; it is aligned to more than 8 bytes, and its words are
        // only accessed as atomics, here and in all other processes.
        Self { words: unsafe { &*address.cast() } }
    }

    /// The path by which the page was opened, if it is in a file.
    pub(crate) fn path(&self) -> Option<&'static Path> {
        let known = KNOWN.find(&|known| ptr::eq(known.page.words, self.words))?;
        Some(&known.file.as_ref()?.path)
    }

    /// The word at `at`, a multiple of 8.
    pub(crate) fn word(&self, at: usize) -> &'static AtomicU64 {
        &self.words[at / 8]
    }

    /// Copies the words to `contents`. Other processes change them meanwhile, and the kernel reads a file in pieces that can
    /// be halves of a word.
    fn copy_words(&self, contents: &mut PageBytes) {
        for at in (WORDS_AT..LEN).step_by(8) {
            contents.set_word(at, self.word(at).load(Ordering::Relaxed));
        }
    }

    /// Gives back a page that nobody has yet.
    fn unmap(self) {
        // SAFETY: the page was mapped here with this length, and nothing refers to it any more.
        _ = unsafe { mm::munmap(self.words.as_ptr().cast_mut().cast(), LEN) };
    }
}

/// Only the code that depends on the caller's error type is here, so that the rest is compiled once.
fn open<E: From<PageError>>(
    path: &Path,
    kind: &'static Kind,
    fresh: Option<file::Content>,
    is_wanted: &dyn Fn(&Header) -> bool,
    check: impl FnOnce(&PageBytes, Identity) -> Result<(), E>,
) -> Result<Page, E> {
    match Opened::read(path, kind, fresh, is_wanted)? {
        Opened::Inherited(page) => Ok(page),
        Opened::File(opened) => {
            if let Err(error) = check(&opened.contents, opened.identity) {
                opened.give_back();
                return Err(error);
            }
            Ok(opened.enter(path, kind)?)
        }
    }
}

fn check(contents: &PageBytes, kind: &'static Kind, path: &Path) -> Result<(), PageError> {
    match contents.flaw(kind) {
        None => Ok(()),
        Some(Flaw::Magic) => Err(PageError::damaged(kind, path, "its first 8 bytes are wrong")),
        Some(Flaw::Checksum) => Err(PageError::damaged(kind, path, "its checksum is wrong")),
        Some(Flaw::Version(found)) => {
            Err(PageError::Version { path: path.to_path_buf(), name: kind.name, found, known: kind.version })
        }
    }
}

enum Opened {
    /// The process may not open the file, and has inherited the page from the process it was forked from.
    Inherited(Page),
    File(OpenedFile),
}

struct OpenedFile {
    page: Page,
    /// Whether this process had no page of this file.
    is_new: bool,
    identity: Identity,
    contents: Box<PageBytes>,
    /// The page that this process has open under the file's name.
    by_path: Option<&'static Known>,
}

impl Opened {
    fn read(
        path: &Path,
        kind: &'static Kind,
        fresh: Option<file::Content>,
        is_wanted: &dyn Fn(&Header) -> bool,
    ) -> Result<Self, PageError> {
        let by_path = KNOWN.find(&|known| known.is_at(path) && is_wanted(&known.header));
        let file = match (file::open(path, fresh), by_path) {
            (Err(FileError::Os { error, .. }), Some(known)) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(Self::Inherited(known.page));
            }
            (file, _) => file.map_err(PageError::File)?,
        };
        let os_refused = |action, error| PageError::File(refused(action, path, error));

        let status = file.metadata().map_err(|error| os_refused("look at", error))?;
        if status.len() != LEN as u64 {
            return Err(PageError::Size { path: path.to_path_buf(), name: kind.name, bytes: status.len() });
        }
        let mut contents = Box::new(PageBytes([0; LEN]));
        file.read_exact_at(&mut contents.0, 0).map_err(|error| os_refused("read", error))?;
        check(&contents, kind, path)?;
        let identity = Identity::of(&status);
        let known = KNOWN.find(&|known| known.file.as_ref().is_some_and(|file| file.identity == identity));
        let page = match known {
            Some(known) => known.page,
            None => Page::map(&file).map_err(|errno| os_refused("map", errno.into()))?,
        };
        page.copy_words(&mut contents);
        Ok(Self::File(OpenedFile { page, is_new: known.is_none(), identity, contents, by_path }))
    }
}

impl OpenedFile {
    fn enter(self, path: &Path, kind: &'static Kind) -> Result<Page, PageError> {
        let file = FileId { path: path.to_path_buf(), identity: self.identity };
        match self.by_path {
            Some(known) if known.file.as_ref() == Some(&file) => return Ok(known.page),
            Some(_) if !kind.may_be_replaced => {
                self.give_back();
                return Err(PageError::Replaced(file.path));
            }
            _ => {}
        }
        let header = self.contents.header();
        let entered = KNOWN.enter(Known { page: self.page, header, file: Some(file) }, &|known| {
            known.is_at(path) && known.header == header
        });
        Ok(entered.page)
    }

    fn give_back(&self) {
        if self.is_new {
            self.page.unmap();
        }
    }
}

/// Why a page could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum PageError {
    /// The file could not be opened or made.
    File(FileError),
    /// The file does not have the size of a page.
    Size {
        /// The file.
        path: PathBuf,
        /// What was expected.
        name: &'static str,
        /// Its size.
        bytes: u64,
    },
    /// The page has a version that this library does not support.
    Version {
        /// The file.
        path: PathBuf,
        /// What was expected.
        name: &'static str,
        /// Its version.
        found: u32,
        /// The version that this library supports.
        known: u32,
    },
    /// The page has been damaged.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was expected.
        name: &'static str,
        /// How the damage shows.
        what: &'static str,
        /// What to do about it.
        advice: &'static str,
    },
    /// The file is not the one that this process has open under the same name. Users of both files would repeat each
    /// other's ids.
    Replaced(PathBuf),
    /// No memory for a page without a file.
    NoMemory(io::Error),
}

impl PageError {
    pub(crate) fn damaged(kind: &'static Kind, path: &Path, what: &'static str) -> Self {
        Self::Damaged { path: path.to_path_buf(), name: kind.name, what, advice: kind.advice }
    }
}

error_texts! { PageError {
    Self::File(error) => "{error}";
    Self::Size { path, name, bytes } =>
        "{} has {bytes} bytes, but a {name} has {LEN}; it was left unchanged", path.display();
    Self::Version { path, name, found, known } =>
        "{} is a {name} of version {found}, but this library supports {known}", path.display();
    Self::Damaged { path, name, what, advice } =>
        "{} is damaged or not a {name}: {what}; it was left unchanged. {advice}", path.display();
    Self::Replaced(path) =>
        "{} was replaced while it is in use; restore the first file, or restart with the second", path.display();
    Self::NoMemory(error) => "no memory for it: {error}";
} }

#[cfg(test)]
mod tests {
    use super::*;
    use test_helpers::Directory;

    const APPLES: Kind =
        Kind { magic: b"txidtest", version: 3, name: "basket", advice: "Buy another.", may_be_replaced: false };
    const FIELD_AT: usize = 16;
    const WORD_AT: usize = 512;

    fn basket(field: u8) -> PageBytes {
        PageBytes::new(&APPLES, &[(FIELD_AT, &[field])]).with_word(WORD_AT, 7)
    }

    fn open(path: &Path, field: u8) -> Result<Page, PageError> {
        Page::open_or_make(path, &APPLES, &basket(field), |_| Ok(()))
    }

    fn in_directory(name: &str, test: impl FnOnce(&Path)) {
        test(&Directory::new(&format!("page-{name}")).file());
    }

    #[test]
    fn another_tenants_page_is_made_and_opened() {
        in_directory("made", |path| {
            let page = open(path, 1).unwrap();
            assert_eq!(size_of_val(page.words), LEN);
            assert_eq!(page.word(WORD_AT).load(Ordering::Relaxed), 7);
            page.word(WORD_AT).store(8, Ordering::Relaxed);
            assert!(std::ptr::eq(open(path, 1).unwrap().words, page.words));
            assert_eq!(std::fs::read(path).unwrap()[WORD_AT], 8);
        });
    }

    #[test]
    fn a_page_is_attached_by_what_it_says_itself() {
        in_directory("attached", |path| {
            let attach = || {
                let mut field = 0;
                Page::attach(path, &APPLES, &[], |found, _| {
                    field = found.byte(FIELD_AT);
                    Ok::<_, PageError>(())
                })
                .map(|page| (page, field))
            };
            assert!(matches!(attach(), Err(PageError::File(FileError::Os { .. }))));
            assert!(!path.exists(), "attaching makes nothing");
            let made = open(path, 5).unwrap();
            let (attached, field) = attach().unwrap();
            assert_eq!(field, 5);
            attached.word(WORD_AT).store(9, Ordering::Relaxed);
            assert_eq!(made.word(WORD_AT).load(Ordering::Relaxed), 9);
            std::fs::remove_file(path).unwrap();
            assert!(matches!(attach(), Err(PageError::File(FileError::Os { .. }))), "only a right to it is inherited");
        });
    }

    #[test]
    fn memory_of_a_page_that_is_refused_is_given_back() {
        in_directory("given-back", |path| {
            std::fs::write(path, basket(1).0).unwrap();
            let is_mapped = || {
                let mappings = std::fs::read_to_string("/proc/self/maps").unwrap();
                mappings.contains(path.parent().unwrap().file_name().unwrap().to_str().unwrap())
            };
            let refuse = |_: &PageBytes, _| Err(PageError::NoMemory(io::ErrorKind::OutOfMemory.into()));
            assert!(Page::attach(path, &APPLES, &[], refuse).is_err());
            assert!(!is_mapped());
            open(path, 1).unwrap();
            assert!(is_mapped());
        });
    }

    #[test]
    fn pages_in_memory_are_found_by_their_header() {
        let one = Page::in_memory(&basket(101)).unwrap();
        let same = Page::in_memory(&basket(101)).unwrap();
        let other = Page::in_memory(&basket(102)).unwrap();
        assert_eq!(one.word(WORD_AT).load(Ordering::Relaxed), 7);
        assert!(std::ptr::eq(one.words, same.words));
        assert!(!std::ptr::eq(one.words, other.words));
    }

    /// A read of a file may see half of a change.
    #[test]
    fn each_word_is_copied_from_memory() {
        in_directory("words", |path| {
            let page = open(path, 1).unwrap();
            let words = || (WORDS_AT..LEN).step_by(8);
            words().for_each(|at| page.word(at).store(!(at as u64), Ordering::Relaxed));
            let mut contents = basket(1);
            page.copy_words(&mut contents);
            assert!(words().all(|at| contents.number(at) == !(at as u64)));
            assert_eq!(contents.0[..WORDS_AT], basket(1).0[..WORDS_AT]);
        });
    }

    #[test]
    fn threads_that_ask_at_once_get_one_page() {
        for round in 0..100_u64 {
            let fresh = || PageBytes::new(&APPLES, &[(FIELD_AT, &round.to_ne_bytes()), (FIELD_AT + 8, &[1])]);
            let barrier = std::sync::Barrier::new(4);
            let pages: Vec<_> = std::thread::scope(|scope| {
                let ask = || {
                    barrier.wait();
                    Page::in_memory(&fresh()).unwrap().words.as_ptr() as usize
                };
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(pages.iter().all(|&page| page == pages[0]), "{pages:?}");
        }
    }
}
