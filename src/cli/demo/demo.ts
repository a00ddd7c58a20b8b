import { randomUUID } from 'node:crypto';
import {
  catchError,
  concat,
  concatMap,
  defer,
  delay,
  finalize,
  first,
  ignoreElements,
  interval,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  shareReplay,
  switchMap,
  take,
  tap,
  timeout,
  toArray,
} from 'rxjs';
import {
  acsDelta,
  type Command,
  createLedger,
  ofEvent,
  ofTransaction,
  type Signer,
  toEvents,
  type Transaction,
} from '../../index.js';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import { preparedTransactionVerifier } from '../../verify/index.js';
import { messageOf, type Output } from '../World.js';
import { demoScreen, type DemoScreen, type Match } from './screen.js';

/** Shows the library at work on a ledger of its own; emits the exit code, once. */
export const demo = (output: Output): Observable<number> =>
  defer(() => {
    // a pipe that is closed early is no failure of the library
    output.on('error', () => undefined);
    const screen = demoScreen(output);
    return defer(() => startSandbox()).pipe(
      switchMap((sandbox) => {
        sandbox.generate(12);
        screen.begin(sandbox.url);
        return story(sandbox, screen).pipe(finalize(() => void sandbox.close()));
      }),
      timeout(30_000),
      map((matches) => {
        const isWhole =
          matches.length === 2 && matches.every(({ committed, seen }) => committed.offset === seen.offset);
        if (!isWhole) throw new Error('the feed does not have what was committed');
        screen.end(matches.length);
        return 0;
      }),
      catchError((error: unknown) => {
        screen.failed(messageOf(error));
        return of(1);
      }),
    );
  });

const templateId = '#sandbox-assets:Main:Asset';

/** A ledger's feed, and two submissions of a party with its own key, both of them found in the feed. */
export function story(sandbox: Sandbox, screen: DemoScreen): Observable<readonly Match[]> {
  const ledger = createLedger({ baseUrl: sandbox.url });
  const { party, sign } = sandbox.externalParty('newcomer');

  // The feed: all that there is, then all that comes. Shared and kept, so that what has passed can still be found.
  const updateFormat = acsDelta({ parties: 'any' });
  const feed$ = ledger
    .updates({ beginExclusive: 0, updateFormat })
    .pipe(tap(screen.update), shareReplay({ bufferSize: Infinity, refCount: true }));

  // A submission: the ledger prepares it, the verifier compares it with what was asked for, the party signs, the ledger
  // executes it.
  const signer: Signer = { party, sign: (hash) => of(sign(Buffer.from(hash).toString('base64'))) };
  const verify = preparedTransactionVerifier();
  const submit = (command: Command): Observable<Transaction> =>
    ledger.submit({ commandId: randomUUID(), commands: [command], actAs: [party] }, signer, { verify });

  // A contract is created; then the one that the committed transaction tells of is archived.
  const createArguments = { owner: party, amount: '42.0', tag: 'gold', serial: '1' };
  const create$ = submit({ CreateCommand: { templateId, createArguments } });
  const archive$ = (created: Transaction): Observable<Transaction> =>
    of(created).pipe(
      toEvents(),
      ofEvent('CreatedEvent'),
      delay(800),
      concatMap(({ contractId }) =>
        submit({ ExerciseCommand: { templateId, contractId, choice: 'Archive', choiceArgument: {} } }),
      ),
    );

  // Whatever was committed is in the feed under the same id; it may be there before its own answer.
  const found$ = (committed: Transaction): Observable<Match> =>
    feed$.pipe(
      ofTransaction(committed),
      map((seen) => ({ committed, seen })),
    );

  const seeded = sandbox.ledgerEnd;
  const matches$ = feed$.pipe(
    first(({ offset }) => offset >= seeded),
    delay(800),
    concatMap(() => create$),
    concatMap((created) => concat(of(created), archive$(created))),
    tap(screen.committed),
    mergeMap(found$),
    tap(screen.matched),
    take(2),
    toArray(),
  );

  // Meanwhile others use the ledger too.
  const traffic$ = interval(120).pipe(tap(() => sandbox.generate(1)));
  return merge(matches$, merge(feed$, traffic$).pipe(ignoreElements())).pipe(take(1));
}
