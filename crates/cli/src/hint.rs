//! What to say if nothing of the wanted format was found, but something of another.

use std::ops::ControlFlow;
use txid::formats::find::Finder;
use txid::formats::{Format, Numbers, Readings};

/// How much of the input is looked at again.
const SAMPLE: usize = 256 << 10;

/// Ids of later times are unlikely.
const DAY_MS: i64 = 86_400_000;

/// The beginning of the input, for as long as nothing of the wanted format was in it.
#[derive(Default)]
pub(crate) struct Hint {
    sample: Vec<u8>,
    is_needless: bool,
}

impl Hint {
    /// Looks at a block of lines.
    pub(crate) fn look(&mut self, block: &[u8], wanted: &Finder) {
        if self.is_needless || self.sample.len() >= SAMPLE {
            return;
        }
        let Some(since_ms) = wanted.format().and_then(Format::since_ms) else { return };
        let times = since_ms..=txid::system_ms() + DAY_MS;
        let mut is_likely = false;
        wanted.each(block, |it| {
            is_likely = it.ms.is_some_and(|ms| times.contains(&ms));
            if is_likely { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if is_likely {
            *self = Self { is_needless: true, ..Self::default() };
            return;
        }
        let room = SAMPLE - self.sample.len();
        self.sample.extend_from_slice(&block[..block.len().min(room)]);
    }

    /// A line about another format, and the command that would find its ids.
    pub(crate) fn text(&self, finder: &Finder) -> Option<String> {
        let wanted = finder.format().filter(|_| !self.is_needless)?;
        let now_ms = txid::system_ms();
        let mut others: Vec<(u64, &Format, Vec<&str>)> = Vec::new();
        Finder::of_likely(Numbers::UNKNOWN).each(&self.sample, |it| {
            let readings = Readings::of(&self.sample[it.range], &Numbers::UNKNOWN, now_ms);
            // Any 32 hexadecimal digits could be a trace id.
            if it.format == wanted || readings.likely().any(|it| it.ms.is_none()) {
                return ControlFlow::Continue(());
            }
            let at = others.iter().position(|(_, format, _)| *format == it.format).unwrap_or_else(|| {
                others.push((0, it.format, Vec::new()));
                others.len() - 1
            });
            let (count, _, titles) = &mut others[at];
            *count += 1;
            for title in readings.likely().map(|it| it.format().title) {
                if title != wanted.title && !titles.contains(&title) {
                    titles.push(title);
                }
            }
            ControlFlow::Continue(())
        });
        let (_, other, titles) = others.into_iter().max_by_key(|(count, ..)| *count)?;
        let command = command_with(&txid_args::name(other), std::env::args());
        let titles = titles.join(" or ");
        let what = match finder.first(&self.sample) {
            Some(_) => format!("what looks like a {} is unlikely to be one", wanted.title),
            None => format!("no {} was found", wanted.title),
        };
        Some(format!("{what}, but there are ids of the format {titles}: {command}"))
    }
}

/// The arguments of this command with `--format NAME` after the name of the subcommand.
fn command_with(format: &str, args: impl Iterator<Item = String>) -> String {
    let mut args: Vec<_> = args.map(|arg| quoted(&arg)).collect();
    if let Some(at) = args.iter().position(|arg| arg == "--format") {
        args.drain(at..(at + 2).min(args.len()));
    }
    args.retain(|arg| !arg.starts_with("--format="));
    let at = 2.min(args.len());
    args.splice(at..at, ["--format".to_string(), format.to_string()]);
    if let Some(program) = args.first_mut() {
        *program = "txid".to_string();
    }
    args.join(" ")
}

/// An argument as a shell would take it.
fn quoted(arg: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    match !arg.is_empty() && arg.bytes().all(is_plain) {
        true => arg.to_string(),
        false => format!("'{}'", arg.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use txid::formats::ALL;

    #[test]
    fn the_beginning_is_kept_for_as_long_as_nothing_of_the_format_is_in_it() {
        let wanted = Finder::of(&[ALL[0]], Numbers::UNKNOWN).unwrap();
        let an_id = b"b2fr5nvmbtcu7vl9phl0\n";
        let mut hint = Hint::default();
        hint.look(b"nothing\n", &wanted);
        hint.look(&[b'-'; SAMPLE], &wanted);
        assert_eq!(hint.sample.len(), SAMPLE);
        // Only the beginning is searched a second time.
        hint.look(an_id, &wanted);
        assert!(!hint.is_needless);

        let mut needless = Hint::default();
        needless.look(b"nothing\n", &wanted);
        needless.look(an_id, &wanted);
        needless.look(b"nothing\n", &wanted);
        assert!(needless.is_needless && needless.sample.is_empty());
    }

    #[test]
    fn the_command_is_the_same_with_another_format() {
        for (args, expected) in [
            (&["/usr/bin/txid", "grep", "--since", "1h", "a.log"][..], "txid grep --format flake --since 1h a.log"),
            (&["txid", "sort", "it's.log"], r"txid sort --format flake 'it'\''s.log'"),
            (
                &["txid", "grep", "--format", "uuid-v7", "--from", "2 days ago"],
                "txid grep --format flake --from '2 days ago'",
            ),
            (&["txid", "grep", "--format=uuid-v7"], "txid grep --format flake"),
            (&["txid", "grep", "-c", "--format", "uuid-v7", "a.log"], "txid grep --format flake -c a.log"),
        ] {
            assert_eq!(command_with("flake", args.iter().map(|arg| arg.to_string())), expected);
        }
    }
}
