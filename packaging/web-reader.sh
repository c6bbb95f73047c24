#!/bin/sh
# web-reader.sh: prints the web reader as one file. Browsers import no module into a page that is opened without a server.
set -eu

cd "$(dirname "$0")/../readers/web"
sed -e "s/script-src 'self' /script-src /" -e '/^import .* from "\.\/txid\.js";$/ { r txid.js' -e 'd' -e '}' index.html
