package Test::Nginx::StandIn::Sections;

# The sections a block may have. The real Test::Nginx ignores a section it does
# not know, so that a misspelt expectation passes; here it ends the run.

use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = qw(refuse_unknown_sections section);

my %known = map { $_ => 1 } qw(
    main_config http_config config suppress_stderr skip_eval
    request more_headers timeout
    error_code
    response_headers response_headers_like
    response_body response_body_like
    error_log no_error_log
    stream_config stream_server_config stream_response stream_response_like
);

# Fields that Test::Base itself keeps in a block.
my %bookkeeping = map { $_ => 1 } qw(
    name description seq_num is_filtered blocks_object original_values
    _section_map _section_order
);

sub refuse_unknown_sections {
    my ($block) = @_;
    my @unknown = grep { !$known{$_} && !$bookkeeping{$_} } sort keys %$block;
    return unless @unknown;
    die sprintf "%s - unknown section: %s\n", $block->name,
        join ', ', map {"--- $_"} @unknown;
}

# A block's accessors return an empty list for a missing section, which would
# shift the arguments after it in a call.
sub section {
    my ($block, $name) = @_;
    return scalar $block->$name;
}

1;
