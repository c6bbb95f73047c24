# Whose ids and traces go on, with resty.txid.request.

use lib 't/support';
use Decisions;

Decisions::run($ENV{TXID_WITHOUT_LIBRARY} ? 'LuaNginxWithoutLibrary' : 'LuaNginx');
