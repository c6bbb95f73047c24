package Test::Nginx::Socket::Lua;

# Part of a stand-in for CPAN's Test::Nginx that uses the same names; see
# Test::Nginx::Socket.

use strict;
use warnings;
use parent 'Test::Nginx::Socket';

1;
