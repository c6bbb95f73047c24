//! One test at a time, each in a process of its own, in which nothing was asked of the system yet and no other thread has a lock or a key.

mod allocations;
mod children;
mod clock;
mod made;
mod wiped;

fn main() {
    test_helpers::one_by_one::run(&[children::TESTS, allocations::TESTS, wiped::TESTS].concat());
}
