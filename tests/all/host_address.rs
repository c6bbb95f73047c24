//! Which of a host's addresses is used as its own, tested in network namespaces with interfaces of all kinds.

use std::path::Path;
use std::process::Command;
use txid::snowflake::{Layout, node};

/// Docker's bridge, the first interface, with the same address on every host.
const DOCKER: &str = "
    ip link add docker0 type bridge
    ip address add 172.17.0.1/16 dev docker0
    ip link set docker0 up
    ip link add veth0 type veth peer name inside
    ip link set veth0 master docker0
    ip link set veth0 up
    ip link set inside up";

/// The host's own interface; each test sets its address and routes.
const ETHERNET: &str = "
    ip link add eth0 type veth peer name far
    ip link set far up
    ip link set eth0 up";

/// Runs this program's `tells_the_addresses` in its own network namespace; `None` if that is not allowed.
fn in_namespace(set_up: &str) -> Option<String> {
    let run = |options: &[&str], script: &str| {
        Command::new("unshare")
            .args(options)
            .args(["--net", "--mount", "sh", "-euc", script, "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "host_address::tells_the_addresses", "--ignored", "--nocapture"])
            .output()
            .expect("unshare is there")
    };
    // As root, or in a user namespace with root rights.
    let probe = "mount -t sysfs sysfs /sys && ip link add docker0 type bridge";
    let works = |options: &&[&str]| run(options, probe).status.success();
    let Some(options) = [&[][..], &["--map-root-user"]].into_iter().find(works) else {
        let why = run(&["--map-root-user"], probe).stderr;
        test_helpers::skipped(format_args!(
            "no network namespace can be made here: {}",
            String::from_utf8_lossy(&why).trim()
        ));
        return None;
    };
    let output = run(options, &format!("mount -t sysfs sysfs /sys; ip link set lo up; {set_up}\nexec \"$@\""));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    Some(said.lines().find_map(|line| line.strip_prefix("addresses: ")).unwrap_or(&said).to_string())
}

#[test]
#[ignore = "the other tests run it in namespaces"]
fn tells_the_addresses() {
    let show = |address: Option<String>| address.unwrap_or_else(|| "none".to_string());
    let v4 = txid::system::host_ipv4().map(|address| address.to_string());
    let v6 = txid::system::host_ipv6().map(|address| address.to_string());
    let node = node("ip", &Layout::SONYFLAKE).ok().map(|node| node.to_string());
    println!("\naddresses: {} {} {}", show(v4), show(v6), show(node));
}

fn assert_addresses(set_up: &str, expected: &str) {
    if let Some(found) = in_namespace(set_up) {
        assert_eq!(found, expected, "{set_up}");
    }
}

#[test]
fn a_public_address_with_a_route_counts_before_dockers_private_one() {
    let routed = "ip address add 203.0.113.7/24 dev eth0\nip route add default via 203.0.113.1";
    assert_addresses(&format!("{DOCKER}{ETHERNET}\n{routed}"), "203.0.113.7 none none");
}

#[test]
fn without_a_default_route_a_bridge_does_not_count() {
    let private = "ip address add 192.168.3.7/24 dev eth0";
    assert_addresses(&format!("{DOCKER}{ETHERNET}\n{private}"), &format!("192.168.3.7 none {}", 3 << 8 | 7));
    let public = "ip address add 203.0.113.7/24 dev eth0";
    assert_addresses(&format!("{DOCKER}{ETHERNET}\n{public}"), "203.0.113.7 none none");
}

#[test]
fn an_address_that_only_its_own_link_knows_does_not_count() {
    let local = "ip address add 169.254.3.7/16 dev eth0";
    assert_addresses(&format!("{ETHERNET}\n{local}"), "none none none");
}

#[test]
fn without_a_default_route_a_private_address_counts_before_a_public_one() {
    let both = "ip address add 203.0.113.7/24 dev eth0\nip address add 192.168.3.7/24 dev eth0";
    assert_addresses(&format!("{ETHERNET}\n{both}"), &format!("192.168.3.7 none {}", 3 << 8 | 7));
}

#[test]
fn a_private_network_beside_the_public_one_has_the_node() {
    let both = "ip address add 203.0.113.7/24 dev eth0
        ip address add 10.2.3.4/24 dev eth0
        ip route add default via 203.0.113.1";
    assert_addresses(&format!("{DOCKER}{ETHERNET}\n{both}"), &format!("203.0.113.7 none {}", 3 << 8 | 4));
}

#[test]
fn a_bridge_with_the_default_route_is_the_hosts_own() {
    let bridge = "ip link add br0 type bridge
        ip link set eth0 master br0
        ip address add 10.1.2.3/24 dev br0
        ip link set br0 up
        ip route add default via 10.1.2.1";
    assert_addresses(&format!("{DOCKER}{ETHERNET}\n{bridge}"), &format!("10.1.2.3 none {}", 2 << 8 | 3));
}

#[test]
fn dockers_bridge_alone_is_no_address() {
    assert_addresses(DOCKER, "none none none");
    assert_addresses("true", "none none none");
}

#[test]
fn a_global_ipv6_address_is_the_hosts_own() {
    if !Path::new("/proc/net/if_inet6").exists() {
        return test_helpers::skipped("there is no IPv6 here");
    }
    let global = "ip -6 address add 2001:db8::7/64 dev eth0 nodad";
    assert_addresses(&format!("{ETHERNET}\n{global}"), "none 2001:db8::7 none");
}
