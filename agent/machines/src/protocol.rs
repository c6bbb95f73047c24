//! How a machine and its keeper talk to each other, for both machines.
//!
//! A machine is a pure function of its inputs: it reads no clock, no page and no store. Its `step` gets all of these, with
//! the page as it was after the last write, and returns one output. The keeper does what it says, and calls again with the result:
//!
//! | output | what is done | next input |
//! |---|---|---|
//! | [`Output::Ask`] | the store is asked | [`Input::Answer`] |
//! | [`Output::Write`] | one write to the page | [`Input::Go`] |
//! | [`Output::Log`] | one line of the log | [`Input::Go`] |
//! | [`Output::Wait`] | nothing, until that time or earlier | [`Input::Go`], or [`Input::Stop`] to end |
//! | [`Output::Stopped`], [`Output::Fail`] | all is done | none |

/// The time of a step, and randomness for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Now {
    /// Milliseconds since 1970-01-01 UTC by this host's clock, which may be wrong.
    pub wall_ms: i64,
    /// Milliseconds of a clock that never goes backwards.
    pub mono_ms: u64,
    /// Different each time.
    pub random: u128,
}

/// The input of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input<A> {
    /// The last output is done, or its time has come.
    Go,
    /// The store's answer.
    Answer(A),
    /// The machine is to end. Only after [`Output::Wait`], when nothing is under way.
    Stop,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output<R, W, E, F> {
    /// Send this request to the store.
    Ask(R),
    /// Write to the page.
    Write(W),
    /// Write this to the log.
    Log(E),
    /// Call again when the monotonic clock reaches this, or earlier.
    Wait {
        /// By [`Now::mono_ms`].
        until_ms: u64,
    },
    /// All is done.
    Stopped,
    /// There is nothing more to do until somebody intervenes.
    Fail(F),
}
