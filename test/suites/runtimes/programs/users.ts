import { EMPTY, type Observable, of } from 'rxjs';
import { contractsFor, type ContractChange, type LiveContracts } from '../../../../src/contracts/index.js';
import { alice, bob, contract, ServerView } from '../../../sse/support.js';

/** The headers of a request: of Node.js and Fastify, of Hono, or of the standard. */
type Headed =
  | { readonly headers: Headers | { readonly authorization?: string | undefined } }
  | { readonly req: { readonly header: (name: string) => string | undefined } };

const view = new ServerView('any');
view.reset([contract('a'), contract('b', [bob])]);
const views = new Map<string, LiveContracts>(
  [alice, bob].map((party) => [`Bearer ${party}`, contractsFor(view.live, [party])]),
);
let changes = 0;

/** Replaces a contract of alice by another one. */
function change(payload: string): void {
  changes += 1;
  const add = [contract(`c${changes}`, [alice], { payload, offset: view.offset + 1 })];
  view.change({ add, remove: [`c${changes - 1}`] });
}

/** Returns the view of the user of a request. Other tokens make something happen, as the test says. */
export function viewOf(request: Headed): { readonly changes$: Observable<ContractChange> } | undefined {
  const token = tokenOf(request);
  switch (token) {
    case 'Bearer change':
      change('little');
      return { changes$: EMPTY };
    case 'Bearer flood':
      for (let count = 0; count < 10; count += 1) change('x'.repeat(100_000));
      return { changes$: EMPTY };
    case 'Bearer count':
      return { changes$: of({ _tag: 'Reset', reason: 'start', offset: view.subscriptions, contracts: [] }) };
    default:
      return views.get(token ?? '');
  }
}

function tokenOf(request: Headed): string | undefined {
  if ('req' in request && 'header' in request.req) return request.req.header('authorization');
  if (!('headers' in request)) return undefined;
  const { headers } = request;
  return headers instanceof Headers ? (headers.get('authorization') ?? undefined) : headers.authorization;
}
