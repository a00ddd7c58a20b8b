import { getParticipantId } from '../parties/getParticipantId.js';
import { getLedgerEnd } from '../state/getLedgerEnd.js';
import { getPrunedOffsets } from '../state/getPrunedOffsets.js';
import { getVersion } from '../state/getVersion.js';
import { execute } from '../submission/execute.js';
import { prepare } from '../submission/prepare.js';
import { getUpdateById } from '../updates/getUpdateById.js';
import { getUpdateByOffset } from '../updates/getUpdateByOffset.js';
import { listFlatUpdates } from '../updates/listFlatUpdates.js';
import { listUpdates } from '../updates/listUpdates.js';
import { streamFlatUpdates } from '../updates/streamFlatUpdates.js';
import { streamUpdates } from '../updates/streamUpdates.js';
import type { Route } from './Route.js';
import { textAnswer } from './textAnswer.js';

/** The endpoints by path. */
export const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/v2/updates', { method: 'POST', handler: listUpdates, stream: streamUpdates }],
  ['/v2/updates/flats', { method: 'POST', handler: listFlatUpdates, stream: streamFlatUpdates, essential: true }],
  ['/v2/updates/update-by-id', { method: 'POST', handler: getUpdateById }],
  ['/v2/updates/update-by-offset', { method: 'POST', handler: getUpdateByOffset }],
  ['/v2/state/ledger-end', { method: 'GET', handler: getLedgerEnd }],
  ['/v2/state/latest-pruned-offsets', { method: 'GET', handler: getPrunedOffsets }],
  ['/v2/parties/participant-id', { method: 'GET', handler: getParticipantId }],
  ['/v2/interactive-submission/prepare', { method: 'POST', handler: prepare }],
  ['/v2/interactive-submission/executeAndWaitForTransaction', { method: 'POST', handler: execute, essential: true }],
  ['/v2/version', { method: 'GET', handler: getVersion, open: true }],
  ['/livez', { method: 'GET', handler: () => ({ status: 200, body: '' }), open: true }],
  [
    '/readyz',
    { method: 'GET', handler: () => textAnswer(200, '[+] ledger ok (SERVING)\nreadyz check passed\n'), open: true },
  ],
]);
