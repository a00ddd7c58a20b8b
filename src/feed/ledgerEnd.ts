import { map, type Observable } from 'rxjs';
import { LedgerEnd } from '../codecs/LedgerEnd.js';
import type { Offset } from '../codecs/Offset.js';
import { decoded } from '../http/decoded.js';
import { exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';

const path = '/v2/state/ledger-end';

/** The ledger's end, asked for once. */
export const ledgerEnd = (link: Link): Observable<Offset> =>
  exchange(link, { method: 'GET', path }, decoded(path, LedgerEnd)).pipe(map(({ offset }) => offset));
