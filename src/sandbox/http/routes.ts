import { catchError, defer, isObservable, type Observable, of } from 'rxjs';
import { getActiveContractsPage, selectActiveContracts } from '../endpoints/activeContracts.js';
import {
  completionsPath,
  selectCompletions,
  submitAndWait,
  submitAndWaitForTransaction,
  submitAsync,
} from '../endpoints/commands.js';
import { execute, getCompletionByHash } from '../endpoints/execute.js';
import { listOf, type Selected, streamOf } from '../endpoints/follow.js';
import { prepare } from '../endpoints/prepare.js';
import { submitAndWaitForReassignment, submitReassignmentAsync } from '../endpoints/reassign.js';
import {
  getAuthenticatedUser,
  getConnectedSynchronizers,
  getEventsByContractId,
  getLedgerEnd,
  getPackages,
  getParticipantId,
  getParties,
  getPrunedOffsets,
  getUserRights,
  getVersion,
  uploadDar,
} from '../endpoints/state.js';
import {
  flatsPath,
  getUpdateById,
  getUpdateByOffset,
  selectUpdateRange,
  getUpdatesPage,
} from '../endpoints/updates.js';
import { requestError, RequestError } from '../errors.js';
import type { Settings } from '../participant/Settings.js';
import type { SandboxProfile } from '../SandboxChanges.js';
import {
  type Answer,
  type Call,
  errorAnswer,
  type Handler,
  jsonAnswer,
  type Route,
  type Stream,
  textAnswer,
} from './Call.js';
import { refuseContentType } from './door.js';

const get = (handler: Handler, rest: Route = {}): Route => ({ GET: handler, ...rest });

const post = (handler: Handler, rest: Route = {}): Route => ({ POST: handler, ...rest });

/** An endpoint that serves a list by POST, and the same elements as a WebSocket. */
const list = (select: (call: Call) => Selected, rest: Route = {}): Route =>
  post(listOf(select), { stream: streamOf(select), ...rest });

const livez: Answer = { status: 200, body: '' };

const readyz: Answer = textAnswer(200, '[+] ledger ok (SERVING)\nreadyz check passed\n');

/** The status of an endpoint that a release line introduced. */
const missingBefore =
  (release: SandboxProfile): NonNullable<Route['missing']> =>
  ({ profile }) =>
    profile < release ? 404 : undefined;

/** The endpoints, by path. */
const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/v2/updates', list(selectUpdateRange)],
  [flatsPath, list(selectUpdateRange, { essential: true, missing: missingFlats })],
  ['/v2/updates/update-by-id', post(getUpdateById)],
  ['/v2/updates/update-by-offset', post(getUpdateByOffset)],
  ['/v2/updates/get-updates-page', post(getUpdatesPage, { missing: missingBefore('3.5') })],
  ['/v2/state/active-contracts', list(selectActiveContracts)],
  ['/v2/state/active-contracts-page', post(getActiveContractsPage, { missing: missingPages })],
  ['/v2/state/ledger-end', get(getLedgerEnd)],
  ['/v2/state/latest-pruned-offsets', get(getPrunedOffsets)],
  ['/v2/state/connected-synchronizers', get(getConnectedSynchronizers)],
  ['/v2/events/events-by-contract-id', post(getEventsByContractId)],
  ['/v2/parties', get(getParties)],
  ['/v2/parties/participant-id', get(getParticipantId)],
  ['/v2/authenticated-user', get(getAuthenticatedUser)],
  ['/v2/packages', post(uploadDar, { GET: getPackages, binary: true })],
  ['/v2/dars', post(uploadDar, { binary: true })],
  ['/v2/interactive-submission/prepare', post(prepare)],
  [
    '/v2/interactive-submission/executeAndWaitForTransaction',
    post(execute, { essential: true, missing: missingBefore('3.4') }),
  ],
  ['/v2/commands/submit-and-wait', post(submitAndWait)],
  ['/v2/commands/submit-and-wait-for-transaction', post(submitAndWaitForTransaction)],
  ['/v2/commands/submit-and-wait-for-reassignment', post(submitAndWaitForReassignment)],
  ['/v2/commands/async/submit', post(submitAsync)],
  ['/v2/commands/async/submit-reassignment', post(submitReassignmentAsync)],
  ['/v2/commands/completions', list(selectCompletions)],
  [completionsPath, list(selectCompletions, { missing: missingBefore('3.5') })],
  ['/v2/commands/completion-by-hash', post(getCompletionByHash, { missing: missingBefore('3.6') })],
  ['/v2/version', get(getVersion, { open: true })],
  ['/livez', get(() => livez, { open: true })],
  ['/readyz', get(() => readyz, { open: true })],
]);

/** The path of the rights of a user. */
const rightsPath = /^\/v2\/users\/[^/]+\/rights$/;

const userRights = get(getUserRights);

/** Returns the endpoint of a path. */
const routeOf = (path: string): Route | undefined => (rightsPath.test(path) ? userRights : routes.get(path));

function missingFlats({ profile }: Settings) {
  return profile >= '3.7' ? 404 : undefined;
}

function missingPages({ profile, activeContractsPages }: Settings) {
  if (profile < '3.5') return 404;
  return activeContractsPages ? undefined : 405;
}

/** Finds the stream that a path serves to WebSockets. */
export function findStream(path: string, settings: Settings): Stream | undefined {
  const route = routes.get(path);
  return settings.interfaceOnly || route?.missing?.(settings) !== undefined ? undefined : route?.stream;
}

/** Finds the endpoint of a request and calls it. */
export const dispatch = (call: Call): Observable<Answer> =>
  defer(() => {
    const answer = callHandler(call);
    return isObservable(answer) ? answer : of(answer);
  }).pipe(
    catchError((error: unknown) =>
      of(
        error instanceof RequestError
          ? errorAnswer(error, call.trace.id)
          : textAnswer(500, `The sandbox failed: ${String(error)}`),
      ),
    ),
  );

function callHandler(call: Call): ReturnType<Handler> {
  const { method, path, headers } = call;
  const route = routeOf(path);
  const { settings } = call.participant;
  const missing = route?.missing?.(settings);
  const isUnknown = route === undefined || missing === 404 || (settings.interfaceOnly && route.essential !== true);
  // a participant responds to a GET without an upgrade, where it serves WebSockets, as to an unknown path
  if (isUnknown || (method === 'GET' && findStream(path, settings) !== undefined)) {
    const errors = [`HttpMethod(${method}), uri: http://${headers.host ?? ''}${path}`];
    return jsonAnswer({ errors, status: 404, ledgerApiError: null }, 404);
  }
  const handler = method === 'GET' || method === 'POST' ? route[method] : undefined;
  if (handler === undefined || missing === 405) return textAnswer(405, 'Method Not Allowed');
  const refusal = refuseContentType(call, route);
  if (refusal !== undefined) return refusal;
  if (route.open !== true && !call.isAuthorized()) throw requestError('UNAUTHENTICATED', 'no good token');
  return handler(call);
}
