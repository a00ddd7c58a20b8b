import { defer, type Observable } from 'rxjs';
import { PreparedSubmission } from '../codecs/PreparedSubmission.js';
import { PrepareRequest } from '../codecs/PrepareRequest.js';
import { checked } from '../http/checked.js';
import { decoded } from '../http/decoded.js';
import { exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';

const path = '/v2/interactive-submission/prepare';

/** Has a submission prepared for signing. Changes nothing on the ledger. */
export const prepare = (link: Link, request: PrepareRequest): Observable<PreparedSubmission> =>
  defer(() =>
    exchange(link, { method: 'POST', path, body: checked(PrepareRequest, request) }, decoded(path, PreparedSubmission)),
  );
