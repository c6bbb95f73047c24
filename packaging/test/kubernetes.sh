# The files of docs/ingress.md and of the packages for gateways: their snippets of nginx work in Debian's nginx with the module. All objects are
# checked against Kubernetes' schemas; with CRDS=, files with the CustomResourceDefinitions of the gateways, also what these describe.
. packaging/test/_common.sh

[ -f target/nginx/ngx_http_txid_module.so ] || make --no-print-directory nginx-module
files=$(find examples packaging -name '*.yml' | grep -Ev 'compose|alerts' | sort)

# snippets FILE: of a ConfigMap or of a SnippetsPolicy, as "main", "http" and "location".
cat >"$tmp/snippets.pl" <<'END_OF_PERL'
use strict;
use warnings;
use YAML::XS qw(LoadFile);
my ($file, $directory) = @ARGV;
my %snippets;
for my $object (LoadFile($file)) {
    my $data = $object->{data} // {};
    $snippets{$_} = $data->{"$_-snippets"} for grep { $data->{"$_-snippets"} } qw(main http);
    $snippets{$_->{context} =~ s/.*\.//r} = $_->{value} for @{ $object->{spec}{snippets} // [] };
    $snippets{log} = $data->{'log-format'} // $object->{spec}{logging}{accessLog}{format} // $snippets{log};
}
for my $name (qw(main http log)) {
    open my $out, '>', "$directory/$name.conf" or die $!;
    print $out $snippets{$name} // die "$file has no snippet for $name\n";
}
END_OF_PERL
for example in examples/kubernetes/*.yml; do
    prefix=$tmp/$(basename "$example" .yml)
    mkdir -p "$prefix/logs" "$prefix/modules"
    chmod 755 "$tmp" "$prefix"
    perl "$tmp/snippets.pl" "$example" "$prefix"
    port=$(free_port) upstream=$(free_port)
    ln -s "$PWD"/target/nginx/*.so "$prefix/modules/"
    cat >"$prefix/nginx.conf" <<END_OF_CONF
$(sed "s|load_module modules/|load_module $prefix/modules/|" "$prefix/main.conf")
pid logs/nginx.pid;
error_log logs/error.log;
events {}
http {
    $(cat "$prefix/http.conf")
    log_format main '$(cat "$prefix/log.conf")';
    access_log logs/access.log main;
    server {
        listen 127.0.0.1:$port;
        location / { proxy_pass http://127.0.0.1:$upstream; }
    }
    server {
        listen 127.0.0.1:$upstream;
        access_log off;
        txid_handle off;
        location / { return 200 "\$http_x_request_id"; }
    }
}
END_OF_CONF
    /usr/sbin/nginx -p "$prefix/" -c nginx.conf
    trap 'kill "$(cat "$prefix/logs/nginx.pid")"' EXIT
    said=$(perl -MHTTP::Tiny -e 'my $r = HTTP::Tiny->new(timeout => 60)->get(shift); print $r->{headers}{"x-request-id"} // "none", " ", $r->{content}' "http://127.0.0.1:$port/")
    id=${said% *}
    is_id "$id" "$example"
    [ "$said" = "$id $id" ] || fail "$example: the client and the upstream got $said"
    kill "$(cat "$prefix/logs/nginx.pid")"
    trap - EXIT
    grep -q " $id\$" "$prefix/logs/access.log" || fail "$example: the log has no $id: $(cat "$prefix/logs/access.log")"
done

# In a checkout that goes away with this test.
TXID_INSTALL=1 scripts/venv.sh target/kubernetes packaging/test/kubernetes.txt
# shellcheck disable=SC2086 # lists of files
target/kubernetes/bin/python packaging/test/schemas.py "${CRDS-}" $files
