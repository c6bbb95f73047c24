# OpenResty with txid, which serves examples/nginx.conf as a user that is not root:
#
#     docker build -t openresty-txid . && docker run --rm -p 8080:8080 openresty-txid
#
# For your own configuration, mount a directory with nginx.conf and logs/ at /srv/txid. BASE is another image of OpenResty.
# The stage "workshop" also has what building and testing need; docker-compose.yml runs make in it.
ARG BASE=openresty/openresty:bookworm

FROM rust:1-bookworm AS rust

FROM $BASE AS workshop
COPY --from=rust /usr/local/cargo /usr/local/cargo
COPY --from=rust /usr/local/rustup /usr/local/rustup
ENV CARGO_HOME=/usr/local/cargo RUSTUP_HOME=/usr/local/rustup PATH=/usr/local/cargo/bin:$PATH
RUN apt-get update && apt-get install -y --no-install-recommends gcc git libc6-dev make perl
WORKDIR /txid
COPY . .
RUN make build && make install DESTDIR=/packed LUA_LIB_DIR=/usr/local/openresty/site/lualib \
    && install -d -o nobody /packed/srv/txid/logs && install -m 644 web/index.html /packed/srv/txid/reader.html \
    && sed 's/127\.0\.0\.1:8080/8080/' examples/nginx.conf >/packed/srv/txid/nginx.conf && chown nobody /packed/srv/txid

FROM $BASE
COPY --from=workshop /packed/ /
# nginx makes sockets with relative names in its working directory.
WORKDIR /srv/txid
USER nobody
EXPOSE 8080
CMD ["openresty", "-p", "/srv/txid/", "-c", "nginx.conf", "-e", "stderr", "-g", "daemon off;"]
STOPSIGNAL SIGQUIT
