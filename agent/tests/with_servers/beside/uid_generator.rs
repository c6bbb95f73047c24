//! UidGenerator's DisposableWorkerIdAssigner, with the table of its WORKER_NODE.sql and the statements of its
//! WORKER_NODE.xml.

use mysql::prelude::Queryable;
use txid::snowflake::{Generator, Layout, State};

use super::{Fleet, everybody_starts};
use crate::servers::{self, MARIADB_PASSWORD, POSTGRES_PASSWORD};

/// As its README recommends, with the epoch in China's time zone.
const LAYOUT: &str = "time_bits=29,node_bits=21,sequence_bits=13,unit_ms=1000,epoch=2016-09-19T16:00:00Z";

/// WORKER_NODE.sql.
const TABLE: &str = "CREATE TABLE WORKER_NODE (ID BIGINT NOT NULL AUTO_INCREMENT COMMENT 'auto increment id', HOST_NAME \
                     VARCHAR(64) NOT NULL COMMENT 'host name', PORT VARCHAR(64) NOT NULL COMMENT 'port', TYPE INT NOT NULL \
                     COMMENT 'node type: ACTUAL or CONTAINER', LAUNCH_DATE DATE NOT NULL COMMENT 'launch date', MODIFIED \
                     TIMESTAMP NOT NULL COMMENT 'modified time', CREATED TIMESTAMP NOT NULL COMMENT 'created time', PRIMARY \
                     KEY(ID)) COMMENT='DB WorkerID Assigner for UID Generator',ENGINE = INNODB";

/// The INSERT of WORKER_NODE.xml, with `useGeneratedKeys`.
fn assign(connection: &mut mysql::Conn, turn: usize) -> u64 {
    let mut transaction = connection.start_transaction(mysql::TxOpts::default()).unwrap();
    transaction
        .exec_drop(
            "INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES (?, ?, ?, ?, NOW(), NOW())",
            ("10.0.0.7", format!("1763719200000-{turn}"), 2, "2026-11-22"),
        )
        .unwrap();
    let id = transaction.last_insert_id().unwrap();
    transaction.commit().unwrap();
    id
}

#[test]
fn on_mariadb() {
    let server = servers::mariadb();
    let url = format!("mysql://txid:{MARIADB_PASSWORD}@127.0.0.1:{}/ids", server.port);
    let connect = || {
        let options = mysql::Opts::from_url(&format!("{url}?prefer_socket=false")).unwrap();
        mysql::Conn::new(options).unwrap()
    };
    let fleet = Fleet::new(&url, &format!("worker_node:{LAYOUT}"));
    fleet.fails("early", "it has no table WORKER_NODE: name the database that UidGenerator uses");

    let mut connection = connect();
    connection.query_drop(TABLE).unwrap();
    everybody_starts(&fleet, |turn| assign(&mut connect(), turn));

    // The other columns are for people to read.
    let row: (String, String, i32, bool) = connection
        .query_first(
            "SELECT HOST_NAME, PORT, TYPE, ABS(TIMESTAMPDIFF(SECOND, CREATED, NOW())) < 300 FROM WORKER_NODE WHERE HOST_NAME = \
             'web-2'",
        )
        .unwrap()
        .unwrap();
    assert_eq!(row, ("web-2".into(), "txid-orders".into(), 2, true));

    // The ids contain the node from the table.
    let agent = fleet.start("web-1");
    let (node, layout): (u64, Layout) = (fleet.node("web-1"), LAYOUT.parse().unwrap());
    let orders = Generator::new(State::leased(&fleet.path("web-1").join("orders"), &layout).unwrap());
    assert_eq!(layout.decode(orders.generate().unwrap()).unwrap().node, node);
    drop(agent);

    // The last number; and one past it, which UidGenerator does not accept either.
    let last = layout.last_node();
    connection.query_drop(format!("ALTER TABLE WORKER_NODE AUTO_INCREMENT = {last}")).unwrap();
    let _agent = fleet.start("last");
    assert_eq!(fleet.node("last"), last);
    let agent = fleet.start("too-late");
    servers::until("it does not say so", || fleet.log("too-late").contains("all 2097152 nodes are taken"));
    let log = fleet.log("too-late");
    assert!(log.contains("the table WORKER_NODE has used up the numbers of the layout"), "{log}");
    assert_eq!(connection.query_first("SELECT MAX(ID) FROM WORKER_NODE").unwrap(), Some(last), "none is wasted");
    drop(agent);
}

#[test]
fn on_postgres() {
    let server = servers::postgres(&[]);
    let sql = |text: &str| servers::run(servers::psql(&server, "ids").args(["-c", text])).trim().to_owned();
    let url = format!("postgres://txid:{POSTGRES_PASSWORD}@127.0.0.1:{}/ids", server.port);
    let fleet = Fleet::new(&url, &format!("worker_node:{LAYOUT}"));
    fleet.fails("early", "it has no table WORKER_NODE");
    sql(
        "CREATE TABLE WORKER_NODE (ID BIGSERIAL PRIMARY KEY, HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT NULL, TYPE INT \
         NOT NULL, LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL, CREATED TIMESTAMP NOT NULL)",
    );
    fleet.fails("denied", "permission denied");
    sql("GRANT SELECT, INSERT ON WORKER_NODE TO txid; GRANT USAGE ON SEQUENCE WORKER_NODE_ID_seq TO txid");
    everybody_starts(&fleet, |turn| {
        sql(&format!(
            "INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES ('10.0.0.7', \
             '1763719200000-{turn}', 2, '2026-11-22', NOW(), NOW()) RETURNING ID"
        ))
        .parse()
        .unwrap()
    });
}
