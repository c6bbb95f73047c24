//! An agent writes to the page of a segment, and processes that take numbers read it.

use std::io::Write;
use test_helpers::{Directory, has_header_of, word};
use txid::segment::{Segment, SegmentError, SegmentNews, SegmentPage, SegmentStats};

#[test]
fn everything_an_agent_writes_is_visible() {
    let directory = Directory::new("segment-view");
    let page = SegmentPage::open_or_make(&directory.file()).unwrap();
    let segment = Segment::attach(&directory.file()).unwrap();
    let fresh = SegmentStats {
        left: 0,
        next: 0,
        granted: 0,
        step: 0,
        rate_milli: 0,
        contact_ms: None,
        fetches: 0,
        failures: 0,
        news: SegmentNews::Serving,
    };
    assert_eq!(segment.stats(), fresh);
    assert_eq!((page.seen(), page.fetched_ms()), (0, 0));

    page.publish(100..110);
    page.see(500);
    page.see(400);
    page.set_step(10, 1_700_000_000_000);
    page.set_rate(2500);
    page.set_contact(1_700_000_000_123);
    page.count_failure();
    page.count_failure();
    page.set_news(SegmentNews::WentDown);
    let written = SegmentStats {
        left: 0,
        next: 10,
        granted: 110,
        step: 10,
        rate_milli: 2500,
        contact_ms: Some(1_700_000_000_123),
        fetches: 1,
        failures: 2,
        news: SegmentNews::WentDown,
    };
    assert_eq!(segment.stats(), written);
    assert_eq!((page.seen(), page.fetched_ms()), (500, 1_700_000_000_000));

    assert_eq!([segment.take(), segment.take()], [Ok(100), Ok(101)]);
    assert_eq!(segment.stats(), SegmentStats { left: 8, next: 0, ..written });
    page.publish(200..205);
    assert_eq!(segment.stats(), SegmentStats { left: 8, next: 5, granted: 205, fetches: 2, ..written });
    assert!(!page.wants());

    // It is where other versions look for it.
    let written = std::fs::read(directory.file()).unwrap();
    assert_eq!([128, 136].map(|at| word(&written, at)), [102, 110]);
    assert_eq!([256, 264].map(|at| word(&written, at)), [200, 205]);
    let of_agent = [384, 392, 400, 408, 416, 424, 432, 440].map(|at| word(&written, at));
    let went_down = SegmentNews::WentDown as u64;
    assert_eq!(of_agent, [10, 2500, 1_700_000_000_123, 2, 2, went_down, 500, 1_700_000_000_000]);
    assert!(has_header_of(&directory.file(), b"txidsegm"));
}

#[test]
fn without_a_number_the_error_says_why() {
    let directory = Directory::new("segment-why");
    let page = SegmentPage::open_or_make(&directory.file()).unwrap();
    page.set_contact(1_700_000_000_000);
    for (news, name, why) in [
        (SegmentNews::Serving, "serving", "txid-agent last reached its store at 2023-11-14T22:13:20.000Z"),
        (SegmentNews::NoTag, "no-tag", "the store has no such tag"),
        (
            SegmentNews::WentDown,
            "went-down",
            "the number in the store went down, as after a restored backup; raise it with txid-agent raise-number",
        ),
        (SegmentNews::Ended, "ended", "the store has no more numbers"),
    ] {
        page.set_news(news);
        assert_eq!(news.name(), name);
        let said = page.segment().take().unwrap_err().to_string();
        assert_eq!(said, format!("the numbers of orders are used up; {why}"));
    }
}

#[test]
fn a_page_that_was_removed_is_made_anew() {
    let directory = Directory::new("segment-anew");
    let old = SegmentPage::open_or_make(&directory.file()).unwrap();
    old.publish(100..110);
    std::fs::remove_file(directory.file()).unwrap();
    let new = SegmentPage::open_or_make(&directory.file()).unwrap();
    assert_eq!(new.segment().stats().granted, 0);
    new.publish(200..210);
    assert_eq!([old.segment().take(), new.segment().take()], [Ok(100), Ok(200)]);
    assert_eq!(Segment::attach(&directory.file()).unwrap().take(), Ok(201));
}

#[test]
fn attaching_makes_no_directory() {
    let directory = Directory::new("segment-none");
    let missing = directory.0.join("missing");
    assert!(matches!(Segment::attach(&missing.join("orders")), Err(SegmentError::NoAgent(_))));
    assert!(!missing.exists());
}

#[test]
fn a_page_that_cannot_be_used_is_an_error() {
    let directory = Directory::new("segment-refused");
    let said = |error: SegmentError| error.to_string().replace(directory.0.to_str().unwrap(), "DIR");
    let missing = Segment::attach(&directory.file()).unwrap_err();
    assert_eq!(said(missing), "DIR/orders does not exist; txid-agent makes it, so start that first");
    let a_directory = Segment::attach(&directory.0).unwrap_err();
    assert_eq!(said(a_directory), "DIR is not a regular file");
    SegmentPage::open_or_make(&directory.file()).unwrap();
    let longer = directory.0.join("longer");
    std::fs::copy(directory.file(), &longer).unwrap();
    std::fs::OpenOptions::new().append(true).open(&longer).unwrap().write_all(b"x").unwrap();
    let too_long = said(Segment::attach(&longer).unwrap_err());
    assert!(too_long.starts_with("DIR/longer has 4097 bytes, but a segment has 4096"), "{too_long}");
    let copy = directory.0.join("copy");
    std::fs::copy(directory.file(), &copy).unwrap();
    for copied in [Segment::attach(&copy).unwrap_err(), SegmentPage::open_or_make(&copy).unwrap_err()] {
        assert_eq!(
            said(copied),
            "DIR/copy is a copy of another file, which has the same numbers; use the file that txid-agent made"
        );
    }
}
