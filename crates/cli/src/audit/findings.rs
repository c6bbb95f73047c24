//! What the ids of all files show, in the order of their time.

use super::maker::{Makers, have_one_key, sequence};
use super::records::Record;
use std::collections::{BTreeMap, BTreeSet};
use txid::formats::Numbers;

/// A node may be another host's after this time.
const HANDED_OVER_MS: i64 = 60_000;

/// Ids may be so much ahead of this machine's clock.
const AHEAD_MS: i64 = 60_000;

/// Places of one repeated id that are remembered.
const MOST_PLACES: usize = 4;

/// The first or the last ids are no part of the log if they are so far from all others, and no more than this, nor more than
/// one in a hundred.
const APART_MS: i64 = 3_600_000;
const MOST_OUTLIERS: u64 = 10;

/// How many there are, and the first of them, or the largest.
pub(super) struct Few<T> {
    pub(super) count: u64,
    pub(super) shown: Vec<T>,
    most: usize,
}

impl<T> Few<T> {
    pub(super) fn new(most: usize) -> Self {
        Self { count: 0, shown: Vec::new(), most }
    }

    fn add(&mut self, finding: T) {
        self.count += 1;
        if self.shown.len() < self.most {
            self.shown.push(finding);
        }
    }

    pub(super) fn extend(&mut self, other: Self, size: impl Fn(&T) -> i64) {
        self.count += other.count - other.shown.len() as u64;
        other.shown.into_iter().for_each(|finding| self.add_by_size(finding, &size));
    }

    /// Keeps those with the largest sizes.
    pub(super) fn add_by_size(&mut self, finding: T, size: impl Fn(&T) -> i64) {
        self.count += 1;
        let place = self.shown.partition_point(|it| size(it) >= size(&finding));
        if place < self.most {
            self.shown.insert(place, finding);
            self.shown.truncate(self.most);
        }
    }
}

/// The lines with one id: a repeat, if there is more than one place.
pub(super) struct Repeat {
    first: Record,
    has_one_host: bool,
    pub(super) lines: u64,
    pub(super) places: Vec<Record>,
}

#[derive(Clone)]
pub(super) struct Shared {
    pub(super) maker: u32,
    pub(super) hosts: BTreeSet<u32>,
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
    /// How often one host was between two ids of another.
    pub(super) turns: u64,
}

pub(super) struct Gap {
    /// None: of all.
    pub(super) host: Option<u32>,
    /// Whether the host has ids before, and after.
    pub(super) is_between: [bool; 2],
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
}

pub(super) struct Ending {
    pub(super) maker: u32,
    pub(super) ms: i64,
    pub(super) sequence: u64,
    pub(super) all: u64,
}

/// The ids of a host, or of all.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    pub(super) count: u64,
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
    second: i64,
    in_second: u64,
    pub(super) most: u64,
    pub(super) most_ms: i64,
}

impl Rate {
    fn new(ms: i64) -> Self {
        Self { count: 0, from_ms: ms, to_ms: ms, second: i64::MIN, in_second: 0, most: 0, most_ms: ms }
    }

    fn add(&mut self, ms: i64) {
        self.count += 1;
        self.to_ms = ms;
        let second = ms.div_euclid(1000);
        if second != self.second {
            (self.second, self.in_second) = (second, 0);
        }
        self.in_second += 1;
        if self.in_second > self.most {
            (self.most, self.most_ms) = (self.in_second, second * 1000);
        }
    }

    /// A second, on average.
    pub(super) fn average(&self) -> f64 {
        self.count as f64 / ((self.to_ms - self.from_ms) as f64 / 1000.0).max(1.0)
    }
}

/// The ids of one node.
#[derive(Default)]
struct Node {
    /// The last time of each host.
    hosts: Vec<(u32, i64)>,
    shared: Option<Shared>,
    /// The highest sequence of a unit of time.
    unit_ms: i64,
    highest: u64,
}

/// What is collected.
pub(super) struct Findings {
    numbers: Numbers,
    now_ms: i64,
    gap_ms: i64,
    is_per: bool,
    is_once_a_file: bool,
    pub(super) repeats: Few<Repeat>,
    pub(super) shared: Vec<Shared>,
    pub(super) gaps: Few<Gap>,
    pub(super) future: Few<Record>,
    pub(super) outliers: Few<Record>,
    pub(super) sequences: Few<Ending>,
    pub(super) all: Option<Rate>,
    /// By the number of the host, and of the maker.
    pub(super) hosts: Vec<Option<Rate>>,
    nodes: Vec<Node>,
    /// How many ids of a source are in an earlier one, too.
    pub(super) copies: BTreeMap<(usize, usize), u64>,
    /// Ids that may be outliers, the first `leading` of them before a long gap; and how many may be.
    held: Vec<Record>,
    leading: usize,
    most_outliers: usize,
    /// Whether some ids were none, and whether the ids that are held may be the last.
    has_begun: bool,
    is_holding: bool,
    /// The last id, and any others with its hash.
    same: Vec<Repeat>,
}

impl Findings {
    pub(super) fn new(
        numbers: Numbers,
        gap_ms: i64,
        [is_per, is_once_a_file]: [bool; 2],
        most: usize,
        ids: u64,
    ) -> Self {
        let most_outliers = (ids / 100).min(MOST_OUTLIERS) as usize;
        Self {
            numbers,
            now_ms: txid::system_ms(),
            gap_ms,
            is_per,
            is_once_a_file,
            repeats: Few::new(most),
            shared: Vec::new(),
            gaps: Few::new(most),
            future: Few::new(most),
            outliers: Few::new(most),
            sequences: Few::new(most),
            all: None,
            hosts: Vec::new(),
            nodes: Vec::new(),
            copies: BTreeMap::new(),
            held: Vec::new(),
            leading: 0,
            most_outliers,
            has_begun: most_outliers == 0,
            is_holding: false,
            same: Vec::new(),
        }
    }

    /// The next id in the order of time.
    pub(super) fn add(&mut self, record: Record, makers: &Makers) {
        self.add_to_same(record, makers);
        self.hold(record);
        if record.ms > self.now_ms.saturating_add(AHEAD_MS) {
            self.future.add(record);
        }
    }

    pub(super) fn end(&mut self, makers: &Makers) {
        self.end_same(makers);
        let held = std::mem::take(&mut self.held);
        match self.is_holding {
            true => held.into_iter().for_each(|record| self.outliers.add(record)),
            false => held.iter().for_each(|record| self.add_to_gaps(record)),
        }
        self.add_gaps_at_ends();
        for (maker, node) in (0..).zip(std::mem::take(&mut self.nodes)) {
            self.end_unit(maker, &node, makers);
            self.shared.extend(node.shared);
        }
    }

    fn add_to_same(&mut self, record: Record, makers: &Makers) {
        if self.same.first().is_some_and(|same| !same.first.is_near(&record)) {
            self.end_same(makers);
        }
        let format = |record: &Record| makers.all[record.maker as usize].format();
        let is_once_a_file = self.is_once_a_file;
        let is_apart = |it: &Repeat| is_once_a_file && it.first.source() != record.source();
        let is_same =
            |it: &&mut Repeat| it.first.id == record.id && format(&it.first) == format(&record) && !is_apart(it);
        let same = match self.same.iter_mut().find(is_same) {
            Some(same) => same,
            None => {
                self.same.push(Repeat { first: record, has_one_host: true, lines: 0, places: Vec::new() });
                let last = self.same.len() - 1;
                &mut self.same[last]
            }
        };
        same.lines += 1;
        same.has_one_host &= same.first.host == record.host;
        let is_other = match self.is_per {
            true => record.per != 0 && same.places.iter().all(|place| place.per != record.per),
            false => true,
        };
        if is_other && same.places.len() < MOST_PLACES {
            same.places.push(record);
        }
    }

    fn end_same(&mut self, makers: &Makers) {
        let all = std::mem::take(&mut self.same);
        for same in &all {
            let is_same_id = |it: &&Repeat| it.first.id == same.first.id;
            let has_one_host =
                all.iter().filter(is_same_id).all(|it| it.has_one_host && it.first.host == same.first.host);
            self.add_to_node(&same.first, has_one_host, makers);
        }
        for same in all {
            let is_again = |(at, place): (usize, &Record)| {
                same.places[..at].iter().any(|before| have_one_key(before.per, place.per))
            };
            let Some(first) = same.places.first().filter(|_| same.places.iter().enumerate().any(is_again)) else {
                continue;
            };
            if let Some(other) = same.places.iter().find(|place| place.source() != first.source()) {
                *self.copies.entry((first.source(), other.source())).or_default() += 1;
            }
            self.repeats.add(same);
        }
    }

    /// Ids that are few and far from all others make no gaps and no averages.
    fn hold(&mut self, record: Record) {
        let last_ms = self.held.last().map(|last| last.ms).or(self.all.map(|all| all.to_ms));
        let is_apart = last_ms.is_some_and(|last_ms| record.ms.saturating_sub(last_ms) > APART_MS);
        self.is_holding |= self.has_begun && is_apart && self.most_outliers > 0;
        if self.has_begun && !self.is_holding {
            return self.add_to_gaps(&record);
        }
        if is_apart && !self.has_begun {
            self.leading = self.held.len();
        }
        self.held.push(record);
        if self.leading > self.most_outliers {
            self.leading = 0;
        }
        if self.held.len() > self.leading + self.most_outliers {
            (self.has_begun, self.is_holding) = (true, false);
            let outliers = std::mem::take(&mut self.leading);
            for (at, record) in std::mem::take(&mut self.held).into_iter().enumerate() {
                if at < outliers { self.outliers.add(record) } else { self.add_to_gaps(&record) }
            }
        }
    }

    /// A host that ends early may be dead.
    fn add_gaps_at_ends(&mut self) {
        let Some(all) = self.all else { return };
        for (host, rate) in (0..).zip(std::mem::take(&mut self.hosts)) {
            if let Some(rate) = &rate {
                let late =
                    Gap { host: Some(host), is_between: [false, true], from_ms: all.from_ms, to_ms: rate.from_ms };
                let early = Gap { host: Some(host), is_between: [true, false], from_ms: rate.to_ms, to_ms: all.to_ms };
                [late, early].into_iter().for_each(|gap| self.add_gap(gap));
            }
            self.hosts.push(rate);
        }
    }

    fn add_gap(&mut self, gap: Gap) {
        if gap.to_ms - gap.from_ms > self.gap_ms {
            self.gaps.add_by_size(gap, |gap| gap.to_ms - gap.from_ms);
        }
    }

    fn add_to_gaps(&mut self, record: &Record) {
        let ms = record.ms;
        let all = self.all.get_or_insert(Rate::new(ms));
        let before_ms = all.to_ms;
        all.add(ms);
        self.add_gap(Gap { host: None, is_between: [true; 2], from_ms: before_ms, to_ms: ms });
        let at = record.host as usize;
        self.hosts.resize(self.hosts.len().max(at + 1), None);
        let host = self.hosts[at].get_or_insert(Rate::new(ms));
        let host_ms = host.to_ms;
        host.add(ms);
        // While others went on.
        if before_ms - host_ms > self.gap_ms {
            self.add_gap(Gap { host: Some(record.host), is_between: [true; 2], from_ms: host_ms, to_ms: ms });
        }
    }

    fn add_to_node(&mut self, record: &Record, has_one_host: bool, makers: &Makers) {
        let maker = &makers.all[record.maker as usize];
        let sequence = sequence(maker, record.id, &self.numbers);
        let has_node = maker.has_node();
        if sequence.is_none() && !has_node {
            return;
        }
        let at = record.maker as usize;
        self.nodes.resize_with(self.nodes.len().max(at + 1), Node::default);
        let mut node = std::mem::take(&mut self.nodes[at]);
        if let Some((sequence, _)) = sequence {
            if node.unit_ms != record.ms {
                self.end_unit(record.maker, &node, makers);
                (node.unit_ms, node.highest) = (record.ms, 0);
            }
            node.highest = node.highest.max(sequence);
        }
        // An id that several hosts have says nothing of who made it.
        if has_node && has_one_host {
            node.add_host(record);
        }
        self.nodes[at] = node;
    }

    fn end_unit(&mut self, maker: u32, node: &Node, makers: &Makers) {
        let all = sequence(&makers.all[maker as usize], [0, 0], &self.numbers).map_or(0, |(_, all)| all);
        if node.highest > 0 && node.highest + 1 >= all - all / 10 {
            let ending = Ending { maker, ms: node.unit_ms, sequence: node.highest, all };
            self.sequences.add_by_size(ending, |it| it.sequence as i64);
        }
    }
}

impl Node {
    /// A host that made ids before and after one of another was there at the same time.
    fn add_host(&mut self, record: &Record) {
        let others = self.hosts.iter().filter(|(host, _)| *host != record.host);
        let other = others.max_by_key(|(_, ms)| *ms).copied();
        let own = self.hosts.iter_mut().find(|(host, _)| *host == record.host);
        let own_ms = match own {
            Some((_, ms)) => std::mem::replace(ms, record.ms),
            None => {
                self.hosts.push((record.host, record.ms));
                return;
            }
        };
        if let Some((host, ms)) = other.filter(|(_, ms)| *ms >= own_ms && record.ms - own_ms <= HANDED_OVER_MS) {
            let shared = self.shared.get_or_insert_with(|| Shared {
                maker: record.maker,
                hosts: BTreeSet::new(),
                from_ms: own_ms.min(ms),
                to_ms: record.ms,
                turns: 0,
            });
            shared.hosts.extend([host, record.host]);
            shared.to_ms = record.ms;
            shared.turns += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::maker::Reader;
    use super::*;

    /// What is found of ids of one node, each of a host and a time.
    fn findings(ids: &[(u32, i64)]) -> Findings {
        let mut makers = Makers::new(usize::MAX);
        let numbers = Numbers { is_chosen: true, ..Numbers::UNKNOWN };
        let reader = Reader::all(numbers).into_iter().find(|reader| reader.is_of_numbers()).unwrap();
        let mut findings = Findings::new(numbers, 60_000, [false; 2], 10, ids.len() as u64);
        findings.now_ms = 1_795_521_600_000;
        for (&(host, ms), sequence) in ids.iter().zip(0..) {
            let ms = findings.now_ms + ms;
            let (id, maker) =
                reader.read(((ms - 1_288_834_974_657) << 22 | 17 << 12 | sequence).to_string().as_bytes());
            findings.add(Record { ms, id, host, maker: makers.number(maker), ..Record::default() }, &makers);
        }
        findings.end(&makers);
        findings
    }

    #[test]
    fn limits_are_where_the_page_says() {
        let shared = |back: i64| findings(&[(0, -200_000), (1, -190_000), (0, -200_000 + back)]).shared.len();
        assert_eq!([shared(60_000), shared(60_001)], [1, 0], "a node is handed over after more than a minute");
        assert_eq!(findings(&[(0, -9000), (1, -9000), (0, -8000)]).shared.len(), 1, "two hosts in one millisecond");
        let future = |ahead| findings(&[(0, ahead)]).future.count;
        assert_eq!([future(60_000), future(60_001)], [0, 1], "more than a minute after now is to come");
        let gaps = |long: i64| findings(&[(0, -200_000), (0, -200_000 + long)]).gaps.count;
        assert_eq!([gaps(60_000), gaps(60_001)], [0, 1], "a gap is longer than --gap");
        let of_host = |others: i64| findings(&[(0, -200_000), (1, -200_000 + others), (0, -120_000)]).gaps.count;
        assert_eq!(
            [of_host(60_000), of_host(60_001)],
            [0, 3],
            "a host has a gap if others went on for longer than --gap"
        );
        let mut few = Few::new(2);
        [(1, 'a'), (2, 'b'), (2, 'c'), (2, 'd')].into_iter().for_each(|it| few.add_by_size(it, |it| it.0));
        assert_eq!((few.count, few.shown), (4, vec![(2, 'b'), (2, 'c')]), "the largest, and of equal ones the first");
        // Up to ten, and one in a hundred, that are more than an hour before all others.
        let outliers = |few: i64, all: i64, apart: i64| {
            let one = |n: i64| (0, -100_000_000 + n + if n < few { 0 } else { apart });
            findings(&(0..all).map(one).collect::<Vec<_>>()).outliers.count
        };
        let found =
            [(1, 99), (1, 100), (2, 199), (10, 1000), (11, 2000)].map(|(few, all)| outliers(few, all, 3_600_001));
        assert_eq!(found, [0, 1, 0, 10, 0]);
        assert_eq!([outliers(1, 100, 3_599_999), outliers(1, 100, 3_600_000)], [0, 1]);
        // The last ones may be near each other.
        let last = |few: i64| {
            let one = |n: i64| (0, -100_000_000 + n + if n < 1000 { 0 } else { 3_600_001 });
            findings(&(0..1000 + few).map(one).collect::<Vec<_>>()).outliers.count
        };
        assert_eq!([1, 2, 10, 11].map(last), [1, 2, 10, 0]);
    }
}
