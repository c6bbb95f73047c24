//! The library of the nginx modules: `libngx_txid.a`, with the interface `nginx/ngx_txid_lib.h`.
//!
//! This crate makes no decisions: it converts what nginx's C code has, and calls the library. It is not part of
//! `libtxid.so`, whose users have no requests, and its functions are visible only in the modules that are linked with
//! it.

#![allow(non_camel_case_types, reason = "types have the names that they have in C")]

mod caller;
mod maker;
mod networks;
mod series;
mod span;
mod time;
