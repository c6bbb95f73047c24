//! Identifies the boot of the machine.

const LEN: usize = 16;

/// Where Linux has the id.
pub(crate) const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// A random id that changes when the machine starts; None if it cannot be read. Zeros on systems that have none.
pub(crate) fn boot_id() -> Option<[u8; LEN]> {
    if cfg!(not(any(target_os = "linux", target_os = "android"))) {
        return Some([0; LEN]);
    }
    let text = std::fs::read(BOOT_ID).ok()?;
    let digits = text.iter().filter_map(|&byte| char::from(byte).to_digit(16));
    let id = digits.fold(0, |id: u128, digit| id << 4 | u128::from(digit));
    (id != 0).then_some(id.to_be_bytes())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn it_is_what_the_kernel_says() {
        let text = std::fs::read_to_string(super::BOOT_ID).unwrap();
        assert_eq!(super::boot_id(), Some(*uuid::Uuid::parse_str(text.trim()).unwrap().as_bytes()));
    }
}
