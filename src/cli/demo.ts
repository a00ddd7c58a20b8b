import { randomUUID } from 'node:crypto';
import { catchError, concat, concatMap, defer, delay, finalize, first, ignoreElements, interval, map } from 'rxjs';
import { merge, mergeMap, type Observable, of, shareReplay, switchMap, take, tap, timeout, toArray } from 'rxjs';
import { acsDelta, type Command, createLedger, ofEvent, ofTransaction, type Signer, toEvents } from '../index.js';
import type { Transaction, Verifier } from '../index.js';
import { type Sandbox, startSandbox } from '../sandbox/index.js';
import { parseOptions } from './arguments.js';
import { prettyRows } from './pretty.js';
import { columnsOf, paintFor } from './terminal.js';
import { errorLine, hasCode, messageOf, type World } from './World.js';

const packages = '@canton-network/core-ledger-proto @canton-network/core-tx-visualizer';

/** `canton-rx demo`: shows the library at work on a new sandbox; emits the exit code, once. */
export function demoCommand(args: readonly string[], world: World): Observable<number> {
  parseOptions(args, {});
  const { stderr } = world;
  // loaded on demand: it imports optional packages that the other commands do not need
  return defer(() => import('../verify/index.js')).pipe(
    // started afterwards: without the packages, nothing would close it, and the command would not end
    concatMap(({ preparedTransactionVerifier }) => runDemo(preparedTransactionVerifier(), world)),
    timeout(30_000),
    map(() => 0),
    catchError((error: unknown) => {
      const advice = `the demo requires two optional packages to verify what it signs: npm install ${packages}`;
      stderr.write(errorLine(hasCode(error, 'ERR_MODULE_NOT_FOUND') ? advice : messageOf(error)));
      return of(1);
    }),
  );
}

/** Runs the demo on a new sandbox. */
const runDemo = (verify: Verifier, world: World): Observable<unknown> =>
  defer(() => startSandbox()).pipe(
    switchMap((sandbox) => demo(sandbox, verify, world).pipe(finalize(() => void sandbox.close()))),
  );

const templateId = '#sandbox-assets:Main:Asset';

/** Reads the feed of a ledger, submits two commands of a party with its own key, and finds both in the feed. */
function demo(sandbox: Sandbox, verify: Verifier, { stdout, env }: World): Observable<unknown> {
  const paint = paintFor(stdout, env);
  const say = (text: string): boolean => stdout.write(`${text}\n`);
  const row = prettyRows(() => columnsOf(stdout, 120), paint);
  const startedAt = performance.now();
  let updates = 0;
  sandbox.generate(12);
  const startEnd = sandbox.ledgerEnd;
  say(`\n${paint('bold', 'canton-rx')}  the feed of ${sandbox.url} and two submissions of an external party\n`);
  const ledger = createLedger({ baseUrl: sandbox.url });
  const { party, sign } = sandbox.externalParty('newcomer');

  // The feed: all existing updates, then new ones. Shared and replayed, so that earlier updates can still be found.
  const feed$ = ledger.updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }).pipe(
    tap((update) => {
      updates += 1;
      stdout.write(row(update));
    }),
    shareReplay({ bufferSize: Infinity, refCount: true }),
  );

  // A submission: the ledger prepares the transaction, the verifier compares it with the command, the party signs it, and
  // the ledger executes it.
  const signer: Signer = { party, sign: (hash) => of(sign(Buffer.from(hash).toString('base64'))) };
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

  const matches$ = feed$.pipe(
    first(({ offset }) => offset >= startEnd),
    delay(800),
    concatMap(() => create$),
    concatMap((created) => concat(of(created), archive$(created))),
    tap(({ updateId, offset, events }) => {
      const kinds = events.map(({ _tag }) => _tag.replace('Event', '').toLowerCase()).join(', ');
      say(paint('cyan', `▸ ${at(offset)}  signed by newcomer, committed as ${short(updateId)}: ${kinds}`));
    }),
    // the feed has a committed transaction under the same id, possibly before the response to its submission
    mergeMap((committed) => feed$.pipe(ofTransaction(committed))),
    tap(({ updateId, offset }) => say(paint('green', `✓ ${at(offset)}  matched: the feed has ${short(updateId)}`))),
    take(2),
    toArray(),
    tap(({ length }) => {
      if (length < 2) throw new Error('the feed lacks a committed transaction');
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      const found = `${length} submissions, all found among ${updates} updates of the feed in ${seconds} s`;
      say(`\n${paint('green', '✓')} ${found}\n`);
    }),
  );

  // Meanwhile the sandbox generates other traffic.
  const traffic$ = interval(120).pipe(tap(() => sandbox.generate(1)));
  return merge(matches$, merge(feed$, traffic$).pipe(ignoreElements())).pipe(take(1));
}

const at = (offset: number): string => String(offset).padStart(6);

const short = (id: string): string => `${id.slice(0, 12)}…`;
