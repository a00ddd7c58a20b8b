import {
  catchError,
  defer,
  endWith,
  fromEvent,
  ignoreElements,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  switchMap,
  take,
} from 'rxjs';
import type { SocketPort } from '../../http/SocketPort.js';
import { createLedger } from '../../ledger/createLedger.js';
import { UsageError } from '../arguments.js';
import { help } from '../help.js';
import { paintFor, statusLine } from '../terminal.js';
import { flushed, gapAdvice, hasCode, interruptions, messageOf, type Output, type World } from '../World.js';
import { printed, rowsFor } from './print.js';
import { type Progress, showProgress } from './progress.js';
import { readTailOptions, type TailOptions } from './TailOptions.js';

/** What makes a port of the package `ws`. */
interface WsModule {
  readonly wsPort: () => SocketPort;
}

/**
 * The WebSockets of a tail: those of `ws`, which send the token as a header; without the package those of Node.js, which
 * `undefined` stands for. Rejects with a {@link UsageError} where there are none.
 *
 * @param load - loads what needs the package
 */
export async function socketPort(
  load: () => Promise<WsModule> = () => import('../../ws/wsPort.js'),
): Promise<SocketPort | undefined> {
  try {
    const { wsPort } = await load();
    return wsPort();
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    if ('WebSocket' in globalThis) return undefined;
    throw new UsageError('--websocket needs the package ws with this version of Node.js: npm install ws');
  }
}

/** `canton-rx tail`; emits the exit code, once. */
export function tailCommand(args: readonly string[], world: World): Observable<number> {
  const options = readTailOptions(args, world);
  if (options === 'help') {
    world.stdout.write(`${help.tail}\n`);
    return of(0);
  }
  if (!options.isPushed) return tail(options, world);
  return defer(() => socketPort()).pipe(switchMap((port) => tail(options, world, port)));
}

/** How a tail came to its end: at `--to`, by a signal, because nobody reads any more, or by an error. */
type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'unwritable'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Prints updates until the feed ends, somebody ends it, or nobody reads any more; then emits the exit code, once. */
const tail = (options: TailOptions, world: World, webSocket?: SocketPort): Observable<number> =>
  defer(() => {
    const { ledger: baseUrl, token, to } = options;
    const { stdout, stderr, signals, env } = world;
    const ledger = createLedger({
      baseUrl,
      ...(token !== undefined && { token }),
      ...(webSocket !== undefined && { webSocket }),
    });
    const progress: Progress = { cursor: undefined, count: 0 };
    const status = statusLine(stderr, paintFor(stderr, env));
    const broken$ = fromEvent(stdout, 'error').pipe(map(outcomeOfOutput));
    const interrupted$ = interruptions(signals).pipe(map((): Outcome => ({ kind: 'interrupted' })));
    const ended$ = printed(ledger, options, { stdout, rowOf: rowsFor(options, world), status, progress }).pipe(
      map((): Outcome => ({ kind: 'done' })),
      catchError((error: unknown) => of<Outcome>({ kind: 'failed', error })),
    );
    const shown$ = showProgress(ledger, { progress, status, to }).pipe(ignoreElements());
    return merge(broken$, interrupted$, ended$, shown$).pipe(
      take(1),
      mergeMap((outcome) => settled(outcome, stdout)),
      map((outcome) => exitCodeOf(outcome, progress, stderr)),
    );
  });

/** What an error of stdout means: nobody reads any more, as behind `| head -1`; or it cannot be written to, as on a full disk. */
const outcomeOfOutput = (error: unknown): Outcome =>
  hasCode(error, 'EPIPE') ? { kind: 'closed' } : { kind: 'unwritable', error };

/** How it ended when what waits in the output is written, too: only then it is as good as printed. */
function settled(outcome: Outcome, stdout: Output): Observable<Outcome> {
  if (outcome.kind === 'closed' || outcome.kind === 'unwritable') return of(outcome);
  return flushed(stdout).pipe(
    endWith(outcome),
    catchError((error: unknown) => of(outcomeOfOutput(error))),
  );
}

/** Says on stderr what there is to say of the end, and returns the exit code. */
function exitCodeOf(outcome: Outcome, { cursor }: Progress, stderr: Output): number {
  const resume = cursor === undefined ? '' : `resume with --from ${cursor}\n`;
  switch (outcome.kind) {
    case 'done':
    case 'closed':
      return 0;
    case 'interrupted':
      stderr.write(resume);
      return 0;
    case 'failed':
      stderr.write(`${messageOf(outcome.error)}\n${adviceFor(outcome.error) ?? resume}`);
      return 1;
    case 'unwritable':
      // how much of it was written nobody knows
      stderr.write(`stdout cannot be written to: ${messageOf(outcome.error)}\n`);
      return 1;
  }
}

/** What to do where to resume would fail in the same way. */
function adviceFor(error: unknown): string | undefined {
  const advice = gapAdvice(error, {
    pruned: (earliest) => `--from ${earliest} goes on without it`,
    reset: 'its offsets mean something else now: begin with --from 0, or with --from end',
  });
  return advice && `${advice}\n`;
}
