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
import type { Output } from '../output.js';
import { messageOf } from '../World.js';
import { demoScreen, type DemoScreen, type Match } from './screen.js';

/** Shows the library at work on a new sandbox; emits the exit code, once. */
export const demo = (output: Output): Observable<number> =>
  defer(() => {
    // a pipe that is closed early is not a failure
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
        const isComplete =
          matches.length === 2 && matches.every(({ committed, received }) => committed.offset === received.offset);
        if (!isComplete) throw new Error('the feed lacks a committed transaction');
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

/** Reads the feed of a ledger, submits two commands of a party with its own key, and finds both in the feed. */
function story(sandbox: Sandbox, screen: DemoScreen): Observable<readonly Match[]> {
  const ledger = createLedger({ baseUrl: sandbox.url });
  const { party, sign } = sandbox.externalParty('newcomer');

  // The feed: all existing updates, then new ones. Shared and replayed, so that earlier updates can still be found.
  const updateFormat = acsDelta({ parties: 'any' });
  const feed$ = ledger
    .updates({ beginExclusive: 0, updateFormat })
    .pipe(tap(screen.update), shareReplay({ bufferSize: Infinity, refCount: true }));

  // A submission: the ledger prepares the transaction, the verifier compares it with the command, the party signs it, and
  // the ledger executes it.
  const signer: Signer = { party, sign: (hash) => of(sign(Buffer.from(hash).toString('base64'))) };
  const verify = preparedTransactionVerifier();
  const submit = (command: Command): Observable<Transaction> =>
    ledger.submit({ commandId: randomUUID(), commands: [command], actAs: [party] }, signer, { verify });

  // Create a contract, then archive the one in the committed transaction.
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

  // The feed has a committed transaction under the same id, possibly before the response to its submission.
  const findInFeed = (committed: Transaction): Observable<Match> =>
    feed$.pipe(
      ofTransaction(committed),
      map((received) => ({ committed, received })),
    );

  const startEnd = sandbox.ledgerEnd;
  const matches$ = feed$.pipe(
    first(({ offset }) => offset >= startEnd),
    delay(800),
    concatMap(() => create$),
    concatMap((created) => concat(of(created), archive$(created))),
    tap(screen.committed),
    mergeMap(findInFeed),
    tap(screen.matched),
    take(2),
    toArray(),
  );

  // Meanwhile the sandbox generates other traffic.
  const traffic$ = interval(120).pipe(tap(() => sandbox.generate(1)));
  return merge(matches$, merge(feed$, traffic$).pipe(ignoreElements())).pipe(take(1));
}
