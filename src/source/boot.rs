//! Identifies the boot of the machine.

const LEN: usize = 16;

/// A random id that changes when the machine starts. Zeros if the system has none.
pub(crate) fn boot_id() -> [u8; LEN] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).unwrap_or(0).to_be_bytes()
}
