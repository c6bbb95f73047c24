//! The machines, by text, by chance and in every order.

mod any_answer;
mod child;
mod model;
mod random;
mod scenarios;
mod simulation;
