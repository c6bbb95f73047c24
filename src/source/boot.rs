//! Which boot of the machine this is.

const LEN: usize = 16;

/// Random, and new whenever the machine starts. Zeros where the system does not tell.
pub(crate) fn boot_id() -> [u8; LEN] {
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits = text.iter().filter_map(|&byte| char::from(byte).to_digit(16));
    digits.fold(0, |id: u128, digit| id << 4 | u128::from(digit)).to_be_bytes()
}
