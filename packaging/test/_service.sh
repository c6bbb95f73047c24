# To be sourced after _common.sh: the agent's service in a Debian where the packages are installed, under its systemd.

# Runs in the container, with everything that it says in /root/said.
service_script() {
    cat <<'END'
#!/bin/bash
set -eu
exec >/root/said 2>&1
trap 'systemctl poweroff' EXIT
id() {
    exec 3<>/dev/tcp/127.0.0.1/8080
    printf 'GET / HTTP/1.0\r\n\r\n' >&3
    tail -n 1 <&3
}
agent() { systemctl show txid-agent --value --property="$1"; }
# At the boot, the agent was ready before nginx, whose master opens the file that the agent makes.
systemctl is-active txid-agent nginx
echo "type $(agent Type), status $(agent StatusText)"
ps -o user= -C txid-agent
ps -o user= -C nginx | sort -u | xargs
echo "first $(id)"
kill -KILL "$(agent MainPID)"
echo "without the agent $(id)"
for _ in $(seq 100); do
    sleep 0.2
    [ "$(systemctl is-active txid-agent)" != active ] || break
done
echo "restarts $(agent NRestarts), status $(agent StatusText)"
systemctl restart txid-agent
sleep 1
echo "after a restart $(id)"
systemctl stop txid-agent
echo "stopped: $(agent Result)"
echo "after the end $(id)"
echo whole
END
}

# service_works ROOT: writes to a copy of it.
service_works() {
    if ! systemd-nspawn --quiet --register=no --keep-unit -D "$1" true >"$tmp/nspawn" 2>&1; then
        echo "# the service was not started: systemd-nspawn does not work here: $(tail -n 1 "$tmp/nspawn")"
        return
    fi
    booted=$tmp/booted
    cp -a "$1" "$booted"
    service_script >"$booted/root/check"
    chmod 755 "$booted/root/check"
    printf 'store = "file:///var/lib/txid/leases"\n[nodes]\norders = "snowflake"\n' >"$booted/etc/txid/agent.toml"
    cat >"$booted/etc/nginx/conf.d/orders.conf" <<'END'
init_by_lua_block {
    order_id = require("resty.txid.snowflake").new { layout = "snowflake", node = "lease", state = "/run/txid/orders" }
}
server {
    listen 127.0.0.1:8080;
    location / { content_by_lua_block { local id, why = order_id() ngx.say(id or why) } }
}
END
    printf '[Unit]\nAfter=nginx.service\n[Service]\nExecStart=/root/check\n[Install]\nWantedBy=multi-user.target\n' \
        >"$booted/etc/systemd/system/check.service"
    # The store is not new: the first agent on it would wait for 80 s.
    chroot "$booted" sh -euc '
        mount -t proc proc /proc
        systemctl --quiet enable check txid-agent nginx
        txid-agent run --store file:///var/lib/txid/leases --dir /tmp/run --assume-unused-store --node orders=snowflake -- true
        chown -R txid: /var/lib/txid/leases
        rm -r /tmp/run
        umount /proc' >"$tmp/prepared" 2>&1 || fail "the container: $(cat "$tmp/prepared")"
    timeout 300 systemd-nspawn --register=no --keep-unit --private-network --boot -D "$booted" >"$tmp/nspawn" 2>&1 || :
    said=$(cat "$booted/root/said" || cat "$tmp/nspawn")
    order='[0-9]{15,19}'
    for line in 'active' 'type notify, status orders: took node [0-9]+, generation 2, .*' 'txid' 'root www-data' "first $order" \
        "without the agent $order" 'restarts 1, status orders: continues with node [0-9]+' "after a restart $order" \
        'stopped: success' 'after the end orders has no lease; txid-agent gave the node back when it was stopped' 'whole'; do
        printf '%s\n' "$said" | grep -Eqx "$line" || fail "the service: there is no line '$line' in: $said"
    done
    rm -rf "$booted"
}
