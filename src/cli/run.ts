import { catchError, concatMap, defer, EMPTY, map, type Observable, of, switchMap, throwError } from 'rxjs';
import { ledgerUrlOf, redactSecrets, suggest, UsageError } from './arguments.js';
import { infoFor } from './help.js';
import { quoteArgument } from './shell.js';
import { escapeText } from './terminal.js';
import { errorLine, hasCode, runToEnd, unwritableMessage, type World } from './World.js';

/**
 * Runs a command line and emits the exit code, once: 0 on success, 1 on a failure, 2 for bad arguments. The help of a command
 * documents any others.
 */
export const run = (world: World): Observable<number> =>
  defer(() => {
    const { stdout, stderr } = world;
    // never removed: an unhandled error of a stream ends the process, and that of a closed pipe may come late
    for (const output of [stdout, stderr]) output.on('error', () => undefined);
    return dispatch(world).pipe(concatMap((code) => (code === 0 ? checkPrinted(world) : of(code))));
  }).pipe(
    catchError((error: unknown) => {
      if (!(error instanceof UsageError)) return throwError(() => error);
      // it quotes arguments, which may have line feeds
      world.stderr.write(errorLine(escapeText(redactSecrets(error.message))));
      return of(2);
    }),
  );

/** Emits 0 when everything that was written to stdout is passed on, or 1 with a message if it cannot be. */
const checkPrinted = (world: World): Observable<number> =>
  runToEnd(world, EMPTY).pipe(
    map((outcome) => {
      const { stdout, stderr } = world;
      // the first failure counts: later writes only say that the stream is destroyed
      const error = stdout.errored ?? (outcome.kind === 'unwritable' ? outcome.error : undefined);
      if (error == null || hasCode(error, 'EPIPE')) return 0;
      stderr.write(unwritableMessage(error));
      return 1;
    }),
  );

/** Runs a command and emits its exit code, once. */
type Command = (args: readonly string[], world: World) => Observable<number>;

/** Loads a command: each starts without the code of the others. */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['check', async () => (await import('./check/check.js')).checkCommand],
  ['contracts', async () => (await import('./contracts/contracts.js')).contractsCommand],
  ['tail', async () => (await import('./tail.js')).tailCommand],
  ['replay', async () => (await import('./replay/replay.js')).replayCommand],
  ['submit', async () => (await import('./submit.js')).submitCommand],
  ['project', async () => (await import('./project/project.js')).projectCommand],
  ['processors', async () => (await import('./processors.js')).processorsCommand],
  ['parked', async () => (await import('./processors.js')).parkedCommand],
  ['outbox', async () => (await import('./outbox.js')).outboxCommand],
  ['sandbox', async () => (await import('./sandbox.js')).sandboxCommand],
  ['completion', async () => (await import('./completion.js')).completionCommand],
  ['demo', async () => (await import('./demo.js')).demoCommand],
]);

function dispatch(world: World): Observable<number> {
  const info = infoFor(world.argv);
  if (info !== undefined) {
    world.stdout.write(info);
    return of(0);
  }
  const [name, ...args] = world.argv;
  const load = commands.get(name ?? '');
  if (load === undefined) throw new UsageError(noCommandMessage(name));
  return defer(load).pipe(switchMap((command) => command(args, world)));
}

function noCommandMessage(name: string | undefined): string {
  const names = [...commands.keys()];
  const choice = `use one of ${names.join(', ')} (canton-rx --help)`;
  if (name === undefined) return `no command: ${choice}`;
  if (name.startsWith('-')) return `the first argument must be a command, got '${name}': ${choice}`;
  const url = ledgerUrlOf(name);
  if (url !== undefined)
    return `unknown command '${name}': did you mean canton-rx check --ledger ${quoteArgument(url)}?`;
  const similar = suggest(name, names);
  return `unknown command '${name}': ${similar === undefined ? choice : `did you mean ${similar}? (canton-rx --help)`}`;
}
