//! A directory with a file for each record, and one lock. It needs no server, and serves one host, or all hosts that
//! share it on a file system with locks.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use txid_agent_machines::store::{Expected, Put, Record, StoreError, StoreTime, Version};

use super::address::Address;
use super::contract::{Show, Store};
use super::durability::Durability;
use super::failure::Failure;
use super::limits::{LARGEST_RECORD, Listing, PART, record};
use super::url::StoreUrl;

/// No key has these names.
const LOCK: &str = ".lock";
const ASIDE: &str = ".new";

/// How often somebody who waits for the lock tries to take it, and how long it is left to others.
const AGAIN: Duration = Duration::from_millis(2);
const PAUSE: Duration = Duration::from_millis(5);

#[derive(Clone)]
pub(super) struct FileStore {
    address: Address,
    directory: PathBuf,
    durability: Durability,
    /// Waits between two parts of a list.
    pause: fn(),
}

impl FileStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&[])?;
        if url.path.is_empty() {
            return Err(url.address.misconfigured("it names no directory: write file:///var/lib/txid/leases"));
        }
        // It is on the disk, as far as the disk keeps its word.
        let durability = url.durability(Durability::Durable)?;
        Ok(Self { directory: Path::new("/").join(&url.path), durability, address: url.address, pause: || sleep(PAUSE) })
    }

    /// Waits for the lock, which is held until what is returned is dropped or the process ends.
    ///
    /// The directory itself is locked, because a file in it may be removed while it is locked, and is then another one
    /// for the next process. NFS locks files only: so there is one as well, and it must still be the one that is there.
    fn lock(&self) -> Result<[File; 2], StoreError> {
        make_directories(&self.directory).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.address.misconfigured("no directory can be made there"),
            _ => self.meaning(&self.directory, &error),
        })?;
        let path = self.directory.join(LOCK);
        let start = Instant::now();
        loop {
            let open = |file: io::Result<File>, path| file.map_err(|error| self.meaning(path, &error));
            let directory = open(File::open(&self.directory), &self.directory)?;
            let file = open(OpenOptions::new().create(true).append(true).open(&path), &path)?;
            let locked = try_lock_both(&directory, &file).map_err(|error| self.meaning(&path, &error.into()))?;
            if locked && is_there(&file, &path) && is_there(&directory, &self.directory) {
                return Ok([directory, file]);
            }
            if start.elapsed() > self.address.timeout {
                let ms = self.address.timeout.as_millis();
                let why = format!("{}: another process has held this lock for {ms} ms", path.display());
                return Err(self.address.unreachable(why));
            }
            sleep(AGAIN);
        }
    }

    fn path(&self, key: &str) -> Result<PathBuf, StoreError> {
        if key.split('/').any(|name| name.is_empty() || name.starts_with('.')) {
            return Err(self.address.misconfigured(format_args!("{key:?} cannot be a file name")));
        }
        Ok(self.directory.join(key))
    }

    fn look(&self, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        let mut bytes = Vec::new();
        // One more byte than a record may have shows that it is too long.
        let read = File::open(path).and_then(|file| file.take(LARGEST_RECORD as u64 + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.meaning(path, &error)),
        }
    }

    /// Writes a new file and renames it over the old one, so that there is always a whole one.
    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let not_done = |error: io::Error| Failure::NotDone(self.meaning(path, &error));
        let parent = path.parent().unwrap_or(&self.directory);
        make_directories(parent).map_err(not_done)?;
        let aside = self.directory.join(ASIDE);
        let mut file = File::create(&aside).map_err(not_done)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(not_done)?;
        let unknown = |error: io::Error| Failure::Unknown(self.meaning(path, &error));
        fs::rename(&aside, path).map_err(unknown)?;
        for directory in path.ancestors().skip(1).take_while(|directory| directory.starts_with(&self.directory)) {
            File::open(directory).and_then(|directory| directory.sync_all()).map_err(unknown)?;
        }
        Ok(())
    }

    fn meaning(&self, path: &Path, error: &io::Error) -> StoreError {
        let why = format!("{}: {error}", path.display());
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => self.address.refused(why),
            io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists => {
                self.address.misconfigured(why)
            }
            _ => self.address.unreachable(why),
        }
    }

    /// Shows the records in a directory. The lock is given up now and then, and for long enough that others get it: they
    /// need not wait for all records.
    fn gather(&self, directory: &Path, listing: &mut Listing, show: Show) -> Result<(), StoreError> {
        let mut lock = self.lock()?;
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.meaning(directory, &error)),
        };
        let mut count = 0;
        for entry in entries {
            let path = entry.map_err(|error| self.meaning(directory, &error))?.path();
            if path.is_dir() {
                drop(lock);
                self.gather(&path, listing, show)?;
                lock = self.lock()?;
            } else if let Some(key) = path.strip_prefix(&self.directory).ok().and_then(Path::to_str) {
                let Some(bytes) = self.look(&path)? else { continue };
                show(key, Record::compared_by_bytes(bytes));
                count += 1;
                if count % PART == 0 {
                    listing.add(&self.address, PART)?;
                    drop(lock);
                    (self.pause)();
                    lock = self.lock()?;
                }
            }
        }
        Ok(())
    }
}

/// Makes the directories that are missing, each on the disk before the next one. The name of one whose parent may not be
/// read reaches the disk later.
fn make_directories(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let Some(parent) = directory.parent() else {
        return fs::create_dir_all(directory);
    };
    make_directories(parent)?;
    fs::create_dir_all(directory)?;
    File::open(parent).map_or(Ok(()), |parent| parent.sync_all())
}

fn try_lock_both(directory: &File, file: &File) -> rustix::io::Result<bool> {
    match try_lock(directory) {
        // How NFS says that it does not lock directories.
        Ok(true) | Err(Errno::BADF) => try_lock(file),
        other => other,
    }
}

fn try_lock(file: &File) -> rustix::io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether the file at `path` is this one, and not another one that somebody made in its place.
fn is_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(found)) => (open.dev(), open.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

impl Store for FileStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        let path = self.path(key)?;
        let _lock = self.lock()?;
        self.look(&path)?.map(|bytes| record(&self.address, key, bytes)).transpose()
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        let path = self.path(key)?;
        let _lock = self.lock()?;
        let fits = match (self.look(&path)?, expected) {
            (None, Expected::Absent) => true,
            (Some(found), Expected::Version(old)) => found == old.0,
            _ => false,
        };
        if !fits {
            return Ok(Put::Conflict);
        }
        match self.replace(&path, bytes) {
            Ok(()) => Ok(Put::Written(Version(bytes.to_vec()))),
            Err(failure) => failure.of_put(),
        }
    }

    fn list(&mut self, prefix: &str, show: Show) -> Result<(), StoreError> {
        let directory = self.path(prefix.trim_end_matches('/'))?;
        self.gather(&directory, &mut Listing::begin(), show)
    }

    fn clock(&mut self) -> Result<Option<StoreTime>, StoreError> {
        Ok(None)
    }

    fn durability(&self) -> &Durability {
        &self.durability
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::{OpenOptionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    #[test]
    fn what_is_wrong_with_a_directory_is_said_with_its_name() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().canonicalize().unwrap();
        let url = format!("file://{}", path.display());
        let open = |url: &str| FileStore::open(StoreUrl::parse(url).unwrap()).unwrap();
        let mut store = open(&format!("{url}?timeout=10ms"));
        for key in ["../x", "/x", "a//b", "a/.lock", "", ".new"] {
            let why = store.read(key).unwrap_err().to_string();
            assert_eq!(why, format!("{url} cannot be used: {key:?} cannot be a file name"));
            assert!(store.put(key, &Expected::Absent, b"x").is_err() && store.list(key, &mut |_, _| {}).is_err());
        }
        let held = store.lock().unwrap();
        let why = format!("cannot reach {url}: {}/.lock: another process has held this lock for 10 ms", path.display());
        assert_eq!(open(&format!("{url}?timeout=10ms")).read("a").unwrap_err().to_string(), why);
        drop(held);
        let why = open("file:///proc/txid/leases").read("a").unwrap_err().to_string();
        assert_eq!(why, "file:///proc/txid/leases cannot be used: no directory can be made there");
        let said = |kind| store.meaning(Path::new("/x"), &io::Error::from(kind)).to_string().replace(&url, "here");
        use io::ErrorKind::*;
        for kind in [PermissionDenied, ReadOnlyFilesystem] {
            assert_eq!(said(kind), format!("here refused: /x: {kind}"));
        }
        for kind in [NotADirectory, IsADirectory, AlreadyExists] {
            assert_eq!(said(kind), format!("here cannot be used: /x: {kind}"));
        }
        for kind in [StorageFull, NotFound, InvalidInput] {
            assert_eq!(said(kind), format!("cannot reach here: /x: {kind}"));
        }
    }

    #[test]
    fn a_record_is_a_file_that_is_written_if_it_is_the_expected_one() {
        let place = tempfile::tempdir().unwrap();
        let url = format!("file://{}", place.path().display());
        let mut store = FileStore::open(StoreUrl::parse(&url).unwrap()).unwrap();
        let version = |text: &str| Expected::Version(Version(text.into()));
        let written = |text: &str| Ok(Put::Written(Version(text.into())));
        assert_eq!((store.read("a/b/1"), store.clock()), (Ok(None), Ok(None)));
        assert_eq!(store.put("a/b/1", &version("one"), b"two"), Ok(Put::Conflict));
        assert_eq!(store.put("a/b/1", &Expected::Absent, b"one"), written("one"));
        assert_eq!(store.put("a/b/1", &Expected::Absent, b"two"), Ok(Put::Conflict));
        assert_eq!(store.put("a/b/1", &version("two"), b"two"), Ok(Put::Conflict));
        assert_eq!(store.put("a/b/1", &version("one"), b"two"), written("two"));
        assert_eq!(store.put("a/c/2", &Expected::Absent, b"x"), written("x"));
        assert_eq!(fs::read(place.path().join("a/b/1")).unwrap(), b"two");
        assert!(!place.path().join(ASIDE).exists());
        let mut shown = Vec::new();
        store.list("a/", &mut |name, record| shown.push((name.to_owned(), record.bytes))).unwrap();
        shown.sort();
        assert_eq!(shown, [("a/b/1".to_owned(), b"two".to_vec()), ("a/c/2".to_owned(), b"x".to_vec())]);
    }

    /// An operator would believe that no node is taken.
    #[test]
    fn a_list_that_cannot_be_read_is_not_empty() {
        let place = tempfile::tempdir().unwrap();
        let url = format!("file://{}", place.path().display());
        let mut store = FileStore::open(StoreUrl::parse(&url).unwrap()).unwrap();
        let mut list = || store.list("orders/", &mut |_, _| {});
        assert_eq!(list(), Ok(()), "there is no directory yet");
        fs::write(place.path().join("orders"), "").unwrap();
        let error = list().unwrap_err();
        assert!(!error.may_pass() && error.to_string().contains("/orders: "), "{error}");
    }

    /// A file that cannot be one is an error: if it were taken for none, it would be written over.
    #[test]
    fn a_record_is_read_as_a_whole_or_not() {
        let place = tempfile::tempdir().unwrap();
        let url = format!("file://{}", place.path().display());
        let mut store = FileStore::open(StoreUrl::parse(&url).unwrap()).unwrap();
        let mut read = |content: usize| {
            fs::write(place.path().join("record"), "x".repeat(content)).unwrap();
            store.read("record").map(|record| record.unwrap().bytes.len())
        };
        assert_eq!(read(LARGEST_RECORD), Ok(LARGEST_RECORD));
        let error = read(LARGEST_RECORD + 1).unwrap_err();
        assert!(matches!(&error, StoreError::Damaged { .. }), "{error}");
        fs::create_dir(place.path().join("directory")).unwrap();
        let error = store.put("directory", &Expected::Absent, b"x").unwrap_err();
        assert!(matches!(&error, StoreError::Misconfigured { .. }), "{error}");
    }

    #[test]
    fn others_take_the_lock_during_a_long_list() {
        let place = tempfile::tempdir().unwrap();
        let open = || FileStore::open(StoreUrl::parse(&format!("file://{}", place.path().display())).unwrap()).unwrap();
        let nodes = place.path().join("orders/node");
        fs::create_dir_all(&nodes).unwrap();
        (0..=2 * PART).for_each(|node| fs::write(nodes.join(node.to_string()), "").unwrap());
        static HAS_READ: AtomicBool = AtomicBool::new(false);
        let (mut count, mut in_between) = (0, false);
        let mut store = open();
        store.pause = || {
            let begin = Instant::now();
            while !HAS_READ.load(Ordering::Relaxed) {
                assert!(begin.elapsed() < Duration::from_secs(60), "nobody else gets the lock");
                thread::yield_now();
            }
        };
        thread::scope(|scope| {
            let show = &mut |_: &str, _| {
                count += 1;
                if count == 1 {
                    scope.spawn(|| {
                        open().read("users/node/1").unwrap();
                        HAS_READ.store(true, Ordering::Relaxed);
                    });
                }
                in_between = HAS_READ.load(Ordering::Relaxed);
            };
            store.list("orders/", show).unwrap();
        });
        assert_eq!((count, in_between), (2 * PART + 1, true));
    }

    /// As when somebody has deleted what was locked.
    #[test]
    fn another_file_in_the_place_of_one_is_not_that_one() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(LOCK);
        let file = File::create(&path).unwrap();
        assert!(is_there(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!is_there(&file, &path));
        let other = File::create(&path).unwrap();
        assert!(!is_there(&file, &path) && is_there(&other, &path));
    }

    /// A pipe as the lock's file stops somebody between the directory and the file. It is in both directories, so only the
    /// directory shows that another one took its place.
    #[test]
    fn a_directory_that_was_replaced_is_not_the_one_that_is_locked() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().canonicalize().unwrap().join(name);
        ["old", "new"].iter().for_each(|name| fs::create_dir(path(name)).unwrap());
        mknodat(CWD, path("old").join(LOCK), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        fs::hard_link(path("old").join(LOCK), path("new").join(LOCK)).unwrap();
        symlink(path("old"), path("leases")).unwrap();
        symlink(path("new"), path("other")).unwrap();
        let url = format!("file://{}", path("leases").display());
        let store = FileStore::open(StoreUrl::parse(&url).unwrap()).unwrap();
        thread::scope(|scope| {
            let waits = scope.spawn(|| store.lock());
            let is_open = |name: &str| {
                let mut open = fs::read_dir("/proc/self/fd").unwrap().map(Result::unwrap);
                open.any(|open| fs::read_link(open.path()).is_ok_and(|file| file == path(name)))
            };
            while !is_open("old") && !waits.is_finished() {
                thread::yield_now();
            }
            fs::rename(path("other"), path("leases")).unwrap();
            let mut reader = OpenOptions::new();
            let _reader = reader.read(true).custom_flags(libc::O_NONBLOCK).open(path("leases").join(LOCK)).unwrap();
            let _lock = waits.join().unwrap().unwrap();
            // It keeps others out even when somebody has removed the file.
            assert_eq!(try_lock(&File::open(path("leases")).unwrap()), Ok(false), "the directory is locked");
        });
    }

    #[test]
    fn where_a_directory_cannot_be_locked_its_file_is() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(LOCK);
        let file = || OpenOptions::new().create(true).append(true).open(&path).unwrap();
        let directory = || File::open(place.path()).unwrap();
        // A lock of it fails as on NFS.
        let other = || OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(place.path()).unwrap();
        assert_eq!(try_lock(&other()), Err(Errno::BADF));
        let [ours, theirs] = [file(), file()];
        assert_eq!(try_lock_both(&other(), &ours), Ok(true));
        assert_eq!(try_lock_both(&other(), &theirs), Ok(false), "the file is locked");
        drop(ours);
        let locked = directory();
        assert_eq!(try_lock_both(&locked, &file()), Ok(true));
        assert_eq!(try_lock_both(&directory(), &theirs), Ok(false), "the directory is locked");
        assert_eq!(try_lock(&theirs), Ok(true), "and then the file is left alone");
    }
}
