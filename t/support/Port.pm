package Port;

# A port that no other test file gets, nor an outgoing connection. The stand-in's way, also for the real Test::Nginx.

use strict;
use warnings;
use Exporter 'import';

require './t/lib/Test/Nginx/StandIn/Ports.pm';

our @EXPORT_OK = qw(free_port);

sub free_port { return Test::Nginx::StandIn::Ports::reserve_ports() }

1;
