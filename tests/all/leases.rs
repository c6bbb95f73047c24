//! An agent writes to the page of a lease, and processes that make ids read it.

use test_helpers::{Directory, has_header_of, word};
use txid::snowflake::{Generator, Layout, LeaseNews, LeasePage, LeaseView, Order, Refusal, State, StateError};

const LAYOUT: Layout = Layout::SNOWFLAKE;
const EPOCH_MS: i64 = 1_288_834_974_657;
const NOW_MS: i64 = 1_700_000_000_000;

fn generator(directory: &Directory) -> Generator {
    Generator::new(State::leased(&directory.file(), &LAYOUT).unwrap())
}

#[test]
fn where_the_boot_is_unknown_it_says_what_to_do() {
    let message = StateError::UnknownBoot("/run/txid/node".into()).to_string();
    assert!(
        message.contains("whether /run/txid/node is from this boot") && message.contains("mount /proc"),
        "{message}"
    );
}

#[test]
fn everything_an_agent_writes_is_visible() {
    let directory = Directory::new("lease-view");
    let page = LeasePage::open_or_make(&directory.file(), &LAYOUT).unwrap();
    let seen = || LeasePage::attach(&directory.file()).unwrap().view();
    let fresh = LeaseView {
        node: 0,
        is_closed: true,
        limit_ms: None,
        free_ms: EPOCH_MS + 1,
        generation: 0,
        token: 0,
        confirmed_ms: i64::MIN,
        noted_ms: i64::MIN,
        contact_ms: None,
        renewals: 0,
        failures: 0,
        news: LeaseNews::Starting,
    };
    assert_eq!(seen(), fresh);

    let token = 0x0123_4567_89ab_cdef_0011_2233_4455_6677;
    page.set_generation(3, token);
    page.open(17, NOW_MS);
    page.note(NOW_MS + 90_000);
    page.set_limit(17, NOW_MS + 60_000);
    page.set_contact(NOW_MS + 5);
    page.count_failure();
    page.count_failure();
    page.set_news(LeaseNews::Held);
    let held = LeaseView {
        node: 17,
        is_closed: false,
        limit_ms: Some(NOW_MS + 60_000),
        free_ms: NOW_MS + 1,
        generation: 3,
        token,
        confirmed_ms: NOW_MS + 60_000,
        noted_ms: NOW_MS + 90_000,
        contact_ms: Some(NOW_MS + 5),
        renewals: 1,
        failures: 2,
        news: LeaseNews::Held,
    };
    assert_eq!(seen(), held);
    assert_eq!(generator(&directory).state().lease(), Some(held));

    // It is where other versions look for it.
    let written = std::fs::read(directory.file()).unwrap();
    let unit = (NOW_MS - EPOCH_MS) as u64;
    assert_eq!(word(&written, 128), 17 << 54 | unit << 12);
    assert_eq!(word(&written, 256), 17 << 42 | (unit + 60_000));
    let of_agent = [384, 392, 400, 408, 416, 424, 432, 440, 448].map(|at| word(&written, at));
    let [confirmed, noted, contact] = [60_000, 90_000, 5].map(|later| (NOW_MS + later) as u64);
    let token = [(token >> 64) as u64, token as u64];
    assert_eq!(of_agent, [3, token[0], token[1], confirmed, noted, contact, 1, 2, LeaseNews::Held as u64]);
    assert!(has_header_of(&directory.file(), b"txidleas"));

    page.set_generation(4, 0);
    assert_eq!(seen(), LeaseView { generation: 4, token: 0, confirmed_ms: i64::MIN, ..held });
}

#[test]
fn what_is_borrowed_is_counted_from_the_clock() {
    let directory = Directory::new("lease-borrowed");
    let page = LeasePage::open_or_make(&directory.file(), &LAYOUT).unwrap();
    let orders = generator(&directory);
    let ahead_ms = txid::system_ms() + 60_000;
    page.open(17, ahead_ms);
    page.set_limit(17, ahead_ms + 60_000);
    orders.generate_at(ahead_ms).unwrap();
    let borrowed_ms = orders.stats().borrowed_ms;
    assert!((1..=60_000).contains(&borrowed_ms), "{borrowed_ms}");
}

#[test]
fn the_page_says_its_layout() {
    for layout in [LAYOUT, Layout::SONYFLAKE, Layout::UID] {
        let directory = Directory::new("lease-layout");
        LeasePage::open_or_make(&directory.file(), &layout).unwrap();
        let page = LeasePage::attach(&directory.file()).unwrap();
        assert_eq!(page.state().layout().to_string(), layout.to_string());
    }
}

#[test]
fn a_lease_that_is_opened_again_has_no_limit_yet() {
    let directory = Directory::new("lease-again");
    let page = LeasePage::open_or_make(&directory.file(), &LAYOUT).unwrap();
    let orders = generator(&directory);
    page.open(17, NOW_MS);
    page.set_limit(17, NOW_MS + 60_000);
    orders.generate_at(NOW_MS).unwrap();
    let next_ms = page.close();
    page.open(17, next_ms);
    assert_eq!(page.view().limit_ms, None);
    assert!(matches!(orders.generate_at(next_ms), Err(Refusal::Unleased(_))));
}

#[test]
fn ids_stay_within_the_lease() {
    let directory = Directory::new("lease-ids");
    let page = LeasePage::open_or_make(&directory.file(), &LAYOUT).unwrap();
    let orders = generator(&directory);
    assert_eq!((orders.state().node(), orders.stats().borrowed_ms), (None, 0));
    page.open(17, NOW_MS);
    assert!(matches!(orders.generate_at(NOW_MS), Err(Refusal::Unleased(_))), "there is no limit yet");
    assert_eq!((orders.state().node(), page.view().limit_ms), (None, None));
    page.set_limit(17, NOW_MS + 60_000);
    assert_eq!(orders.state().node(), Some(17));

    let next = |clock_ms| {
        let id = LAYOUT.decode(orders.generate_at(clock_ms).unwrap()).unwrap();
        (id.ms - NOW_MS, id.node, id.sequence)
    };
    assert_eq!([next(NOW_MS), next(NOW_MS), next(NOW_MS + 7)], [(0, 17, 0), (0, 17, 1), (7, 17, 0)]);
    assert_eq!(next(NOW_MS + 59_999), (59_999, 17, 0));
    assert!(matches!(orders.generate_at(NOW_MS + 60_000), Err(Refusal::Unleased(_))));
    assert_eq!(next(NOW_MS + 59_999), (59_999, 17, 1));

    assert_eq!(page.close(), NOW_MS + 60_000);
    assert!(page.view().is_closed && page.view().limit_ms.is_none());
    assert!(matches!(orders.generate_at(NOW_MS + 59_999), Err(Refusal::Unleased(_))));
    page.open(18, NOW_MS + 60_000);
    page.set_limit(18, NOW_MS + 61_000);
    assert_eq!(next(NOW_MS + 60_000), (60_000, 18, 0));
    page.set_limit(18, i64::MAX);
    assert_eq!(next(NOW_MS + 61_000), (61_000, 18, 0), "until the layout ends");
}

#[test]
fn without_a_lease_the_error_says_why() {
    let directory = Directory::new("lease-why");
    let page = LeasePage::open_or_make(&directory.file(), &LAYOUT).unwrap();
    let orders = generator(&directory);
    let refusal = || orders.generate_at(NOW_MS).unwrap_err();
    let why = || refusal().to_string();
    assert_eq!(why(), "orders has no lease; txid-agent has not reached its store yet");
    page.set_contact(NOW_MS);
    assert_eq!(why(), "orders has no lease; txid-agent last reached its store at 2023-11-14T22:13:20.000Z");
    page.open(17, NOW_MS - 60_000);
    page.set_limit(17, NOW_MS - 1000);
    for (news, name, why_then) in [
        (LeaseNews::Held, "lease-ended", "txid-agent last reached its store at 2023-11-14T22:13:20.000Z"),
        (LeaseNews::Lost, "lost", "another host took the node, and txid-agent is taking a new one"),
        (LeaseNews::Copied, "copied", "this machine was copied while it ran, and txid-agent is taking a new node"),
        (
            LeaseNews::Asking,
            "asking",
            "the clock was stepped or the machine was stopped, and txid-agent is asking its store",
        ),
        (
            LeaseNews::Waiting,
            "waiting",
            "the store was new or empty, and txid-agent waits until leases that it may have lost have expired",
        ),
        (LeaseNews::NoneFree, "none-free", "all nodes are taken"),
        (LeaseNews::ClockOff, "clock-off", "the clock of this host is too far off the store's"),
        (LeaseNews::Released, "released", "txid-agent gave the node back when it was stopped"),
    ] {
        page.set_news(news);
        assert_eq!(why(), format!("the lease of orders ended at 2023-11-14T22:13:19.000Z; {why_then}"));
        assert_eq!(refusal().name(), name);
    }
}

#[test]
fn what_an_agent_reports_has_a_name() {
    let names = ["starting", "held", "lost", "copied", "asking", "waiting", "none-free", "clock-off", "released"];
    assert_eq!(LeaseNews::ALL.map(LeaseNews::name), names);
}

#[test]
fn why_there_would_be_no_id_is_said_without_making_one() {
    let directory = Directory::new("lease-probe");
    let page = LeasePage::open_or_make(&directory.file(), &LAYOUT).unwrap();
    let orders = generator(&directory);
    let there_is_none = |clock_ms| {
        let would_be = orders.refusal_at(clock_ms);
        assert_eq!(would_be, orders.generate_at(clock_ms).err());
        would_be.unwrap().name()
    };
    assert_eq!(there_is_none(NOW_MS), "starting");
    page.set_news(LeaseNews::Held);
    page.open(17, NOW_MS);
    assert_eq!(there_is_none(NOW_MS), "no-lease");
    page.set_limit(17, NOW_MS + 60_000);
    let before = page.view();
    assert_eq!([-10_000, 0, 59_999].map(|later_ms| orders.refusal_at(NOW_MS + later_ms)), [None; 3]);
    assert_eq!(page.view(), before);
    let first = LAYOUT.decode(orders.generate_at(NOW_MS).unwrap()).unwrap();
    assert_eq!((first.ms, first.sequence), (NOW_MS, 0));
    assert_eq!(there_is_none(NOW_MS + 60_000), "lease-ended");
    assert_eq!(there_is_none(NOW_MS - 10_001), "clock-behind");
    page.close();
    page.set_news(LeaseNews::Released);
    assert_eq!(there_is_none(NOW_MS), "released");
}

#[test]
fn a_page_that_is_not_a_lease_of_this_host_is_refused() {
    let directory = Directory::new("lease-refused");
    let (path, copy) = (directory.file(), directory.0.join("copy"));
    assert!(matches!(State::leased(&path, &LAYOUT), Err(StateError::NoLease(_))));
    assert!(matches!(State::leased(&directory.0, &LAYOUT), Err(StateError::Page(_))), "it is a directory");
    LeasePage::open_or_make(&path, &LAYOUT).unwrap();
    std::fs::copy(&path, &copy).unwrap();
    for refused in [LeasePage::open_or_make(&copy, &LAYOUT).map(drop), State::leased(&copy, &LAYOUT).map(drop)] {
        assert!(matches!(refused, Err(StateError::Copied(_))));
    }
    let wide = Layout::new([41, 12, 10], 1, EPOCH_MS, Order::NodeThenSequence).unwrap();
    for refused in [LeasePage::open_or_make(&path, &wide).map(drop), State::leased(&path, &wide).map(drop)] {
        assert!(matches!(refused, Err(StateError::OtherLayout { .. })));
    }
    let without_nodes = Layout::new([41, 0, 22], 1, EPOCH_MS, Order::NodeThenSequence).unwrap();
    for refused in [
        LeasePage::open_or_make(&directory.0.join("new"), &without_nodes).map(drop),
        LeasePage::in_memory(&without_nodes, 1).map(drop),
        State::leased(&path, &without_nodes).map(drop),
    ] {
        assert!(matches!(refused, Err(StateError::NoNodes(_))));
    }
}
