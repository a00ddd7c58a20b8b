import { catchError, defer, type Observable, of, throwError } from 'rxjs';
import { UsageError, withoutTokens } from './arguments.js';
import { checkCommand } from './check/checkCommand.js';
import { demoCommand } from './demo/demoCommand.js';
import { help } from './help.js';
import { replayCommand } from './replay/replay.js';
import { sandboxCommand } from './sandbox.js';
import { tailCommand } from './tail/tail.js';
import { version, type World } from './World.js';

/**
 * Runs what the arguments say and emits the exit code, once: 0 when all went well, 1 on a failure, 2 for bad arguments; others
 * are told by the command that has them.
 */
export const run = (world: World): Observable<number> =>
  defer(() => {
    const { stdout, stderr } = world;
    // for good: an error of a stream that nobody listens to kills the process, and a closed pipe's may come late
    for (const output of [stdout, stderr]) output.on('error', () => undefined);
    return dispatched(world);
  }).pipe(
    catchError((error: unknown) => {
      if (!(error instanceof UsageError)) return throwError(() => error);
      world.stderr.write(`canton-rx: ${withoutTokens(error.message)}\n`);
      return of(2);
    }),
  );

/** What runs a command; emits its exit code, once. */
type Command = (args: readonly string[], world: World) => Observable<number>;

const commands: ReadonlyMap<string, Command> = new Map([
  ['check', checkCommand],
  ['tail', tailCommand],
  ['replay', replayCommand],
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

function dispatched(world: World): Observable<number> {
  const [first, ...args] = world.argv;
  if (first === undefined) throw new UsageError(`a command is missing: ${names} (canton-rx --help)`);
  const command = commands.get(first);
  if (command !== undefined) return command(args, world);
  const text = texts.get(first)?.();
  if (text === undefined) throw new UsageError(`there is no command '${first}', only ${names} (canton-rx --help)`);
  world.stdout.write(`${text}\n`);
  return of(0);
}
