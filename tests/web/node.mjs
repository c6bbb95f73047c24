// readers/js/txid.js in Node: prints what differs from tests/vectors/.

import { readFileSync } from "node:fs";
import * as txid from "../../readers/js/txid.js";
import { differences } from "./differences.mjs";

const vectors = {};
for (const name of ["formats", "times"]) {
    vectors[name] = JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url)));
}
const wrong = differences(txid, vectors);
console.log(wrong.join("\n"));
process.exitCode = wrong.length > 0 ? 1 : 0;
