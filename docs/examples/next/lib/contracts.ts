import { createLedger } from 'canton-rx';
import { contractsFor, type LiveContracts, liveContracts, partiesOf } from 'canton-rx/contracts';
import { fromEvent, map, merge, shareReplay, take } from 'rxjs';

/** The contracts of each user, out of one view of the ledger. There is no feed while there are no pages. */
function createViews() {
  const ledger = createLedger({ baseUrl: process.env.LEDGER_URL ?? 'http://127.0.0.1:7575' });
  const all = liveContracts(ledger, { parties: 'any' });
  // yours are in a database: here, alice has the hosted parties whose names begin with alice::
  const partiesOfUser = (user: string) =>
    partiesOf(ledger).pipe(map((parties) => parties.filter((party) => party.startsWith(`${user}::`))));
  const views = new Map<string, LiveContracts>();
  const viewOfUser = (user: string): LiveContracts => {
    const view = views.get(user) ?? contractsFor(all, partiesOfUser(user));
    views.set(user, view);
    return view;
  };
  // on a signal, Next waits until all responses have ended
  const signals$ = merge(fromEvent(process, 'SIGINT'), fromEvent(process, 'SIGTERM'));
  return { viewOfUser, stopping$: signals$.pipe(take(1), shareReplay(1)) };
}

// Next loads a module once for each kind of file, and again after an edit: what must exist once is kept outside
const kept = globalThis as { views?: ReturnType<typeof createViews> };
export const { viewOfUser, stopping$ } = (kept.views ??= createViews());
