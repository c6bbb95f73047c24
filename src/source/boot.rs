//! Which boot of the machine this is.

const LEN: usize = 16;

/// Random, and new whenever the machine starts. Zeros where the system does not tell.
pub(crate) fn boot_id() -> [u8; LEN] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).unwrap_or(0).to_be_bytes()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn it_is_what_the_kernel_says() {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        assert_eq!(super::boot_id(), *uuid::Uuid::parse_str(text.trim()).unwrap().as_bytes());
    }
}
