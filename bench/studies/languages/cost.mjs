import { segment, snowflakes, txid } from "./ids.mjs";

const COUNT = 200_000;
const directory = process.argv[2];
const kinds = { txid, snowflake: snowflakes(`${directory}/orders`), segment: segment(`${directory}/invoices.segment`) };
for (const [kind, make] of Object.entries(kinds)) {
    let spent;
    for (let round = 0; round < 2; round++) {
        const start = process.cpuUsage();
        for (let i = 0; i < COUNT; i++) {
            make();
        }
        spent = process.cpuUsage(start);
    }
    console.log("node", kind, (spent.user + spent.system) * 1000 / COUNT);
}
