# OpenResty with txid: docker build -t openresty-txid . && docker run --rm -p 8080:80 openresty-txid
#
# The stage "workshop" also has what building and testing need; docker-compose.yml runs make in it.

FROM rust:1-bookworm AS rust

FROM openresty/openresty:bookworm AS workshop
COPY --from=rust /usr/local/cargo /usr/local/cargo
COPY --from=rust /usr/local/rustup /usr/local/rustup
ENV CARGO_HOME=/usr/local/cargo RUSTUP_HOME=/usr/local/rustup PATH=/usr/local/cargo/bin:$PATH
RUN apt-get update && apt-get install -y --no-install-recommends gcc git libc6-dev make perl
WORKDIR /txid
COPY . .
RUN make build && make install DESTDIR=/packed LUA_LIB_DIR=/usr/local/openresty/site/lualib

FROM openresty/openresty:bookworm
COPY --from=workshop /packed/ /
