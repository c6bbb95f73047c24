//! Opens the file of a page as its only writer.

use rustix::fs::{Access, FlockOperation};
use rustix::io::Errno;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file of a page, locked by its only writer.
#[derive(Debug)]
pub struct Owned {
    path: PathBuf,
    lock: File,
    is_gone: bool,
}

impl Owned {
    /// Says once that somebody has removed the file, or put another in its place. Processes that start then find no page, or one
    /// that nobody writes; it is not made again, because those that have it mapped would make the same ids as the new ones.
    pub fn look(&mut self) -> Option<String> {
        let was_gone = std::mem::replace(&mut self.is_gone, !is_at(&self.lock, &self.path).unwrap_or(true));
        (self.is_gone && !was_gone).then(|| {
            format!(
                "its file {} was removed or replaced: programs that have it open go on, and others get none; restart \
                 txid-agent, and then those programs",
                self.path.display()
            )
        })
    }
}

/// Whether the open file is still the one at `path`.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (open, there) = (file.metadata()?, std::fs::symlink_metadata(path));
    Ok(there.is_ok_and(|there| (there.dev(), there.ino()) == (open.dev(), open.ino())))
}

/// Opens the page at `path`, and returns it with the lock of its only writer.
///
/// `open` opens or makes the page. It returns None if the file is a copy, or from before this boot: it is then replaced.
pub fn own<P, E: fmt::Display>(
    path: &Path,
    open: impl Fn(&Path) -> Result<Option<P>, E>,
) -> Result<(P, Owned), OwnError> {
    loop {
        drop(open(path).map_err(|error| no_page(path, error))?);
        // Only the holder of a file's lock removes the file, or uses its page.
        let Some(lock) = lock(path)? else { continue };
        match open(path).map_err(|error| no_page(path, error))? {
            Some(page) => return Ok((page, Owned { path: path.to_path_buf(), lock, is_gone: false })),
            None => std::fs::remove_file(path).map_err(|error| no_lock(path, error))?,
        }
    }
}

/// Locks the file at `path`; None if it is gone, because another agent has removed it in the meantime.
fn lock(path: &Path) -> Result<Option<File>, OwnError> {
    let file = match OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| no_lock(path, error))?,
    };
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Err(OwnError::InUse(path.to_path_buf())),
        locked => locked.map_err(|errno| no_lock(path, errno.into()))?,
    }
    Ok(is_at(&file, path).map_err(|error| no_lock(path, error))?.then_some(file))
}

/// Why an agent has no page to write to.
#[derive(Debug)]
pub enum OwnError {
    /// Another agent owns it.
    InUse(PathBuf),
    /// It could not be opened, made or locked.
    Failed(String),
}

fn no_page(path: &Path, error: impl fmt::Display) -> OwnError {
    let nearest = path.ancestors().skip(1).find(|directory| directory.exists());
    OwnError::Failed(match nearest.map(|directory| rustix::fs::access(directory, Access::WRITE_OK)) {
        Some(Err(Errno::ACCESS)) => format!("{error}; give a directory that this user may write to with --dir"),
        _ => error.to_string(),
    })
}

fn no_lock(path: &Path, error: io::Error) -> OwnError {
    OwnError::Failed(format!("cannot lock {}: {error}", path.display()))
}

impl fmt::Display for OwnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(path) => {
                write!(f, "another txid-agent keeps {}; stop it, or take another --dir", path.display())
            }
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for OwnError {}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_removed_or_replaced_is_said_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("orders");
        std::fs::write(&path, "").unwrap();
        let (_, mut owned) = own(&path, |_| Ok::<_, io::Error>(Some(()))).unwrap();
        assert_eq!(owned.look(), None);
        for again in [false, true] {
            if again {
                std::fs::write(&path, "").unwrap();
                assert_eq!(owned.look(), None, "it was said");
            } else {
                std::fs::remove_file(&path).unwrap();
                let text = format!(
                    "its file {} was removed or replaced: programs that have it open go on, and others get none; restart \
                     txid-agent, and then those programs",
                    path.display()
                );
                assert_eq!(owned.look(), Some(text));
                assert_eq!(owned.look(), None);
            }
        }
    }

    #[test]
    fn a_file_that_is_gone_is_no_error() {
        let gone = tempfile::tempdir().unwrap().path().join("gone");
        assert!(matches!(lock(&gone), Ok(None)));
    }

    /// Only a file that is gone is tried again.
    #[test]
    fn a_file_that_cannot_be_locked_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let tries = std::cell::Cell::new(0);
        let open = |_: &Path| {
            tries.set(tries.get() + 1);
            assert_eq!(tries.get(), 1, "it is tried again and again");
            Ok::<_, io::Error>(Some(()))
        };
        let error = own(directory.path(), open).unwrap_err();
        assert!(matches!(error, OwnError::Failed(_)), "{error}");
        let why = format!("cannot lock {}: Is a directory (os error 21)", directory.path().display());
        assert_eq!(error.to_string(), why);
    }

    #[test]
    fn a_page_has_one_writer() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("orders");
        let own = || {
            std::fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
            own(&path, |_| Ok::<_, io::Error>(Some(())))
        };
        let first = own().unwrap();
        let shown = path.display();
        let why = format!("another txid-agent keeps {shown}; stop it, or take another --dir");
        assert_eq!(own().unwrap_err().to_string(), why);
        drop(first);
        assert!(own().is_ok());
        let failed = super::own(&path, |_| Err::<Option<()>, _>("it is none")).unwrap_err();
        assert_eq!(failed.to_string(), "it is none");
        let tries = std::cell::Cell::new(0);
        // What is a copy is removed, and made anew.
        let (page, _) = super::own(&path, |path| {
            tries.set(tries.get() + 1);
            std::fs::OpenOptions::new().create(true).append(true).open(path)?;
            Ok::<_, io::Error>((tries.get() > 3).then_some(tries.get()))
        })
        .unwrap();
        assert_eq!(page, 4);
    }
}
