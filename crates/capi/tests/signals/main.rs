//! No id repeats if a signal arrives between any two instructions of making one, whether its handler forks or makes ids
//! itself. On processors other than x86-64, a process cannot interrupt itself like that, and nothing is tested.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod every_instruction;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod first_call;

fn main() {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    every_instruction::run();
}
