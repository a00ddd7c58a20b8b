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
import { type Sandbox, type SandboxProfile, startSandbox } from '../sandbox/index.js';
import { parsed, readOneOf, readWhole } from './arguments.js';
import { help } from './help.js';
import { hasCode, interruptions, messageOf, type Output, type World } from './World.js';

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
    return merge(NEVER, traffic(sandbox, options)).pipe(finalize(() => void sandbox.close()));
  };
  const served$ = defer(() => startSandbox(options)).pipe(switchMap(serve), ignoreElements());
  return merge(interruptions(signals), served$).pipe(
    take(1),
    map(() => 0),
    catchError((error: unknown) => {
      stderr.write(`${failure(error, options)}\n`);
      return of(1);
    }),
  );
}

/** How to run the sandbox. */
interface SandboxCommandOptions {
  readonly port: number;
  readonly profile: SandboxProfile;
  /** How many updates to begin with. */
  readonly updates: number;
  /** How many to generate per second. */
  readonly rate: number;
  readonly seed: number;
  readonly cors: boolean;
}

/** What the arguments ask for; `'help'`, if that. Throws a `UsageError`. */
function readSandboxOptions(args: readonly string[]): SandboxCommandOptions | 'help' {
  const values = parsed(args, {
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
    port: readWhole('port', values.port, 7575, 65_535),
    profile: readOneOf('profile', values.profile ?? '3.5', ['3.4', '3.5', '3.6']),
    // all of it is kept in memory
    updates: readWhole('updates', values.updates, 0, 10_000_000),
    rate: readWhole('rate', values.rate, 0, 100_000),
    seed: readWhole('seed', values.seed, 1),
    cors: values.cors ?? false,
  };
}

/** What the sandbox says when it runs: where it is, and what to try. */
function greeting(sandbox: Sandbox, { profile, rate }: SandboxCommandOptions, stream: Output): string {
  const { url, ledgerEnd, parties } = sandbox;
  const strong = (text: string): string => styleText('bold', text, { stream });
  const faint = (text: string): string => styleText('dim', text, { stream });
  const growth = rate === 0 ? 'at rest' : `growing by ${rate} ${rate === 1 ? 'update' : 'updates'} a second`;
  return `${strong(url)}  ${faint(`a ledger as of Canton ${profile}, at offset ${ledgerEnd}, ${growth}`)}

  canton-rx tail --ledger ${url}
  canton-rx tail --ledger ${url} --from end --party ${parties[0] ?? ''}

${faint('Ctrl-C ends it; nothing is kept.')}
`;
}

const tickMs = 50;

/** Generates traffic at a rate for as long as it is subscribed. */
const traffic = (sandbox: Sandbox, { rate, seed }: SandboxCommandOptions): Observable<unknown> =>
  rate === 0
    ? EMPTY
    : defer(() => {
        const begin = Date.now();
        let made = 0;
        return interval(Math.max(tickMs, 1_000 / rate)).pipe(
          tap(() => {
            // by the clock, so that a late tick does not lower the rate
            const due = Math.floor(((Date.now() - begin) * rate) / 1_000) - made;
            sandbox.generate(due, { seed });
            made += due;
          }),
        );
      });

const failure = (error: unknown, { port }: SandboxCommandOptions): string =>
  hasCode(error, 'EADDRINUSE') ? `port ${port} is taken: choose another with --port` : messageOf(error);
