//! Calls to a server: a deadline for all of a call, and the connections that all leases and segments of a process share.
//!
//! One runtime serves the process, and whoever calls drives it. Nothing else runs in it: a client that is not done at the
//! deadline is dropped, and its connection with it.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::future::{join_all, poll_immediate};
use tokio::net::lookup_host;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use txid_agent_machines::store::StoreError;

use super::address::Address;
use super::failure::Failure;
use super::url::Host;

/// How many calls a store is asked at once by one process. While one of them waits, for a lock or for a server that is
/// silent, the other one serves all others in turn.
const MOST_CONNECTIONS: usize = 2;

static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_current_thread()
        .enable_all()
        // Only names are looked up in such threads. Nobody waits for them.
        .max_blocking_threads(4)
        .thread_stack_size(256 << 10)
        .build()
});

/// A connection that may have ended while nobody used it.
pub(super) trait Link {
    /// Ready if it has ended.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

/// The clients of one store.
pub(super) struct Remote<C> {
    address: Address,
    /// When the call must have ended.
    deadline: Instant,
    pool: Arc<Pool<C>>,
}

/// The connections of this process to one store.
struct Pool<C> {
    /// For each connection that may be in use.
    turns: Semaphore,
    /// Connections that are not in use.
    idle: Mutex<Vec<(Host, C)>>,
    /// As in the URL.
    names: Vec<Host>,
    /// Each of their addresses. The one to try first is the first.
    hosts: Mutex<Vec<Host>>,
}

/// Whether a request can be sent again without harm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
}

/// A client of the same connections.
impl<C> Clone for Remote<C> {
    fn clone(&self) -> Self {
        Self { address: self.address.clone(), deadline: self.deadline, pool: self.pool.clone() }
    }
}

impl<C: Link> Remote<C> {
    pub(super) fn new(address: &Address, hosts: Vec<Host>) -> Result<Self, StoreError> {
        if let Err(error) = &*RUNTIME {
            return Err(address.unreachable(format_args!("cannot start its client: {error}")));
        }
        Ok(Self::of(address, hosts))
    }

    fn of(address: &Address, hosts: Vec<Host>) -> Self {
        let turns = Semaphore::new(MOST_CONNECTIONS);
        let pool = Pool { turns, idle: Mutex::default(), names: hosts.clone(), hosts: Mutex::new(hosts) };
        Self { address: address.clone(), deadline: Instant::now(), pool: Arc::new(pool) }
    }

    /// Begins a call: from now on, all requests together may take the store's time-out.
    pub(super) fn begin(&mut self) {
        self.deadline = Instant::now() + self.address.timeout;
    }

    /// Does `work` on a connection: one that is idle, or a new one to the first host that `connect` accepts.
    pub(super) fn call<T>(
        &self,
        kind: Kind,
        connect: impl AsyncFn(&Host) -> Result<C, StoreError>,
        work: impl AsyncFn(&Host, &mut C) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let work = async {
            self.look_up().await;
            self.call_within(kind, connect, work).await
        };
        let done = RUNTIME.as_ref().ok().and_then(|runtime| runtime.block_on(self.within(work)));
        done.unwrap_or_else(|| Err(Failure::Unknown(self.address.timed_out())))
    }

    /// Waits for an answer until the call must end; None if it does not come.
    async fn within<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        timeout_at(self.deadline, answer).await.ok()
    }

    /// A host that fails is left for the next one, which then is the first of all calls. A host may use half of the time that
    /// is left, the last one all of it: so a silent one does not use up the time of the others. A write that may have
    /// arrived is not sent again.
    pub(super) async fn call_within<T>(
        &self,
        kind: Kind,
        connect: impl AsyncFn(&Host) -> Result<C, StoreError>,
        work: impl AsyncFn(&Host, &mut C) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _turn = self.pool.turns.acquire().await;
        let mut errors = Errors::default();
        let hosts = self.pool.hosts().len().max(1);
        for others in (0..hosts).rev() {
            let connected = match self.idle().await {
                Some(idle) => Ok(idle),
                None => self.connect(&connect).await,
            };
            let (host, mut connection) = match connected {
                Ok(connected) => connected,
                Err(error) => {
                    errors.add(error);
                    break;
                }
            };
            let patience = if kind == Kind::Read { self.patience(others) } else { self.deadline };
            let done = timeout_at(patience, work(&host, &mut connection)).await;
            match done.unwrap_or_else(|_| Err(Failure::Unknown(self.address.timed_out()))) {
                Ok(done) => {
                    self.pool.idle().push((host, connection));
                    return Ok(done);
                }
                Err(failure) => {
                    self.turn_from(&host);
                    match failure {
                        Failure::Unknown(error) if kind == Kind::Write => return Err(Failure::Unknown(error)),
                        Failure::NotDone(error) | Failure::Unknown(error) => errors.add(error),
                    }
                }
            }
        }
        Err(Failure::NotDone(errors.worst(&self.address)))
    }

    /// Looks up the addresses of all hosts, unless there is a connection. Those that were known stay in their order. A name
    /// without an answer in half of the time that is left is a host as it is: connecting to it says why.
    async fn look_up(&self) {
        if !self.pool.idle().is_empty() {
            return;
        }
        let patience = self.patience(1);
        let addresses = async |name: &Host| {
            let found = timeout_at(patience, lookup_host((name.name.as_str(), name.port))).await;
            let found = found.ok().and_then(Result::ok).into_iter().flatten();
            let at: Vec<Host> = found.map(|address| Host { at: Some(address.ip()), ..name.clone() }).collect();
            if at.is_empty() { vec![name.clone()] } else { at }
        };
        let found = join_all(self.pool.names.iter().map(addresses)).await.concat();
        let mut hosts = self.pool.hosts();
        let known = std::mem::take(&mut *hosts).into_iter().filter(|host| found.contains(host));
        *hosts = known.collect();
        let new: Vec<Host> = found.into_iter().filter(|host| !hosts.contains(host)).collect();
        hosts.extend(new);
    }

    /// Whether there are several servers: a host may have an address of each kind.
    pub(super) fn has_several(&self) -> bool {
        let of_kind = |is_v4: bool| move |host: &&Host| host.at.is_some_and(|at| at.is_ipv4() == is_v4);
        let hosts = self.pool.hosts();
        self.pool.names.len() > 1 || [true, false].iter().any(|&is_v4| hosts.iter().filter(of_kind(is_v4)).count() > 1)
    }

    /// A connection that nobody uses, and that has not ended.
    async fn idle(&self) -> Option<(Host, C)> {
        // Lets the runtime see what has happened to it since.
        tokio::task::yield_now().await;
        loop {
            let (host, mut connection) = self.pool.idle().pop()?;
            if poll_immediate(std::future::poll_fn(|cx| connection.poll_end(cx))).await.is_none() {
                return Some((host, connection));
            }
        }
    }

    /// Connects to the first of the hosts that `connect` accepts. A host that failed goes to the end of the list.
    async fn connect(&self, connect: &impl AsyncFn(&Host) -> Result<C, StoreError>) -> Result<(Host, C), StoreError> {
        let mut errors = Errors::default();
        let hosts = self.pool.hosts().clone();
        for (at, host) in hosts.iter().enumerate() {
            let patience = self.patience(hosts.len() - at - 1);
            match timeout_at(patience, connect(host)).await {
                Ok(Ok(connection)) => return Ok((host.clone(), connection)),
                Ok(Err(error)) => errors.add(error),
                Err(_) => errors.add(self.address.timed_out()),
            }
            self.pool.turn_from(host);
        }
        Err(errors.worst(&self.address))
    }

    #[cfg(test)]
    pub(super) fn first(&self) -> Host {
        self.pool.hosts()[0].clone()
    }

    /// When a host has used its share of the call's time, with `others` to try after it.
    fn patience(&self, others: usize) -> Instant {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if others == 0 { self.deadline } else { Instant::now() + left / 2 }
    }

    /// Uses no connection to this host any longer, and begins with another one.
    fn turn_from(&self, host: &Host) {
        self.pool.idle().retain(|(other, _)| other != host);
        self.pool.turn_from(host);
    }
}

impl<C> Pool<C> {
    fn idle(&self) -> MutexGuard<'_, Vec<(Host, C)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hosts(&self) -> MutexGuard<'_, Vec<Host>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another client may have turned from it already.
    fn turn_from(&self, host: &Host) {
        let mut hosts = self.hosts();
        if hosts.first() == Some(host) {
            hosts.rotate_left(1);
        }
    }
}

/// A connection that is driven by the calls on it, and closed when it is dropped.
pub(super) struct Driver(Option<Pin<Box<dyn Future<Output = ()> + Send>>>);

impl Driver {
    pub(super) fn new(connection: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Some(Box::pin(connection)))
    }

    /// Does `work`, which needs the connection.
    pub(super) async fn drive<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        std::future::poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            // If it brings what the work waits for, it wakes both.
            let _ = self.poll_end(cx);
            Poll::Pending
        })
        .await
    }
}

impl Link for Driver {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.as_mut().is_some_and(|connection| connection.as_mut().poll(cx).is_pending()) {
            return Poll::Pending;
        }
        self.0 = None;
        Poll::Ready(())
    }
}

/// Why each host failed.
#[derive(Default)]
struct Errors(Option<StoreError>);

impl Errors {
    /// Takes the last error, or one that somebody must mend.
    fn add(&mut self, error: StoreError) {
        if self.0.as_ref().is_none_or(StoreError::may_pass) {
            self.0 = Some(error);
        }
    }

    fn worst(self, address: &Address) -> StoreError {
        self.0.unwrap_or_else(|| address.unreachable("there is no host to connect to"))
    }
}

/// An error with all its causes.
pub(super) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

/// Does `work` beside a server at the port that it gets. To the first client, the server says the first of these texts at once, and
/// each other one after it has heard something. Returns what it has heard.
#[cfg(test)]
pub(super) fn beside<T>(texts: &[Vec<u8>], work: impl FnOnce(u16) -> T) -> (T, Vec<u8>) {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::scope(|scope| {
        let server = scope.spawn(move || {
            let (mut heard, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
            let (mut stream, _) = listener.accept().unwrap();
            for (at, text) in texts.iter().enumerate() {
                if at > 0 {
                    let read = stream.read(&mut buffer).unwrap_or(0);
                    heard.extend(&buffer[..read]);
                }
                let _ = stream.write_all(text);
            }
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut heard);
            heard
        });
        let done = work(at.port());
        // If there was no client.
        drop(TcpStream::connect(at));
        (done, server.join().unwrap())
    })
}

/// Does `work` with a clock that goes on when all wait, and returns how long it took by that clock.
#[cfg(test)]
pub(super) fn in_virtual_time<T>(work: impl Future<Output = T>) -> (T, std::time::Duration) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let begin = Instant::now();
        (work.await, begin.elapsed())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::future::pending;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;
    use tokio::time::sleep;

    /// A connection that ends when it is told to.
    #[derive(Default)]
    struct Fake {
        number: usize,
        has_ended: Arc<AtomicBool>,
    }

    impl Link for Fake {
        fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<()> {
            if self.has_ended.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }
        }
    }

    #[test]
    fn a_connection_that_has_ended_stays_so() {
        let mut driver = Driver::new(async {});
        let ended = in_virtual_time(async {
            for _ in 0..2 {
                std::future::poll_fn(|cx| driver.poll_end(cx)).await;
            }
        });
        assert_eq!(ended.1, Duration::ZERO);
    }

    fn host(name: &str) -> Host {
        Host::new(name, 1)
    }

    /// With three seconds for a call.
    fn remote(hosts: &[&str]) -> Remote<Fake> {
        Remote::of(&Address::new("here".to_owned()), hosts.iter().map(|name| host(name)).collect())
    }

    async fn host_name(host: &Host, _: &mut Fake) -> Result<String, Failure> {
        Ok(host.name.clone())
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_host_that_is_silent_leaves_half_of_the_time_to_the_others() {
        let mut remote = remote(&["a", "b", "c", "d"]);
        let tried = RefCell::new(Vec::new());
        let (used, took) = in_virtual_time(async {
            remote.begin();
            let connect = async |host: &Host| {
                tried.borrow_mut().push((host.name.clone(), remote.deadline - Instant::now()));
                if host.name == "d" { Ok(Fake::default()) } else { pending().await }
            };
            remote.call_within(Kind::Read, connect, host_name).await.ok()
        });
        assert_eq!((used.as_deref(), took), (Some("d"), Duration::from_millis(2_625)));
        let ms = [3_000, 1_500, 750, 375].map(Duration::from_millis);
        let wanted: Vec<_> = ["a", "b", "c", "d"].map(str::to_owned).into_iter().zip(ms).collect();
        assert_eq!(*tried.borrow(), wanted);
        assert_eq!(remote.pool.hosts()[0].name, "d", "it is the first one of the next call");
    }

    #[test]
    fn the_last_host_may_use_all_that_is_left_and_then_the_call_ends() {
        for hosts in [&["a"][..], &["a", "b", "c"]] {
            let mut remote = remote(hosts);
            let (error, took) = in_virtual_time(async {
                remote.begin();
                let called = remote.call_within(Kind::Write, async |_| pending().await, host_name).await;
                called.err().map(Failure::into_error)
            });
            assert!(matches!(error, Some(StoreError::TimedOut { ms: 3_000, .. })), "{error:?}");
            assert_eq!(took, 3 * SECOND);
        }
    }

    /// A name with one address of IPv4 and one of IPv6 is one server.
    #[test]
    fn several_servers_are_two_names_or_two_addresses_of_a_kind() {
        for (names, addresses, wanted) in [
            (&["a"][..], &["10.0.0.1"][..], false),
            (&["a"][..], &["10.0.0.1", "::1"][..], false),
            (&["a"][..], &["10.0.0.1", "10.0.0.2"][..], true),
            (&["a"][..], &["::1", "10.0.0.1", "::2"][..], true),
            (&["a", "b"][..], &["10.0.0.1"][..], true),
        ] {
            let remote = remote(names);
            let at = |address: &&str| Host { at: Some(address.parse().unwrap()), ..host("a") };
            *remote.pool.hosts() = addresses.iter().map(at).collect();
            assert_eq!(remote.has_several(), wanted, "{names:?} {addresses:?}");
        }
    }

    /// Those that were known stay in their order; what has no address is a host as it is.
    #[test]
    fn the_addresses_of_hosts_are_looked_up_while_there_is_no_connection() {
        let remote = remote(&["127.0.0.1", "127.0.0.2", "127.0.0.3"]);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let look_up = || {
            runtime.block_on(async {
                let mut remote = remote.clone();
                remote.begin();
                remote.look_up().await;
            });
            remote.pool.hosts().iter().map(|host| format!("{host} {:?}", host.at)).collect::<Vec<_>>()
        };
        let all = [1, 2, 3].map(|number| format!("127.0.0.{number}:1 Some(127.0.0.{number})"));
        assert_eq!(look_up(), all);
        remote.pool.turn_from(&remote.first());
        let turned = [&all[1..], &all[..1]].concat();
        assert_eq!(look_up(), turned);
        let second = remote.pool.hosts()[1].clone();
        *remote.pool.hosts() = vec![second, host("gone")];
        remote.pool.idle().push((host("gone"), Fake::default()));
        assert_eq!(look_up(), ["127.0.0.3:1 Some(127.0.0.3)", "gone:1 None"], "there is a connection");
        remote.pool.idle().clear();
        assert_eq!(look_up(), [&all[2..], &all[..2]].concat());
    }

    #[test]
    fn an_error_is_said_with_its_causes_each_once() {
        #[derive(Debug)]
        struct Outer(&'static str, io::Error);
        impl std::fmt::Display for Outer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.0)
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.1)
            }
        }
        let of = |text| causes(&Outer(text, io::Error::other("the cause")));
        assert_eq!(
            [of("it failed"), of("it failed: the cause, again")],
            ["it failed: the cause", "it failed: the cause, again"]
        );
        let here = Address::new("here".to_owned());
        assert_eq!(Errors::default().worst(&here).to_string(), "cannot reach here: there is no host to connect to");
    }

    /// A read is sent to the next host, and a write only if it was not done.
    #[test]
    fn a_write_that_may_have_arrived_is_not_sent_again() {
        for (kind, is_done, wanted) in [
            (Kind::Read, false, (vec!["a", "b"], "not done: here refused: b")),
            (Kind::Read, true, (vec!["a", "b"], "not done: here refused: b")),
            (Kind::Write, false, (vec!["a", "b"], "not done: here refused: b")),
            (Kind::Write, true, (vec!["a"], "cannot reach here: a")),
        ] {
            let mut remote = remote(&["a", "b"]);
            let asked = RefCell::new(Vec::new());
            let (said, _) = in_virtual_time(async {
                remote.begin();
                let fails = async |host: &Host, _: &mut Fake| {
                    asked.borrow_mut().push(host.name.clone());
                    let here = &remote.address;
                    let error = if host.name == "a" { here.unreachable("a") } else { here.refused("b") };
                    Err::<(), _>(if is_done { Failure::Unknown(error) } else { Failure::NotDone(error) })
                };
                let connect = async |_: &Host| Ok(Fake::default());
                match remote.call_within(kind, connect, fails).await {
                    Ok(()) => "done".to_owned(),
                    Err(Failure::NotDone(error)) => format!("not done: {error}"),
                    Err(Failure::Unknown(error)) => error.to_string(),
                }
            });
            let asked = asked.into_inner();
            assert_eq!((asked.iter().map(|it| &**it).collect::<Vec<_>>(), &*said), wanted);
        }
    }

    /// An error that somebody must mend is the one that is said, whichever host it came from.
    #[test]
    fn the_worst_error_of_the_hosts_is_said() {
        let mut remote = remote(&["a", "b"]);
        let (error, _) = in_virtual_time(async {
            remote.begin();
            let connect = async |host: &Host| {
                Err(match &*host.name {
                    "a" => remote.address.refused("the password"),
                    _ => remote.address.unreachable("no route"),
                })
            };
            remote.call_within(Kind::Read, connect, host_name).await.err().map(Failure::into_error)
        });
        assert!(matches!(error, Some(StoreError::Refused { .. })), "{error:?}");
        let here = &remote.address;
        let worst = |all: [StoreError; 2]| {
            let mut errors = Errors::default();
            all.into_iter().for_each(|error| errors.add(error));
            errors.worst(here).to_string()
        };
        assert_eq!(worst([here.unreachable("one"), here.unreachable("two")]), "cannot reach here: two");
        assert_eq!(worst([here.refused("one"), here.refused("two")]), "here refused: one");
        assert_eq!(worst([here.unreachable("one"), here.refused("two")]), "here refused: two");
    }

    #[test]
    fn an_answer_in_drops_does_not_make_a_call_longer() {
        let mut remote = remote(&["a"]);
        let (answer, took) = in_virtual_time(async {
            remote.begin();
            let drips = async {
                loop {
                    sleep(Duration::from_millis(100)).await
                }
            };
            remote.within::<()>(drips).await
        });
        assert_eq!((answer, took), (None, 3 * SECOND));
    }

    #[test]
    fn all_calls_share_two_connections() {
        let first = remote(&["a"]);
        let (made, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let in_use = AtomicUsize::new(0);
        let calls = (0..40).map(|_| {
            let mut remote = first.clone();
            let (made, in_use, most) = (&made, &in_use, &most);
            async move {
                remote.begin();
                let connect =
                    async |_: &Host| Ok(Fake { number: made.fetch_add(1, Ordering::Relaxed), ..Fake::default() });
                let work = async |_: &Host, _: &mut Fake| {
                    most.fetch_max(in_use.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                    sleep(Duration::from_millis(100)).await;
                    in_use.fetch_sub(1, Ordering::Relaxed);
                    Ok(())
                };
                remote.call_within(Kind::Write, connect, work).await.map_err(Failure::into_error).unwrap();
            }
        });
        let ((), took) = in_virtual_time(async { drop(futures_util::future::join_all(calls).await) });
        assert_eq!((made.into_inner(), most.into_inner()), (2, 2));
        assert_eq!(took, Duration::from_millis(100) * 40 / 2, "and wait for their turn");
    }

    /// While one waits for a lock, or for a server that is silent, the others go on.
    #[test]
    fn a_call_that_waits_does_not_hold_up_the_others() {
        let mut first = remote(&["a"]);
        let connect = async |_: &Host| Ok(Fake::default());
        let (done, took) = in_virtual_time(async {
            first.begin();
            let waits =
                first.call_within(Kind::Write, connect, async |_, _: &mut Fake| pending::<Result<(), _>>().await);
            let mut waits = std::pin::pin!(waits);
            assert!(poll_immediate(&mut waits).await.is_none());
            let mut done = 0;
            for _ in 0..10 {
                done += usize::from(first.call_within(Kind::Write, connect, host_name).await.is_ok());
            }
            done
        });
        assert_eq!((done, took), (10, Duration::ZERO));
    }

    /// Without a turn, nothing is sent, and the call ends with its time.
    #[test]
    fn a_call_that_gets_no_turn_ends_with_its_time() {
        let mut first = remote(&["a"]);
        let (error, took) = in_virtual_time(async {
            first.begin();
            let _held = first.pool.turns.acquire_many(MOST_CONNECTIONS as u32).await;
            let connect = async |_: &Host| Ok(Fake::default());
            let third = first.within(first.call_within(Kind::Write, connect, host_name)).await;
            third.map(|third| third.is_ok())
        });
        assert_eq!((error, took), (None, 3 * SECOND));
    }

    #[test]
    fn a_connection_that_has_ended_while_it_was_idle_is_not_used() {
        let mut remote = remote(&["a"]);
        let made = AtomicUsize::new(0);
        let has_ended = Arc::new(AtomicBool::new(false));
        let connect = async |_: &Host| {
            has_ended.store(false, Ordering::Relaxed);
            Ok(Fake { number: made.fetch_add(1, Ordering::Relaxed), has_ended: has_ended.clone() })
        };
        in_virtual_time(async {
            for (ends, number) in [(false, 0), (false, 0), (true, 1), (false, 1)] {
                has_ended.store(ends, Ordering::Relaxed);
                remote.begin();
                let work = async |_: &Host, fake: &mut Fake| Ok(fake.number);
                assert_eq!(remote.call_within(Kind::Write, connect, work).await.ok(), Some(number));
            }
        });
    }

    /// Connections to a host that failed are not used again, also if other calls have opened them.
    #[test]
    fn a_call_that_failed_turns_all_to_the_next_host() {
        let mut one = remote(&["a", "b"]);
        let connect = async |_: &Host| Ok(Fake::default());
        in_virtual_time(async {
            one.begin();
            assert_eq!(one.call_within(Kind::Write, connect, host_name).await.ok().as_deref(), Some("a"));
            let fails = async |_: &Host, _: &mut Fake| Err::<(), _>(Failure::Unknown(one.address.unreachable("")));
            assert!(one.call_within(Kind::Write, connect, fails).await.is_err());
            let mut other = one.clone();
            other.begin();
            assert_eq!(other.call_within(Kind::Write, connect, host_name).await.ok().as_deref(), Some("b"));
            // A call that fails later on the first host does not turn back to it.
            other.turn_from(&host("a"));
            assert_eq!(other.pool.hosts()[0].name, "b");
            // The connection that did not fail is closed, too.
            other.pool.idle().extend(["a", "b"].map(|name| (host(name), Fake::default())));
            other.turn_from(&host("b"));
            assert!(other.pool.idle().iter().all(|(host, _)| host.name != "b"), "it would be used");
        });
    }

    /// The process does not wait for it either: nothing of the runtime is waited for at its end.
    #[test]
    fn nobody_waits_for_a_name_that_is_still_looked_up() {
        let mut address = Address::new("here".to_owned());
        address.timeout = Duration::from_millis(10);
        let mut remote: Remote<Fake> = Remote::new(&address, vec![host("a")]).unwrap();
        let (release, is_released) = std::sync::mpsc::channel::<()>();
        remote.begin();
        let looks_up = move || is_released.recv().is_err();
        let connect = async |_: &Host| Ok(Fake::default());
        let looks_up = std::cell::Cell::new(Some(looks_up));
        let waits = async |_: &Host, _: &mut Fake| {
            let _ = tokio::task::spawn_blocking(looks_up.take().unwrap()).await;
            Ok(())
        };
        assert!(remote.call(Kind::Write, connect, waits).is_err());
        // Another call goes on meanwhile.
        remote.address.timeout = Duration::from_secs(60);
        remote.begin();
        assert!(remote.call(Kind::Write, connect, host_name).is_ok());
        drop(release);
    }

    #[test]
    fn a_connection_is_closed_with_its_client() {
        let closed = Arc::new(AtomicBool::new(false));
        struct Closes(Arc<AtomicBool>);
        impl Drop for Closes {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let stream = Closes(closed.clone());
        let mut driver = Driver::new(async move {
            let _stream = stream;
            pending().await
        });
        let (done, _) = in_virtual_time(driver.drive(async { 7 }));
        assert!(done == 7 && !closed.load(Ordering::Relaxed));
        drop(driver);
        assert!(closed.load(Ordering::Relaxed));
    }
}
