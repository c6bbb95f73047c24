# To be sourced in the root of the tree. Sets version and repository from Cargo.toml.

fact() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" Cargo.toml | head -n 1; }

version=$(fact version)
repository=$(fact repository)
