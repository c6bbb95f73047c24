//! Opens a small file that several users and processes share, or makes it: completely or not at all, and never through
//! a symbolic link.

use crate::text::error_texts;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::ptr;
use std::time::UNIX_EPOCH;

const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o750);
const FILE_MODE: Mode = Mode::from_raw_mode(0o640);

/// O_PATH: a directory that is only used to find files in needs no read permission.
#[cfg(any(target_os = "linux", target_os = "android"))]
const DIRECTORY_FLAGS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const DIRECTORY_FLAGS: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why a file that processes share could not be opened or made.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The path does not end in a file name.
    NoName(PathBuf),
    /// The file, or a directory on the path to it, is a symbolic link.
    SymbolicLink(PathBuf),
    /// The path exists, but is not a regular file.
    NotAFile(PathBuf),
    /// The operating system refused.
    Os {
        /// What failed, as a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
}

impl FileError {
    /// Whether the file does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Os { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

error_texts! { FileError {
    Self::NoName(path) => "'{}' does not end in a file's name", path.display();
    Self::SymbolicLink(path) => "{} is a symbolic link; give the path that it leads to", path.display();
    Self::NotAFile(path) => "{} is not a regular file", path.display();
    Self::Os { action, path, error } => "cannot {action} {}: {error}{}", path.display(), as_whom(error);
} }

/// Who may not do it.
fn as_whom(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::PermissionDenied { format!(", as {}", user()) } else { String::new() }
}

/// Identifies a file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// When it was made, in nanoseconds since 1970-01-01 UTC; 0 if the file system does not tell. A new file may have
    /// the inode of one that was removed.
    pub(crate) born_ns: u64,
}

/// The content of a new file.
pub(super) type Content<'a> = &'a dyn Fn(Identity) -> Vec<u8>;

impl Identity {
    pub(super) fn of(status: &Metadata) -> Self {
        let born = status.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self { device: status.dev(), inode: status.ino(), born_ns: born.map_or(0, |born| born.as_nanos() as u64) }
    }
}

#[cold]
pub(super) fn refused(action: &'static str, path: &Path, error: io::Error) -> FileError {
    FileError::Os { action, path: path.to_path_buf(), error }
}

/// Opens the file at `path` for reading and writing. If it does not exist and there is `content` for it, makes it, with
/// missing directories. If several processes make it at once, one succeeds and the others open its file.
pub(super) fn open(path: &Path, content: Option<Content>) -> Result<File, FileError> {
    let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
        return Err(FileError::NoName(path.to_path_buf()));
    };
    let directory = open_directory(parent, content.is_some())?;
    loop {
        // Without NONBLOCK, opening a FIFO would wait.
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match fs::openat(&directory, name, flags, Mode::empty()) {
            Ok(file) => {
                let status = fs::fstat(&file).map_err(|errno| refused("look at", path, errno.into()))?;
                return match FileType::from_raw_mode(status.st_mode) {
                    FileType::RegularFile => Ok(file.into()),
                    _ => Err(FileError::NotAFile(path.to_path_buf())),
                };
            }
            Err(errno @ Errno::NOENT) => {
                let Some(content) = content else {
                    return Err(refused("open", path, errno.into()));
                };
                match make(&directory, name, content) {
                    // Another process was first.
                    Err(Errno::EXIST) => {}
                    made => return made.map_err(|errno| refused("make", path, errno.into())),
                }
            }
            Err(Errno::LOOP) => return Err(FileError::SymbolicLink(path.to_path_buf())),
            Err(Errno::ISDIR | Errno::NXIO) => return Err(FileError::NotAFile(path.to_path_buf())),
            Err(errno) => return Err(refused("open", path, errno.into())),
        }
    }
}

/// Follows `path` to its last directory; if `makes`, missing ones are made.
fn open_directory(path: &Path, makes: bool) -> Result<OwnedFd, FileError> {
    let start = Path::new(if path.has_root() { "/" } else { "." });
    let mut directory =
        fs::open(start, DIRECTORY_FLAGS, Mode::empty()).map_err(|errno| refused("open", start, errno.into()))?;
    let mut so_far = PathBuf::new();
    for component in path.components() {
        so_far.push(component);
        if matches!(component, Component::RootDir | Component::CurDir) {
            continue;
        }
        let name = component.as_os_str();
        let mut found = fs::openat(&directory, name, DIRECTORY_FLAGS, Mode::empty());
        if makes && matches!(found, Err(Errno::NOENT)) {
            make_directory(&directory, name).map_err(|errno| refused("make directory", &so_far, errno.into()))?;
            found = fs::openat(&directory, name, DIRECTORY_FLAGS, Mode::empty());
        }
        directory = found.map_err(|errno| {
            let status = fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW);
            match status.map(|status| FileType::from_raw_mode(status.st_mode)) {
                Ok(FileType::Symlink) => FileError::SymbolicLink(so_far.clone()),
                _ => refused("open directory", &so_far, errno.into()),
            }
        })?;
    }
    Ok(directory)
}

fn make_directory(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match fs::mkdirat(parent, name, DIRECTORY_MODE) {
        Err(Errno::EXIST) => Ok(()),
        made => made.and_then(|()| set_directory_mode(parent, name)).and_then(|()| sync_directory(parent)),
    }
}

/// Brings the names in a directory to the disk. Without read permission it cannot be opened for that; they get there
/// later.
fn sync_directory(directory: &OwnedFd) -> Result<(), Errno> {
    match fs::openat(directory, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
        Ok(readable) => fs::fsync(readable),
        Err(_) => Ok(()),
    }
}

/// Sets the mode whatever the umask is. Not by name: anyone who may write to `parent` may have put a link in place of
/// the directory by now.
fn set_directory_mode(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::fchmod(fs::openat(parent, name, flags, Mode::empty())?, DIRECTORY_MODE)
}

/// Makes the file under a temporary name, and links it to its own name once it is complete and on disk.
fn make(directory: &OwnedFd, name: &OsStr, content: Content) -> Result<File, Errno> {
    let (temporary, file) = make_temporary(directory)?;
    let made = fill(file, content).and_then(|file| {
        fs::linkat(directory, &*temporary, directory, name, AtFlags::empty())?;
        Ok(file)
    });
    let removed = fs::unlinkat(directory, &*temporary, AtFlags::empty());
    let file = made?;
    removed?;
    sync_directory(directory)?;
    Ok(file)
}

/// The name is not derived from the file's, which may already have the maximum length.
fn make_temporary(directory: &OwnedFd) -> Result<(String, OwnedFd), Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut attempt = 0_u32;
    loop {
        let temporary = format!(".txid.{}-{attempt}", std::process::id());
        match fs::openat(directory, &*temporary, flags, FILE_MODE) {
            // Left behind by a process that was killed here, or in use by another thread or container.
            Err(Errno::EXIST) => attempt += 1,
            opened => return opened.map(|file| (temporary, file)),
        }
    }
}

/// Writes the file rather than extending it: if the disk is full later, writing to a hole in the mapping would kill the
/// process.
fn fill(file: OwnedFd, content: Content) -> Result<File, Errno> {
    fs::fchmod(file.as_fd(), FILE_MODE)?;
    let mut file = File::from(file);
    let identity = file.metadata().map(|status| Identity::of(&status));
    let written = identity.and_then(|identity| file.write_all(&content(identity))).and_then(|()| file.sync_all());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(file)
}

/// This process's user, for an error: "user nobody (uid 65534)".
fn user() -> String {
    let uid = rustix::process::geteuid().as_raw();
    let mut entry = MaybeUninit::uninit();
    let (mut text, mut found) = ([0; 1024], ptr::null_mut());
    // SAFETY: all buffers are our own, with their sizes. If a name is found, it is in `text` and ends with a NUL.
    let name = unsafe {
        libc::getpwuid_r(uid, entry.as_mut_ptr(), text.as_mut_ptr(), text.len(), &mut found);
        found.as_ref().map(|found| CStr::from_ptr(found.pw_name).to_string_lossy())
    };
    match name {
        Some(name) => format!("user {name} (uid {uid})"),
        None => format!("uid {uid}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use test_helpers::Directory;

    #[test]
    fn no_mode_is_set_through_a_symbolic_link() {
        let directory = Directory::new("links");
        let (theirs, link) = (directory.0.join("theirs"), directory.0.join("link"));
        std::fs::create_dir(&theirs).unwrap();
        std::fs::set_permissions(&theirs, PermissionsExt::from_mode(0o700)).unwrap();
        symlink(&theirs, &link).unwrap();
        let parent = fs::open(&directory.0, DIRECTORY_FLAGS, Mode::empty()).unwrap();
        assert!(set_directory_mode(&parent, OsStr::new("link")).is_err());
        assert_eq!(std::fs::metadata(&theirs).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(set_directory_mode(&parent, OsStr::new("theirs")), Ok(()));
        assert_eq!(std::fs::metadata(&theirs).unwrap().permissions().mode() & 0o777, 0o750);
    }

    #[test]
    fn who_has_no_permission_is_named() {
        let message = |errno: Errno| refused("open", Path::new("/a/b"), errno.into()).to_string();
        let name = std::process::Command::new("id").arg("-un").output().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        let user = match name.status.success() {
            true => format!(", as user {} (uid {uid})", String::from_utf8(name.stdout).unwrap().trim()),
            false => format!(", as uid {uid}"),
        };
        let (denied, missing) = (message(Errno::ACCESS), message(Errno::NOENT));
        assert!(denied.starts_with("cannot open /a/b: ") && denied.ends_with(&user), "{denied}");
        assert!(!missing.contains(", as "), "{missing}");
    }

    #[test]
    fn no_mode_is_set_unless_it_is_a_directory() {
        let directory = Directory::new("fifo");
        let parent = fs::open(&directory.0, DIRECTORY_FLAGS, Mode::empty()).unwrap();
        fs::mkfifoat(&parent, "fifo", FILE_MODE).unwrap();
        // Opening it to read does not wait while it is open like this.
        let _both_ends = fs::openat(&parent, "fifo", OFlags::RDWR, Mode::empty()).unwrap();
        assert_eq!(set_directory_mode(&parent, OsStr::new("fifo")), Err(Errno::NOTDIR));
    }
}
