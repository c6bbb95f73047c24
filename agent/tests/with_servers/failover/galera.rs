//! Galera: servers that are killed, cut off, and come back.

use txid_agent::store::open;
use txid_agent_machines::store::Taken;

use super::cluster::Galera;
use super::{User, go_on, unique};
use crate::fleet::LAYOUT;
use crate::servers::{MARIADB_PASSWORD, until};

/// The URL of a host that asks a server first, and then the ones after it.
fn url(galera: &Galera, first: usize) -> String {
    let count = galera.nodes.len();
    let hosts: Vec<_> = (0..count).map(|at| format!("127.0.0.1:{}", galera.nodes[(first + at) % count].port)).collect();
    format!("mysql://txid:{MARIADB_PASSWORD}@{}/ids?timeout=1s", hosts.join(","))
}

/// The agent says so beforehand.
#[test]
#[ignore = "20 s; make soak"]
fn a_cluster_that_crashes_as_a_whole_keeps_what_its_servers_have_written() {
    for (flush, is_kept) in [(0, false), (1, true)] {
        let Some(mut galera) = Galera::start(&[&format!("--innodb-flush-log-at-trx-commit={flush}")]) else { return };
        let mut tags = open(&url(&galera, 0)).unwrap();
        tags.create_tag("invoices", 1).unwrap();
        let mut take = |count| match tags.take("invoices", Some(count), 0) {
            Ok(Taken::Range { range, .. }) => Some((range.end, tags.durability_of_numbers().why().map(str::to_owned))),
            Ok(other) => panic!("{other:?}"),
            Err(_) => None,
        };
        let (confirmed, why) = (0..500).map(|_| take(1).unwrap()).last().unwrap();
        let setting = format!("innodb_flush_log_at_trx_commit = {flush}");
        assert_eq!(why, Some(setting).filter(|_| !is_kept));
        galera.crash(0);
        let lost = confirmed - until("it does not come back", || take(0)).0;
        println!("innodb_flush_log_at_trx_commit = {flush}: {lost} of {confirmed} numbers were lost");
        assert!(lost == 0 || !is_kept);
    }
}

/// Three hosts take numbers and renew leases, each at another server, so that writes collide. One after another is
/// killed, cut off, or has no majority.
#[test]
#[ignore = "45 s; make soak"]
fn no_id_and_no_number_is_there_twice_whatever_servers_of_galera_do() {
    let Some(mut galera) = Galera::start(&[]) else { return };
    let options =
        ["--assume-unused-store", "--lease-time", "5s", "--segment", "invoices=20", "--max-step", "200", "--create"];
    let mut users: Vec<User> =
        (0..3).map(|at| User::new(&format!("host-{at}"), &url(&galera, at), LAYOUT, &options)).collect();
    until("a host has no lease", || users.iter().all(|user| user.host.is_live()));
    users.iter_mut().for_each(User::start_taker);
    go_on("a host does not begin", &users);

    galera.nodes[0].kill();
    go_on("a host stays with the server that was killed", &users);

    // The last one has no majority, and refuses all.
    galera.nodes[1].signal(libc::SIGSTOP);
    until("a lease does not end", || users.iter().all(|user| !user.host.is_live()));
    assert_eq!(galera.status(2, "wsrep_cluster_status"), "non-Primary");
    galera.nodes[1].signal(libc::SIGCONT);
    go_on("a host does not come back with the majority", &users);

    galera.restart(0);
    galera.nodes[1].kill();
    go_on("a host does not go on with the server that came back", &users);
    galera.restart(1);

    // It runs, and lets in whoever has the password.
    galera.isolate(2, true);
    until("it is not alone", || galera.status(2, "wsrep_cluster_status") == "non-Primary");
    go_on("a host stays with the server that is alone", &users);
    assert!(users.iter().all(|user| user.host.is_live()));
    galera.isolate(2, false);
    galera.wait_for(2);
    go_on("a host does not go on at the end", &users);

    users.iter_mut().for_each(User::end);
    let (ids, numbers) = unique(&users);
    println!("{ids} ids and {numbers} numbers, none of them twice");
    assert!(ids > 50_000 && numbers > 50_000, "{ids} ids and {numbers} numbers are too few to tell");
}
