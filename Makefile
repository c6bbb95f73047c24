# PREFIX/share/lua/5.1 and PREFIX/lib/lua/5.1 are where Debian's nginx and LuaJIT look. For OpenResty:
# make install LUA_LIB_DIR=/usr/local/openresty/lualib
PREFIX ?= /usr/local
LUA_LIB_DIR ?= $(PREFIX)/share/lua/5.1
LUA_C_DIR ?= $(subst /share/lua/,/lib/lua/,$(LUA_LIB_DIR))
LIB_DIR ?= $(PREFIX)/lib
DESTDIR ?=
PORT ?= 8080
PEERS ?=

export PREFIX LUA_LIB_DIR LUA_C_DIR LIB_DIR DESTDIR PORT PEERS

.PHONY: help build agent build-rock run test soak bench locality lint headers install uninstall install-rock deb rpm
.PHONY: test-install bump release clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

build: ## build target/release/libtxid.so, libtxid.a and the command txid
	@scripts/need.sh build
	cargo build --locked --release

run: ## serve examples/nginx.conf on 127.0.0.1:8080 (PORT=) until Ctrl-C
	@scripts/need.sh build run
	@cargo build --locked --release --quiet
	@exec scripts/run.sh

test: ## install what the tests need from Debian, then run all of them
	@scripts/need.sh build test stores
	@$(MAKE) --no-print-directory build
	@scripts/test.sh

soak: ## kill processes on one snowflake state for 20 million ids, search and sort a gigabyte, fuzz (a quarter of an hour)
	@scripts/need.sh build stores
	cargo test --locked --profile soak --test snowflake_processes -- soak
	cargo test --locked -p txid-cli --test soak -- --ignored --nocapture --test-threads=1
	fuzz/run.sh 20
	TXID_FLEET_SECONDS=120 cargo test --locked -p txid-agent --test fleet faults -- --nocapture --test-threads=1

bench: ## measure, against PEERS= too, and write bench/RESULTS.md
	@scripts/need.sh build bench
	@cargo build --locked --release --quiet
	@bench/run.sh

locality: ## measure what ids do to ClickHouse and SQLite, and write docs/locality.md
	@scripts/need.sh build locality
	@cargo build --locked --release --quiet
	@bench/locality/run.sh

lint: ## rustfmt, clippy and luacheck
	@scripts/need.sh build lint
	cargo fmt --all -- --check
	cargo fmt --manifest-path bench/rust/Cargo.toml -- --check
	cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
	luacheck --quiet .

headers: ## write include/txid.h and cdefs.lua anew from capi/
	TXID_BLESS=1 cargo test --locked --quiet --package txid-capi --test interface

# `sudo make install` may find no cargo, and what the user built.
install: $(if $(shell command -v cargo),build) ## install below PREFIX (/usr/local); also LUA_LIB_DIR, LUA_C_DIR, LIB_DIR, DESTDIR
	@scripts/install.sh put

uninstall: ## remove what install put there
	@scripts/install.sh remove

# LuaRocks calls these two, and chooses the directories.
build-rock:
	@scripts/need.sh build
	cargo build --locked --release

install-rock:
	@scripts/install.sh rock

agent: ## build target/release/txid-agent
	@scripts/need.sh build
	cargo build --locked --release --package txid-agent

deb: build agent ## pack dist/*.deb
	packaging/deb.sh

rpm: build agent ## pack dist/*.rpm
	@scripts/need.sh rpm
	packaging/rpm.sh

test-install: ## install in every way that there is, each from a clean checkout
	@scripts/need.sh build test-install
	scripts/test-install.sh

bump: ## set VERSION=x.y.z, and Cargo.toml's repository, wherever they are written
	@scripts/bump.sh

release: ## check and pack VERSION=x.y.z into dist/; DRY_RUN=1 only says how, PUBLISH=1 uploads
	@scripts/release.sh

clean: ## remove what was built
	cargo clean
	rm -rf dist t/servroot*
