//! The library and the files of this tree. One program, because each is linked anew after a change; `tests/alone` has what needs a process
//! of its own.

mod circles;
#[path = "../alone/clock.rs"]
mod clock;
mod clocks;
mod dependencies;
mod documents;
mod figures;
mod flakes;
mod formats;
mod hidden;
mod host_address;
mod ids;
mod leases;
#[path = "../alone/made.rs"]
mod made;
mod readers;
mod segments;
mod snowflake_layout;
mod snowflake_state;
mod surface;
mod traces;
mod ulids;
mod uuids;
mod vectors;
mod web_reader;
