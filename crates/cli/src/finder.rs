//! Finds ids in text.

use std::ops::{ControlFlow, Range, RangeInclusive};
use txid::formats::{Format, Numbers, Readings, Shape, Texts};

/// Finds the ids of one format.
pub struct Finder {
    format: &'static Format,
    numbers: Numbers,
    shape: &'static Shape,
    texts: Texts,
}

/// Milliseconds since 1970, and how the texts of their lowest and highest id begin, if texts sort.
pub struct Window {
    ms: RangeInclusive<i64>,
    heads: Option<RangeInclusive<u64>>,
}

impl Finder {
    /// None if ids of the format have no time.
    pub fn new(format: &'static Format, numbers: Numbers) -> Option<Self> {
        let time = format.time()?;
        let texts = time.sorted.as_ref().map_or(Texts::Unsorted, |sorted| sorted.texts);
        Some(Self { format, numbers, shape: &time.shape, texts })
    }

    /// The format whose ids it finds.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// What [`Finder::within`] searches for.
    pub fn window(&self, ms: RangeInclusive<i64>) -> Window {
        let bounds = self.format.bounds(ms.clone(), &self.numbers);
        let heads = bounds.and_then(|[first, last]| Some(self.head(first.as_bytes())?..=self.head(last.as_bytes())?));
        Window { ms, heads }
    }

    /// The first eight characters as a number, in lower case if the format has two cases. None if texts do not sort.
    #[inline(always)]
    fn head(&self, text: &[u8]) -> Option<u64> {
        // The bit that makes letters lower case is set in digits, too.
        const LOWER: u64 = u64::from_ne_bytes([0x20; 8]);
        let head = u64::from_be_bytes(*text.first_chunk()?);
        match self.texts {
            Texts::Unsorted => None,
            Texts::AsTheyAre => Some(head),
            Texts::InOneCase => Some(head | LOWER),
        }
    }

    /// What the first id in `text` is sorted by.
    pub fn first_order(&self, text: &[u8]) -> Option<u128> {
        let mut first = None;
        self.each_candidate(text, |range| match self.format.order(&text[range], &self.numbers) {
            None => ControlFlow::Continue(()),
            found => {
                first = found;
                ControlFlow::Break(())
            }
        });
        first
    }

    /// The time of the first id in `text`.
    pub fn first_ms(&self, text: &[u8]) -> Option<i64> {
        let mut first = None;
        self.each_candidate(text, |range| match self.format.ms(&text[range], &self.numbers) {
            None => ControlFlow::Continue(()),
            found => {
                first = found;
                ControlFlow::Break(())
            }
        });
        first
    }

    /// Calls `each` with the place and the time of each id in `text`, until that breaks.
    #[inline(always)]
    pub(crate) fn each(&self, text: &[u8], mut each: impl FnMut(Range<usize>, i64) -> ControlFlow<()>) {
        self.each_candidate(text, |range| match self.format.ms(&text[range.clone()], &self.numbers) {
            Some(ms) => each(range, ms),
            None => ControlFlow::Continue(()),
        });
    }

    /// Whether something in `text` looks like an id of this format, and `is_one` agrees.
    pub fn any(&self, text: &[u8], mut is_one: impl FnMut(&[u8]) -> bool) -> bool {
        let mut found = false;
        self.each_candidate(text, |range| {
            found = is_one(&text[range]);
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found
    }

    /// Whether a text is a likely id of this format, when the clock reads `now_ms`.
    pub fn is_likely(&self, text: &[u8], now_ms: i64) -> bool {
        let readings = Readings::of(text, &Numbers { is_chosen: true, ..self.numbers }, now_ms);
        readings.iter().any(|it| it.format() == self.format && it.unlikely.is_none())
    }

    /// Calls `found` with the place of each id in `text` that is within the window.
    #[inline(always)]
    pub fn within(&self, text: &[u8], window: &Window, mut found: impl FnMut(Range<usize>)) {
        self.each_candidate(text, |range| {
            if self.is_within(&text[range.clone()], window) {
                found(range);
            }
            ControlFlow::Continue(())
        });
    }

    /// Most candidates are outside the window, which the beginnings of their texts show without being read.
    #[inline(always)]
    fn is_within(&self, text: &[u8], window: &Window) -> bool {
        if let (Some(heads), Some(head)) = (&window.heads, self.head(text)) {
            if !heads.contains(&head) {
                return false;
            }
        }
        self.format.ms(text, &self.numbers).is_some_and(|ms| window.ms.contains(&ms))
    }

    /// Calls `each` with the places of what looks like an id of this format, until that breaks.
    #[inline(always)]
    fn each_candidate(&self, text: &[u8], mut each: impl FnMut(Range<usize>) -> ControlFlow<()>) {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
        let length_at = |place: usize| text[place..].iter().take_while(|byte| is_word(byte)).count();
        _ = match *self.shape {
            // With lengths that are known to the compiler.
            Shape::Word(ref lengths) if *lengths == (20..=20) => words_of::<20>(text, each),
            Shape::Word(ref lengths) if *lengths == (22..=22) => words_of::<22>(text, each),
            Shape::Word(ref lengths) if *lengths == (24..=24) => words_of::<24>(text, each),
            Shape::Word(ref lengths) if *lengths == (25..=25) => words_of::<25>(text, each),
            Shape::Word(ref lengths) if *lengths == (26..=26) => words_of::<26>(text, each),
            Shape::Word(ref lengths) if *lengths == (27..=27) => words_of::<27>(text, each),
            Shape::Word(ref lengths) if *lengths == (32..=32) => words_of::<32>(text, each),
            Shape::Word(ref lengths) => {
                let (least, most) = (*lengths.start(), *lengths.end());
                let starts = |words| runs(words, least as u32, most as u32);
                scan::<false>(text, most as u32, starts, |place| each(place..place + length_at(place)))
            }
            Shape::Uuid => scan_dashes(text, |place| match is_uuid(text, place) {
                true => each(place..place + 36),
                false => ControlFlow::Continue(()),
            }),
            Shape::Base64(length) => {
                let starts = |words| runs(words, length as u32, length as u32);
                scan::<true>(text, length as u32, starts, |place| each(place..place + length))
            }
            Shape::Xray => scan::<false>(
                text,
                36,
                |words| xrays(words) | runs(words, 32, 32),
                |place| each(place..place + if is_word(&text[place + 1]) { 32 } else { 35 }),
            ),
            Shape::Prefixed => scan::<false>(
                text,
                27,
                |words| runs(words, 26, 26),
                |place| match prefix_at(text, place) {
                    Some(begin) if text.get(place + 26) != Some(&b'_') => each(begin..place + 26),
                    _ => ControlFlow::Continue(()),
                },
            ),
            Shape::Dotted => scan::<false>(
                text,
                32,
                |words| runs(words, 32, 32),
                |place| match dotted_end(text, place + 32) {
                    Some(end) => each(place..end),
                    None => ControlFlow::Continue(()),
                },
            ),
        };
    }
}

/// Where two words of digits end, with dots before them, that follow a word. None if a word goes on there.
pub(crate) fn dotted_end(text: &[u8], mut end: usize) -> Option<usize> {
    for _ in 0..2 {
        let digits = text.get(end + 1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || text[end] != b'.' {
            return None;
        }
        end += 1 + digits;
    }
    (!text.get(end).is_some_and(u8::is_ascii_alphanumeric)).then_some(end)
}

/// Calls `each` with the places of words of this length.
#[inline(always)]
fn words_of<const LENGTH: usize>(
    text: &[u8],
    mut each: impl FnMut(Range<usize>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let length = LENGTH as u32;
    scan::<false>(text, length, |words| runs(words, length, length), |place| each(place..place + LENGTH))
}

/// Calls `found` with each position at which `starts` sees one.
///
/// Each 64 bytes become 64 bits, set for letters and digits (and `@-_` with `BASE64`). `starts` gets 128 bits, the lowest
/// for the first byte, and answers for the 64 positions of which it has the bit before and the `reach` bits after.
#[inline(always)]
pub(crate) fn scan<const BASE64: bool>(
    text: &[u8],
    reach: u32,
    starts: impl Fn(u128) -> u128,
    mut found: impl FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let known = u128::from(u64::MAX) << (64 - reach);
    let (mut window, mut begin) = (0, 0);
    // What touches the end is only found in a window that extends beyond it.
    while begin < text.len() + 64 {
        let next = text.get(begin..).unwrap_or_default();
        window = window >> 64 | u128::from(word_bits::<BASE64>(next)) << 64;
        let mut places = starts(window) & known;
        while places != 0 {
            found(begin + places.trailing_zeros() as usize - 64)?;
            places &= places - 1;
        }
        begin += 64;
    }
    ControlFlow::Continue(())
}

/// Where words of `least` to `most` characters begin.
#[inline(always)]
pub(crate) fn runs(words: u128, least: u32, most: u32) -> u128 {
    let too_long = if least == most { words >> most & ones(words, least) } else { ones(words, most + 1) };
    ones(words, least) & !too_long & !(words << 1)
}

/// Where this many ones follow each other.
#[inline(always)]
fn ones(words: u128, count: u32) -> u128 {
    let (mut found, mut known) = (words, 1);
    while 2 * known <= count {
        found &= found >> known;
        known *= 2;
    }
    found & found >> (count - known)
}

/// Calls `found` with each position that has a dash 8, 13, 18 and 23 characters later, as a UUID does. Few other texts have
/// these, and dashes are seen in a third of the instructions that words take.
#[inline(always)]
fn scan_dashes(text: &[u8], mut found: impl FnMut(usize) -> ControlFlow<()>) -> ControlFlow<()> {
    let (mut window, mut begin) = (0_u128, 0);
    while begin < text.len() + 64 {
        let next = text.get(begin..).unwrap_or_default();
        window = window >> 64 | u128::from(dash_bits(next)) << 64;
        let mut places = (window & window >> 5 & window >> 10 & window >> 15) as u64;
        while places != 0 {
            // The bit is that of the first dash.
            if let Some(place) = (begin + places.trailing_zeros() as usize).checked_sub(64 + 8) {
                found(place)?;
            }
            places &= places - 1;
        }
        begin += 64;
    }
    ControlFlow::Continue(())
}

/// Whether words of 8, 4, 4, 4 and 12 characters begin here, and end, with others between them.
#[inline(always)]
pub(crate) fn is_uuid(text: &[u8], place: usize) -> bool {
    const OTHERS: u64 = 1 << 8 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 36;
    const LOOKED_AT: u64 = (1 << 37) - 1;
    let before = place.checked_sub(1).and_then(|before| text.get(before));
    let words = word_bits::<false>(text.get(place..).unwrap_or_default());
    words & LOOKED_AT == LOOKED_AT & !OTHERS && !before.is_some_and(u8::is_ascii_alphanumeric)
}

/// Where words of 1, 8 and 24 characters begin, with one other between them.
#[inline(always)]
pub(crate) fn xrays(words: u128) -> u128 {
    let (eight, others) = (ones(words, 8), !words);
    let twenty_four = eight & eight >> 8 & eight >> 16;
    let ends = others >> 1 & others >> 10 & others >> 35;
    words & eight >> 2 & twenty_four >> 11 & ends & others << 1
}

/// Where letters, digits and `_` begin that end before `place`, with a `_` if there are any: at most 64.
#[inline(always)]
pub(crate) fn prefix_at(text: &[u8], place: usize) -> Option<usize> {
    let is_one = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let length = text[..place].iter().rev().take(65).take_while(is_one).count();
    (length <= 64).then_some(place - length)
}

/// One bit for each of the first 64 bytes, the lowest for the first, set for letters and digits; missing bytes count as
/// others.
#[inline(always)]
fn word_bits<const BASE64: bool>(text: &[u8]) -> u64 {
    match text.first_chunk::<64>() {
        Some(chunk) => word_bits_of::<BASE64>(chunk),
        None => word_bits_of::<BASE64>(&filled(text)),
    }
}

/// The same for dashes.
#[inline(always)]
fn dash_bits(text: &[u8]) -> u64 {
    match text.first_chunk::<64>() {
        Some(chunk) => dash_bits_of(chunk),
        None => dash_bits_of(&filled(text)),
    }
}

fn filled(text: &[u8]) -> [u8; 64] {
    let mut filled = [0; 64];
    filled[..text.len()].copy_from_slice(text);
    filled
}

#[inline(always)]
fn word_bits_of<const BASE64: bool>(chunk: &[u8; 64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE2.
    return unsafe { word_bits_sse2::<BASE64>(chunk) };
    #[cfg(not(target_arch = "x86_64"))]
    return chunk.iter().rev().fold(0, |bits, &byte| {
        let is_word = byte.is_ascii_alphanumeric() || BASE64 && matches!(byte, b'@' | b'-' | b'_');
        bits << 1 | u64::from(is_word)
    });
}

#[inline(always)]
fn dash_bits_of(chunk: &[u8; 64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE2.
    return unsafe { dash_bits_sse2(chunk) };
    #[cfg(not(target_arch = "x86_64"))]
    return chunk.iter().rev().fold(0, |bits, &byte| bits << 1 | u64::from(byte == b'-'));
}

/// # Safety
///
/// The processor must have SSE2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[allow(unused_unsafe, reason = "these intrinsics are unsafe to call before Rust 1.87")]
unsafe fn dash_bits_sse2(chunk: &[u8; 64]) -> u64 {
    use std::arch::x86_64::*;

    chunk.chunks_exact(16).rev().fold(0, |bits, sixteen| {
        // SAFETY: the caller vouches for SSE2, and 16 bytes of the chunk are read, at any alignment.
        let found = unsafe {
            _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(sixteen.as_ptr().cast()), _mm_set1_epi8(b'-' as i8)))
        };
        bits << 16 | u64::from(found as u16)
    })
}

/// The plain loop again, with SSE2, because `txid grep` spends most of its time here.
///
/// # Safety
///
/// The processor must have SSE2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[allow(unused_unsafe, reason = "these intrinsics are unsafe to call before Rust 1.87")]
unsafe fn word_bits_sse2<const BASE64: bool>(chunk: &[u8; 64]) -> u64 {
    use std::arch::x86_64::*;

    // Only signed comparisons exist: the bytes from `first` to `first + count` are moved to the bottom of the signed
    // range.
    // SAFETY: the caller vouches for SSE2, which is all that these need.
    let within = |bytes, first: u8, count: i8| unsafe {
        let moved = _mm_add_epi8(bytes, _mm_set1_epi8(i8::MIN.wrapping_sub_unsigned(first)));
        _mm_cmpgt_epi8(_mm_set1_epi8(i8::MIN + count), moved)
    };
    chunk.chunks_exact(16).rev().fold(0, |bits, sixteen| {
        // SAFETY: as above, and 16 bytes of the chunk are read, at any alignment.
        let found = unsafe {
            let bytes = _mm_loadu_si128(sixteen.as_ptr().cast());
            let letters = within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', 26);
            let mut found = _mm_or_si128(letters, within(bytes, b'0', 10));
            if BASE64 {
                for other in [b'@', b'-', b'_'] {
                    found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(other as i8)));
                }
            }
            _mm_movemask_epi8(found)
        };
        bits << 16 | u64::from(found as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use txid::formats::{ALL, named};
    use txid::{Maker, Txid};

    /// The simplest implementation: what is at the place that `shape` sees there, and how long it is.
    fn plainly(text: &[u8], shape: &Shape, place: usize) -> Option<usize> {
        let extra: &[u8] = if matches!(shape, Shape::Base64(_)) { b"@-_" } else { b"" };
        let is_word =
            |place: usize| text.get(place).is_some_and(|byte| byte.is_ascii_alphanumeric() || extra.contains(byte));
        if place > 0 && is_word(place - 1) {
            return None;
        }
        let length_at = |place: usize| (place..).take_while(|&place| is_word(place)).count();
        match shape {
            Shape::Word(lengths) => Some(length_at(place)).filter(|length| lengths.contains(length)),
            Shape::Base64(length) => Some(length_at(place)).filter(|found| found == length),
            Shape::Uuid => {
                let parts = [(0, 8), (9, 4), (14, 4), (19, 4), (24, 12)];
                let has_dashes = [8, 13, 18, 23].iter().all(|at| text.get(place + at) == Some(&b'-'));
                (has_dashes && parts.iter().all(|&(begin, length)| length_at(place + begin) == length)).then_some(36)
            }
            Shape::Xray => {
                let parts = [(0, 1), (2, 8), (11, 24)];
                let has_dashes = parts.iter().all(|&(begin, length)| length_at(place + begin) == length);
                if has_dashes { Some(35) } else { Some(32).filter(|&length| length_at(place) == length) }
            }
            Shape::Prefixed => {
                let end = (place..).find(|&place| !is_word(place) && text.get(place) != Some(&b'_'))?;
                let last = text[place..end].rsplit(|&byte| byte == b'_').next()?;
                let is_first = place == 0 || text[place - 1] != b'_';
                (is_first && last.len() == 26 && end - place <= 90).then_some(end - place)
            }
            Shape::Dotted => {
                let end_of =
                    |place: usize| place + text[place..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let thread = place + length_at(place);
                if thread != place + 32 || text.get(thread) != Some(&b'.') {
                    return None;
                }
                let time = end_of(thread + 1);
                if time == thread + 1 || text.get(time) != Some(&b'.') {
                    return None;
                }
                let end = end_of(time + 1);
                (end > time + 1 && !is_word(end)).then_some(end - place)
            }
        }
    }

    fn with_a_time() -> impl Iterator<Item = Finder> {
        ALL.into_iter().filter_map(|format| Finder::new(format, Numbers::UNKNOWN))
    }

    fn assert_finds_what_is_there(finder: &Finder, text: &[u8]) {
        let mut found = Vec::new();
        finder.each_candidate(text, |range| {
            found.push(range);
            ControlFlow::Continue(())
        });
        let expected: Vec<_> =
            (0..text.len()).filter_map(|place| Some(place..place + plainly(text, finder.shape, place)?)).collect();
        assert_eq!(found, expected, "{:?} in '{}'", finder.format, text.escape_ascii());
    }

    const SAMPLES: [&str; 18] = [
        "4om9qi54la8ffr4bd9sg",
        "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
        "000001VKvYLi2kP2ENqkCH",
        "Ws@zWAoAAAcAAAAqAAEAAAAH",
        "awFqxtNirgRaFaBf17HW_gAAAEQ",
        "b13f65bff40000010123456789abcdef",
        "0ad1348f1403169275002100356696",
        "b3e4bd0d1f2c4a5e8c9d0a1b2c3d4e5f.57.15225456885520042",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
        "9m4e2mr0ui3e8a215n4g",
        "507f1f77bcf86cd799439011",
        "1-58406520-a006649127e371903a2de979",
        "58406520a006649127e371903a2de979",
        "5840652000000000a006649127e37190",
        "prefix_01h455vb4pex5vsknk084sn02q",
        "cjld2cjxh0000qzrmn831i7rn",
        "df6fef1e15341321960398755e",
    ];

    #[test]
    fn an_id_is_found_at_any_place() {
        for sample in SAMPLES {
            let finders: Vec<_> = with_a_time()
                .filter(|finder| {
                    plainly(sample.as_bytes(), finder.shape, 0).is_some()
                        && finder.first_ms(sample.as_bytes()).is_some()
                })
                .collect();
            assert!(!finders.is_empty(), "{sample}");
            for before in 0..150 {
                for after in [0, 1, 5, 63, 64, 65] {
                    let text = [" ".repeat(before), sample.to_string(), "\n".repeat(after)].concat();
                    for finder in &finders {
                        let mut places = Vec::new();
                        finder.within(text.as_bytes(), &finder.window(i64::MIN..=i64::MAX), |place| {
                            places.push(place.start)
                        });
                        assert_eq!(places, [before], "{:?} in '{text}'", finder.format);
                    }
                }
            }
        }
    }

    #[test]
    fn words_end_where_letters_and_digits_do() {
        for byte in 0..=255_u8 {
            for sample in SAMPLES {
                let texts = [&[&[byte][..], sample.as_bytes()].concat(), &[sample.as_bytes(), &[byte; 64]].concat()];
                for (text, finder) in texts.iter().flat_map(|text| with_a_time().map(move |finder| (text, finder))) {
                    assert_finds_what_is_there(&finder, text);
                }
            }
        }
    }

    #[test]
    fn each_character_of_a_uuid_counts() {
        let sample = SAMPLES[1].as_bytes();
        for place in 0..sample.len() {
            for byte in *b" -f" {
                let mut text = sample.to_vec();
                text[place] = byte;
                with_a_time().for_each(|finder| assert_finds_what_is_there(&finder, &text));
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_plain_search_finds(
            text in "([0-9a-zA-Z]{18,37}|([a-z]{0,30}_){1,3}[0-9a-z]{25,27}|1-[0-9a-f]{8}-[0-9a-f]{24}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}(\\.[0-9]{1,9}){0,3}|[A-Za-z0-9@_-]{23,28}|[ -~]|\\PC){0,40}",
        ) {
            for finder in with_a_time() {
                assert_finds_what_is_there(&finder, text.as_bytes());
            }
        }

        /// Their texts are compared before they are read.
        #[test]
        fn the_ids_within_are_those_that_read_so(
            ms in proptest::collection::vec(1_500_000_000_000..1_500_000_001_000_i64, 1..20),
            from in 1_500_000_000_000..1_500_000_001_000_i64,
            length in 0..1000_i64,
            upper: bool,
        ) {
            for finder in with_a_time() {
                let Some(maker) = finder.format.make.as_ref().filter(|make| make.takes_a_time) else { continue };
                let address = maker.options.contains(&"address").then_some(("address", "10.0.0.7".as_ref()));
                let maker = finder.format.maker(address).unwrap();
                let texts: Vec<String> = ms.iter().map(|&ms| {
                    let mut text = [0; Maker::MAX_LEN];
                    let made = maker.write_at(ms, &mut text).unwrap();
                    let text = String::from_utf8(text[..made.len].to_vec()).unwrap();
                    if upper && finder.texts == Texts::InOneCase { text.to_uppercase() } else { text }
                }).collect();
                let is_in = |text: &String| {
                    let ms = finder.format.ms(text.as_bytes(), &finder.numbers).unwrap();
                    (from..=from + length).contains(&ms)
                };
                let expected: Vec<_> = (0..texts.len()).filter(|&index| is_in(&texts[index])).map(|index| index * (texts[0].len() + 1)).collect();
                let mut found = Vec::new();
                finder.within(texts.join(" ").as_bytes(), &finder.window(from..=from + length), |place| found.push(place.start));
                prop_assert_eq!(found, expected, "{:?}", finder.format);
            }
        }

        #[test]
        fn lines_are_ordered_as_txids_are(one in 0_i64..1 << 42, other in 0_i64..1 << 42) {
            let finder = Finder::new(named("txid").unwrap(), Numbers::UNKNOWN).unwrap();
            let ids = [one, other].map(Txid::at);
            let [first, second] = ids.map(|id| finder.first_order(format!("- {id} -").as_bytes()).unwrap());
            prop_assert_eq!(first.cmp(&second), ids[0].cmp(&ids[1]));
        }
    }
}
