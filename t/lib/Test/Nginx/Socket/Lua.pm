# Part of the stand-in for CPAN's Test::Nginx: see Test::Nginx::Socket.
package Test::Nginx::Socket::Lua;
use parent 'Test::Nginx::Socket';
1;
