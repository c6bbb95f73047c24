//! ZooKeeper 3.5 and later: a znode for each record.
//!
//! ZooKeeper restarts a record's version when it is deleted and made again, so an old version can come back. So each
//! record gets a child with a random name when it is made, and every write checks that the child is there.

use std::time::Duration;

use txid::Txid;
use txid_agent_machines::store::{Expected, Numbered, Numbering, Put, Record, StoreError, Version};
use zookeeper_client::{Acls, Client, CreateMode, CreateOptions, Error, MultiWriteError, MultiWriteResult, Stat};

use super::address::Address;
use super::clock::StoreClock;
use super::numbering;
use super::remote::{Remote, causes};
use super::url::StoreUrl;
use super::{Failure, Store};

/// The prefix of that child's name.
const BORN: &str = "born-";

/// Between two renewals, the runtime's thread keeps the session alive.
const SESSION: Duration = Duration::from_secs(10);

pub(super) struct ZookeeperStore {
    address: Address,
    hosts: String,
    auth: Option<String>,
    root: String,
    may_lose_writes: bool,
    client: Option<Client>,
    remote: Remote,
    clock: StoreClock,
}

impl ZookeeperStore {
    pub(super) fn open(url: StoreUrl) -> Result<Self, StoreError> {
        url.knows_only(&[])?;
        let address = url.address.clone();
        if url.tls.is_some() {
            return Err(address.misconfigured("TLS to ZooKeeper is not supported: use a tunnel on this host"));
        }
        let auth = match (&url.user, &url.password) {
            (Some(user), Some(password)) => Some(format!("{user}:{}", password.reveal())),
            (Some(user), None) => {
                return Err(address.misconfigured(format_args!(
                    "the user {user} has no password: set TXID_STORE_PASSWORD, or give ?password-file=FILE"
                )));
            }
            (None, _) => None,
        };
        Ok(Self {
            hosts: url.hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
            auth,
            root: format!("/{}", if url.path.is_empty() { "txid" } else { &url.path }),
            may_lose_writes: url.may_lose_writes(false)?,
            remote: Remote::new(&address)?,
            address,
            client: None,
            clock: StoreClock::default(),
        })
    }

    fn connect(&self) -> Result<Client, StoreError> {
        let mut connector = Client::connector()
            .with_session_timeout(SESSION)
            .with_connection_timeout(self.address.timeout)
            .with_fail_eagerly();
        if let Some(auth) = &self.auth {
            connector = connector.with_auth("digest", auth.as_bytes());
        }
        let connected = self.remote.run(connector.connect(&self.hosts)).ok_or_else(|| self.address.timed_out())?;
        connected.map_err(|error| match error {
            Error::NoHosts => self.address.unreachable("no server accepted the connection"),
            other => self.say(other).into_error(),
        })
    }

    /// Runs `work` with a client, which is kept if it succeeds.
    fn run<T>(&mut self, work: impl AsyncFnOnce(&Client) -> Result<T, Error>) -> Result<T, Failure> {
        let client = match self.client.take() {
            Some(client) if !client.state().is_terminated() => client,
            _ => self.connect().map_err(Failure::NotDone)?,
        };
        match self.remote.run(work(&client)) {
            None => Err(Failure::Unknown(self.address.timed_out())),
            Some(Ok(result)) => {
                self.client = Some(client);
                Ok(result)
            }
            Some(Err(error)) => Err(self.say(error)),
        }
    }

    fn say(&self, error: Error) -> Failure {
        let address = &self.address;
        let why = causes(&error);
        match error {
            Error::NoAuth | Error::AuthFailed | Error::InvalidAcl => Failure::NotDone(address.refused(format_args!(
                "{why}; what lies below {} belongs to another user: give yours as zookeeper://USER@HOST, and \
                 TXID_STORE_PASSWORD or ?password-file=FILE",
                self.root
            ))),
            Error::Timeout => Failure::Unknown(address.timed_out()),
            Error::BadArguments(_) | Error::Unimplemented | Error::QuotaExceeded => {
                Failure::NotDone(address.misconfigured(why))
            }
            Error::NotReadOnly => Failure::NotDone(address.unreachable("this server has lost contact with the others")),
            _ => Failure::Unknown(address.unreachable(why)),
        }
    }

    /// The options of a new record: if there is a user, only that user may access it.
    fn options(&self) -> CreateOptions<'static> {
        CreateMode::Persistent.with_acls(self.acls())
    }

    fn acls(&self) -> Acls<'static> {
        if self.auth.is_some() { Acls::creator_all() } else { Acls::anyone_all() }
    }

    fn path(&self, key: &str) -> String {
        format!("{}/{}", self.root, key.trim_end_matches('/'))
    }

    fn create(&mut self, path: &str, bytes: &[u8]) -> Result<Option<Version>, Failure> {
        let born = format!("{BORN}{}", Txid::now());
        let options = self.options();
        let made = self.run(async |client| {
            for parent_made in [false, true] {
                let mut write = client.new_multi_writer();
                write.add_create(path, bytes, &options)?;
                write.add_create(&format!("{path}/{born}"), b"", &options)?;
                match write.commit().await {
                    Ok(_) => return Ok(true),
                    Err(MultiWriteError::OperationFailed { source: Error::NodeExists, .. }) => return Ok(false),
                    Err(MultiWriteError::OperationFailed { source: Error::NoNode, .. }) if !parent_made => {
                        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| parent);
                        client.mkdir(parent, &options).await?;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(false)
        })?;
        Ok(made.then(|| version(0, &born)))
    }

    fn change(&mut self, path: &str, number: i32, born: &str, bytes: &[u8]) -> Result<Option<Stat>, Failure> {
        self.run(async |client| {
            let mut write = client.new_multi_writer();
            write.add_check_version(&format!("{path}/{born}"), 0)?;
            write.add_set_data(path, bytes, Some(number))?;
            match write.commit().await {
                Ok(mut results) => match results.pop() {
                    Some(MultiWriteResult::SetData { stat }) => Ok(Some(stat)),
                    other => Err(Error::UnexpectedError(format!("{other:?}"))),
                },
                Err(MultiWriteError::OperationFailed { source: Error::NoNode | Error::BadVersion, .. }) => Ok(None),
                Err(error) => Err(error.into()),
            }
        })
    }
}

impl Store for ZookeeperStore {
    fn read(&mut self, key: &str) -> Result<Option<Record>, StoreError> {
        let (root, path) = (self.root.clone(), self.path(key));
        let found = self.run(async |client| {
            // A server may lag behind the leader until it has synced. The three requests are sent together.
            let sync = client.sync(&root);
            let children = client.list_children(&path);
            let data = client.get_data(&path);
            match sync.await {
                Ok(()) | Err(Error::NoNode) => {}
                Err(error) => return Err(error),
            }
            match (children.await, data.await) {
                (Ok(children), Ok(data)) => Ok(Some((children, data))),
                (Err(Error::NoNode), _) | (_, Err(Error::NoNode)) => Ok(None),
                (Err(error), _) | (_, Err(error)) => Err(error),
            }
        });
        let Some((children, (bytes, stat))) = found.map_err(Failure::into_error)? else { return Ok(None) };
        record(&children, bytes, &stat).map(Some).ok_or_else(|| {
            self.address.damaged(format_args!("{path} has no child {BORN}..., so it is not a record of txid-agent"))
        })
    }

    fn put(&mut self, key: &str, expected: &Expected, bytes: &[u8]) -> Result<Put, StoreError> {
        let path = self.path(key);
        let written = match expected {
            Expected::Absent => self.create(&path, bytes),
            Expected::Version(old) => {
                let (number, born) = parts(old).ok_or_else(|| {
                    self.address.damaged(format_args!("{old:?} is not a version of a record in ZooKeeper"))
                })?;
                let born = born.to_owned();
                self.change(&path, number, &born, bytes).map(|stat| {
                    stat.map(|stat| {
                        self.clock.saw(stat.mtime);
                        version(stat.version, &born)
                    })
                })
            }
        };
        match written {
            Ok(Some(version)) => Ok(Put::Written(version)),
            Ok(None) => Ok(Put::Conflict),
            Err(failure) => failure.of_put(),
        }
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, Record)>, StoreError> {
        let root = self.root.clone();
        let prefix = prefix.trim_end_matches('/').to_owned();
        let found = self.run(async |client| {
            client.sync(&root).await.or_else(|error| if error == Error::NoNode { Ok(()) } else { Err(error) })?;
            let mut records = Vec::new();
            let mut level = vec![prefix];
            while !level.is_empty() {
                // All requests of a level are sent together.
                let asked: Vec<_> = level
                    .drain(..)
                    .map(|key| {
                        let path = format!("{root}/{key}");
                        let children = {
                            let path = path.clone();
                            async move { client.list_children(&path).await }
                        };
                        let data = async move { client.get_data(&path).await };
                        (key, children, data)
                    })
                    .collect();
                let mut next = Vec::new();
                for (key, children, data) in asked {
                    let (children, (bytes, stat)) = match (children.await, data.await) {
                        (Ok(children), Ok(data)) => (children, data),
                        // Deleted in the meantime.
                        (Err(Error::NoNode), _) | (_, Err(Error::NoNode)) => continue,
                        (Err(error), _) | (_, Err(error)) => return Err(error),
                    };
                    match record(&children, bytes, &stat) {
                        Some(record) => records.push((key, record)),
                        None => next.extend(children.iter().map(|child| format!("{key}/{child}"))),
                    }
                }
                level = next;
            }
            Ok(records)
        });
        found.map_err(Failure::into_error)
    }

    fn clock_ms(&mut self) -> Result<Option<i64>, StoreError> {
        if self.clock.now_ms().is_none() {
            // Only a write shows the time.
            let (root, options) = (self.root.clone(), self.options());
            let stat = self
                .run(async |client| {
                    client.mkdir(&root, &options).await?;
                    client.set_data(&root, b"", None).await
                })
                .map_err(Failure::into_error)?;
            self.clock.saw(stat.mtime);
        }
        Ok(self.clock.now_ms())
    }

    fn may_lose_writes(&self) -> bool {
        self.may_lose_writes
    }

    fn number(&mut self, from: Numbering, _: &str, owner: &str, last: u64) -> Result<Numbered, StoreError> {
        if from != Numbering::LeafForever {
            return Err(self.address.misconfigured(format_args!("{} is not in ZooKeeper", from.place())));
        }
        let forever = format!("{}/forever", self.root);
        let child = format!("{forever}/{}", numbering::leaf_child(owner));
        let content = numbering::leaf_content(owner, txid::system_ms());
        let options = CreateMode::PersistentSequential.with_acls(self.acls());
        let given = self.run(async |client| {
            let children = match client.list_children(&forever).await {
                Err(Error::NoNode) => return Ok(None),
                other => other?,
            };
            if children.iter().filter_map(|child| numbering::leaf_number(child)).any(|number| number >= last) {
                return Ok(Some(Numbered::UsedUp));
            }
            let (_, sequence) = client.create(&child, content.as_bytes(), &options).await?;
            let node = u64::try_from(sequence.into_i64()).ok().filter(|node| *node <= last);
            Ok(Some(node.map_or(Numbered::UsedUp, Numbered::Node)))
        });
        given.map_err(Failure::into_error)?.ok_or_else(|| {
            self.address.misconfigured(format_args!(
                "there is no {forever}: write zookeeper://HOST/snowflake/NAME, with the leaf.name of Leaf's servers"
            ))
        })
    }

    fn damaged(&self, what: &str) -> StoreError {
        self.address.damaged(what)
    }
}

/// The children are read first: if the record is made again in between, no write matches the pair.
fn record(children: &[String], bytes: Vec<u8>, stat: &Stat) -> Option<Record> {
    let born = children.iter().find(|child| child.starts_with(BORN))?;
    Some(Record { bytes, version: version(stat.version, born) })
}

fn version(number: i32, born: &str) -> Version {
    Version(format!("{number} {born}").into_bytes())
}

fn parts(version: &Version) -> Option<(i32, &str)> {
    let (number, born) = std::str::from_utf8(&version.0).ok()?.split_once(' ')?;
    Some((number.parse().ok()?, born))
}
