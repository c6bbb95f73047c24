# To be sourced. Sets nginx to the binary to use (OpenResty's where there is one) and modules to the files of the dynamic
# modules named in $wanted that it has to load, in that order.

if command -v openresty >/dev/null 2>&1; then
    nginx=$(command -v openresty)
else
    nginx=$(PATH="$PATH:/usr/sbin" command -v nginx) || { echo "txid: there is no nginx" >&2; exit 1; }
fi

modules_path=$("$nginx" -V 2>&1 | tr ' ' '\n' | sed -n 's/^--modules-path=//p')
modules=
for module in $wanted; do
    file="$modules_path/$module.so"
    # What is not there as a file is built in, as everything is in OpenResty, or not to be had.
    [ ! -f "$file" ] || modules="$modules $file"
done
