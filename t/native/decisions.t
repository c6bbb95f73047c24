# What of a request goes on: each row of tests/vectors/decisions.json.

use lib 't/support';
use Decisions;
use Native;

Decisions::run('NativeNginx', 'NativeNginxOfGrpc', 'VariablesOfNginx');
