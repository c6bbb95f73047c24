#!/bin/sh
# web-reader.sh: prints the web reader as one file. Browsers import no module into a page that is opened without a server.
set -eu

cd "$(dirname "$0")/../readers/web"
import='^import .* from "\.\.\/js\/txid\.js";$'
sed -e "s/script-src 'self' /script-src /" -e "/$import/,\$d" index.html
sed 's/^export default/const table =/' ../js/formats.js
sed '/^import table /d' ../js/txid.js
sed "1,/$import/d" index.html
