import { catchError, defer, type Observable, of, switchMap, throwError } from 'rxjs';
import { redactSecrets, UsageError } from './arguments.js';
import { checkCommand } from './check/checkCommand.js';
import { demoCommand } from './demo/demoCommand.js';
import { help } from './help.js';
import { replayCommand } from './replay/replay.js';
import { sandboxCommand } from './sandbox.js';
import { tailCommand } from './tail/tail.js';
import { version, type World } from './World.js';

/**
 * Runs a command line and emits the exit code, once: 0 on success, 1 on a failure, 2 for bad arguments. The help of a command
 * documents any others.
 */
export const run = (world: World): Observable<number> =>
  defer(() => {
    const { stdout, stderr } = world;
    // never removed: an unhandled error of a stream ends the process, and that of a closed pipe may come late
    for (const output of [stdout, stderr]) output.on('error', () => undefined);
    return dispatch(world);
  }).pipe(
    catchError((error: unknown) => {
      if (!(error instanceof UsageError)) return throwError(() => error);
      world.stderr.write(`canton-rx: ${redactSecrets(error.message)}\n`);
      return of(2);
    }),
  );

/** Runs a command and emits its exit code, once. */
type Command = (args: readonly string[], world: World) => Observable<number>;

/** A command that is loaded when it runs: the others start without its code. */
const later =
  (load: () => Promise<Command>): Command =>
  (args, world) =>
    defer(load).pipe(switchMap((command) => command(args, world)));

const commands: ReadonlyMap<string, Command> = new Map([
  ['check', checkCommand],
  ['contracts', later(async () => (await import('./contracts/contractsCommand.js')).contractsCommand)],
  ['tail', tailCommand],
  ['replay', replayCommand],
  ['project', later(async () => (await import('./project/projectCommand.js')).projectCommand)],
  ['sandbox', sandboxCommand],
  ['demo', demoCommand],
]);

const names = [...commands.keys()].join(', ');

const texts: ReadonlyMap<string, () => string> = new Map([
  ['--help', () => help.main],
  ['-h', () => help.main],
  ['--version', version],
  ['-v', version],
]);

function dispatch(world: World): Observable<number> {
  const [first, ...args] = world.argv;
  if (first === undefined) throw new UsageError(`no command: use one of ${names} (canton-rx --help)`);
  const command = commands.get(first);
  if (command !== undefined) return command(args, world);
  const text = texts.get(first)?.();
  if (text === undefined) throw new UsageError(`unknown command '${first}': use one of ${names} (canton-rx --help)`);
  world.stdout.write(`${text}\n`);
  return of(0);
}
