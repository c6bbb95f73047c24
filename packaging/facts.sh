# To be sourced in the root of the tree. Sets version and repository from Cargo.toml, and SOURCE_DATE_EPOCH to when the sources
# were committed: packed files get this date, so that the same sources give the same packages. Without git, it is the date that an archive
# of git gives to each file.

fact() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" Cargo.toml | head -n 1; }

version=$(fact version)
repository=$(fact repository)

: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null \
    || stat -c %Y Cargo.toml)}"
export SOURCE_DATE_EPOCH
