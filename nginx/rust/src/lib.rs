//! What the nginx modules call: `libngx_txid.a`, of which `nginx/ngx_txid_lib.h` is the interface.
//!
//! Nothing in here decides anything: it takes what nginx's C has at hand, and calls the library. It is no part of
//! `libtxid.so`, whose users have no requests, and its functions stay inside the modules that are linked with it.

#![allow(non_camel_case_types, reason = "types have the names that they have in C")]

mod caller;
mod maker;
mod networks;
mod span;
mod time;
