//! Real agents with real servers. One program, because each program that links the agent takes long to build.

#![allow(missing_docs)]

mod attacks;
mod beside;
mod control_group;
mod failover;
mod failure;
mod fleet;
mod metrics;
mod proxy;
mod segments;
mod servers;
mod stores;
mod wait;
