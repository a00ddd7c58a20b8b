import { listActiveContracts, streamActiveContracts } from '../endpoints/activeContracts.js';
import { getActiveContractsPage } from '../endpoints/activeContractsPage.js';
import { execute } from '../endpoints/execute.js';
import { prepare } from '../endpoints/prepare.js';
import { getEventsByContractId } from '../endpoints/events.js';
import {
  getConnectedSynchronizers,
  getLedgerEnd,
  getParticipantId,
  getPrunedOffsets,
  getVersion,
} from '../endpoints/state.js';
import {
  getUpdateById,
  getUpdateByOffset,
  listFlatUpdates,
  listUpdates,
  streamFlatUpdates,
  streamUpdates,
} from '../endpoints/updates.js';
import { RequestError, requestError } from '../errors.js';
import type { Settings } from '../participant/Settings.js';
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route, type Stream, textAnswer } from './Call.js';
import type { ParsedRequest } from './requests.js';

/** The endpoints, by path. */
const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/v2/updates', { method: 'POST', handler: listUpdates, stream: streamUpdates }],
  ['/v2/updates/flats', { method: 'POST', handler: listFlatUpdates, stream: streamFlatUpdates, essential: true }],
  ['/v2/updates/update-by-id', { method: 'POST', handler: getUpdateById }],
  ['/v2/updates/update-by-offset', { method: 'POST', handler: getUpdateByOffset }],
  ['/v2/state/active-contracts', { method: 'POST', handler: listActiveContracts, stream: streamActiveContracts }],
  [
    '/v2/state/active-contracts-page',
    {
      method: 'POST',
      handler: getActiveContractsPage,
      missing({ profile, activeContractsPages }) {
        if (profile === '3.4') return 404;
        return activeContractsPages ? undefined : 405;
      },
    },
  ],
  ['/v2/state/ledger-end', { method: 'GET', handler: getLedgerEnd }],
  ['/v2/state/latest-pruned-offsets', { method: 'GET', handler: getPrunedOffsets }],
  ['/v2/state/connected-synchronizers', { method: 'GET', handler: getConnectedSynchronizers }],
  ['/v2/events/events-by-contract-id', { method: 'POST', handler: getEventsByContractId }],
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

/** Finds the stream that a path serves to WebSockets. */
export function findStream(path: string, { interfaceOnly }: Settings): Stream | undefined {
  return interfaceOnly ? undefined : routes.get(path)?.stream;
}

/** Finds the endpoint of a request and calls it. */
export async function dispatch({ method, path, headers }: ParsedRequest, call: Call): Promise<Answer> {
  const route = routes.get(path);
  const { settings } = call.participant;
  const missing = route?.missing?.(settings);
  if (route === undefined || missing === 404 || (settings.interfaceOnly && route.essential !== true)) {
    const errors = [`HttpMethod(${method}), uri: http://${headers.host ?? ''}${path}`];
    return jsonAnswer({ errors, status: 404, ledgerApiError: null }, 404);
  }
  if (method === 'GET' && findStream(path, settings) !== undefined) {
    return textAnswer(400, 'Expected WebSocket Upgrade request');
  }
  if (route.method !== method || missing === 405) return textAnswer(405, 'Method Not Allowed');
  try {
    if (route.open !== true && !call.isAuthorized()) throw requestError('UNAUTHENTICATED', 'no good token');
    return await route.handler(call);
  } catch (error) {
    if (error instanceof RequestError) return errorAnswer(error, call.trace.id);
    return textAnswer(500, `The sandbox failed: ${String(error)}`);
  }
}
