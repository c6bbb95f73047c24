# $request_txid, whatever nginx does with the request: the cases of t/request/redirects.t with the nginx module. Lua only observes.

use lib 't/support';
use Native;
use Test::Nginx::Socket::Lua 'no_plan';
use Suite;
use Redirects;

my ($cases) = do { local (@ARGV, $/) = 't/request/redirects.t'; <> } =~ /^__DATA__\n(.*)/ms or die 'no cases';
spec_string($cases);

Redirects::serve_by(native => 'txid_response_header X-Request-Id; proxy_set_header X-Request-Id $request_txid;');

run_tests();
