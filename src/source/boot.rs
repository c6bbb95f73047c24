//! Identifies the boot of the machine.

const LEN: usize = 16;

/// A random id that changes when the machine starts. Zeros if the system has none.
pub(crate) fn boot_id() -> [u8; LEN] {
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits = text.iter().filter_map(|&byte| char::from(byte).to_digit(16));
    digits.fold(0, |id: u128, digit| id << 4 | u128::from(digit)).to_be_bytes()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn it_is_what_the_kernel_says() {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        assert_eq!(super::boot_id(), *uuid::Uuid::parse_str(text.trim()).unwrap().as_bytes());
    }
}
