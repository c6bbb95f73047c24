# To be sourced. Sets nginx to the binary to use (OpenResty's if there is one), and modules to the files of the dynamic
# modules in $wanted that it must load, in that order.

if command -v openresty >/dev/null 2>&1; then
    nginx=$(command -v openresty)
else
    nginx=$(PATH="$PATH:/usr/sbin" command -v nginx) || { echo "txid: nginx was not found" >&2; exit 1; }
fi

modules_path=$("$nginx" -V 2>&1 | tr ' ' '\n' | sed -n 's/^--modules-path=//p')
modules=
for module in $wanted; do
    file="$modules_path/$module.so"
    # A module without a file is built in, as all are in OpenResty, or not installed.
    [ ! -f "$file" ] || modules="$modules $file"
done

# asan_nginx FILE: writes a program that runs this nginx with AddressSanitizer, for libraries that were built for it.
asan_nginx() {
    cat >"$1" <<END
#!/bin/sh
ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 LD_PRELOAD="$(cc -print-file-name=libasan.so)" exec "$nginx" "\$@"
END
    chmod 755 "$1"
}
