import { styleText } from 'node:util';
import {
  catchError,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  interval,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  switchMap,
  take,
  tap,
} from 'rxjs';
import { hasCode } from '../file/durable.js';
import { type Sandbox, type SandboxProfile, startSandbox } from '../sandbox/index.js';
import { parseOptions, readInteger, readOneOf } from './arguments.js';
import { help } from './help.js';
import type { Output } from './output.js';
import { interruptions, messageOf, type World } from './World.js';

/** `canton-rx sandbox`; emits the exit code, once. */
export function sandboxCommand(args: readonly string[], { stdout, stderr, signals }: World): Observable<number> {
  const options = readSandboxOptions(args);
  if (options === 'help') {
    stdout.write(`${help.sandbox}\n`);
    return of(0);
  }
  const serve = (sandbox: Sandbox): Observable<unknown> => {
    sandbox.generate(options.updates, options);
    stdout.write(greeting(sandbox, options, stdout));
    return merge(NEVER, generateTraffic(sandbox, options)).pipe(finalize(() => void sandbox.close()));
  };
  const served$ = defer(() => startSandbox(options)).pipe(switchMap(serve), ignoreElements());
  return merge(interruptions(signals), served$).pipe(
    take(1),
    map(() => 0),
    catchError((error: unknown) => {
      stderr.write(`${failureMessage(error, options)}\n`);
      return of(1);
    }),
  );
}

/** How to run the sandbox. */
interface SandboxCommandOptions {
  readonly port: number;
  readonly profile: SandboxProfile;
  /** How many updates to start with. */
  readonly updates: number;
  /** How many updates to generate per second. */
  readonly rate: number;
  readonly seed: number;
  readonly cors: boolean;
}

/** The options in the arguments, or `'help'`. Throws a `UsageError`. */
function readSandboxOptions(args: readonly string[]): SandboxCommandOptions | 'help' {
  const values = parseOptions(args, {
    port: { type: 'string' },
    profile: { type: 'string' },
    updates: { type: 'string' },
    rate: { type: 'string' },
    seed: { type: 'string' },
    cors: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return 'help';
  return {
    port: readInteger('port', values.port, 7575, 65_535),
    profile: readOneOf('profile', values.profile ?? '3.5', ['3.4', '3.5', '3.6']),
    // the sandbox keeps all updates in memory
    updates: readInteger('updates', values.updates, 0, 10_000_000),
    rate: readInteger('rate', values.rate, 0, 100_000),
    seed: readInteger('seed', values.seed, 1),
    cors: values.cors ?? false,
  };
}

/** Where the sandbox runs, and commands to try. */
function greeting(sandbox: Sandbox, { profile, rate }: SandboxCommandOptions, stream: Output): string {
  const { url, ledgerEnd, parties } = sandbox;
  const strong = (text: string): string => styleText('bold', text, { stream });
  const faint = (text: string): string => styleText('dim', text, { stream });
  const traffic = rate === 0 ? 'no traffic' : `${rate} ${rate === 1 ? 'update' : 'updates'} per second`;
  return `${strong(url)}  ${faint(`behaves like Canton ${profile}, ledger end ${ledgerEnd}, ${traffic}`)}

  canton-rx tail --ledger ${url}
  canton-rx tail --ledger ${url} --from end --party ${parties[0] ?? ''}

${faint('Ctrl-C stops it; nothing is saved.')}
`;
}

const tickMs = 50;

/** Generates updates at a rate while subscribed. */
const generateTraffic = (sandbox: Sandbox, { rate, seed }: SandboxCommandOptions): Observable<unknown> =>
  rate === 0
    ? EMPTY
    : defer(() => {
        const startedAt = Date.now();
        let generated = 0;
        return interval(Math.max(tickMs, 1_000 / rate)).pipe(
          tap(() => {
            // by the clock, so that a late tick does not lower the rate
            const due = Math.floor(((Date.now() - startedAt) * rate) / 1_000) - generated;
            sandbox.generate(due, { seed });
            generated += due;
          }),
        );
      });

const failureMessage = (error: unknown, { port }: SandboxCommandOptions): string =>
  hasCode(error, 'EADDRINUSE') ? `port ${port} is in use: choose another with --port` : messageOf(error);
