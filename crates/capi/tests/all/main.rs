//! The C interface: what is written of it, what users load, and what a call costs.

mod interface;
mod shared_object;
mod speed;
