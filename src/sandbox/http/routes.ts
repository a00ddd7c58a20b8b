import { execute } from '../endpoints/execute.js';
import { prepare } from '../endpoints/prepare.js';
import { getLedgerEnd, getParticipantId, getPrunedOffsets, getVersion } from '../endpoints/state.js';
import {
  getUpdateById,
  getUpdateByOffset,
  listFlatUpdates,
  listUpdates,
  streamFlatUpdates,
  streamUpdates,
} from '../endpoints/updates.js';
import { Refusal, refused } from '../errors.js';
import type { Settings } from '../participant/Settings.js';
import { type Answer, type Call, jsonAnswer, refusalAnswer, type Route, type Stream, textAnswer } from './Call.js';
import type { Work } from './requests.js';

/** The endpoints by path. */
const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
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

/** What a WebSocket gets at a path, `undefined` if there is none. */
export function streamAt(path: string, { interfaceOnly }: Settings): Stream | undefined {
  return interfaceOnly ? undefined : routes.get(path)?.stream;
}

/** Has a request handled by its endpoint. */
export async function dispatch({ method, path, headers }: Work, call: Call): Promise<Answer> {
  const found = routes.get(path);
  const { interfaceOnly } = call.participant.settings;
  if (found === undefined || (interfaceOnly && found.essential !== true)) {
    const errors = [`HttpMethod(${method}), uri: http://${headers.host ?? ''}${path}`];
    return jsonAnswer({ errors, status: 404, ledgerApiError: null }, 404);
  }
  if (method === 'GET' && streamAt(path, call.participant.settings) !== undefined) {
    return textAnswer(400, 'Expected WebSocket Upgrade request');
  }
  if (found.method !== method) return textAnswer(405, 'Method Not Allowed');
  try {
    if (found.open !== true && !call.isAuthorized()) throw refused('UNAUTHENTICATED', 'no good token');
    return await found.handler(call);
  } catch (error) {
    if (error instanceof Refusal) return refusalAnswer(error, call.trace.id);
    return textAnswer(500, `The sandbox failed: ${String(error)}`);
  }
}
