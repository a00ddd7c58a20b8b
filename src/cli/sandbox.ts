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
import { parseOptions, readInteger, readOneOf, UsageError } from './arguments.js';
import { tokenProvider } from './Connection.js';
import type { Output } from './output.js';
import { errorLine, interruptions, messageOf, type World } from './World.js';

/** `canton-rx sandbox`; emits the exit code, once. */
export function sandboxCommand(args: readonly string[], { stdout, stderr, signals }: World): Observable<number> {
  const options = readSandboxOptions(args);
  const { token } = options;
  const serve = (sandbox: Sandbox): Observable<unknown> => {
    sandbox.generate(options.updates, options);
    stdout.write(greeting(sandbox, options, stdout));
    return merge(NEVER, generateTraffic(sandbox, options)).pipe(finalize(() => void sandbox.close()));
  };
  const served$ = defer(() =>
    startSandbox({ ...options, ...(token !== undefined && { checkToken: (given) => given === token }) }),
  ).pipe(switchMap(serve), ignoreElements());
  return merge(interruptions(signals), served$).pipe(
    take(1),
    map(() => {
      stderr.write('stopped\n');
      return 0;
    }),
    catchError((error: unknown) => {
      stderr.write(errorLine(failureMessage(error, options)));
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
  /** The bearer token that every request must have. */
  readonly token: string | undefined;
  /** The file of the token, if it is in one. */
  readonly tokenFile: string | undefined;
}

/** The options in the arguments. Throws a `UsageError`. */
function readSandboxOptions(args: readonly string[]): SandboxCommandOptions {
  const values = parseOptions(args, {
    port: { type: 'string' },
    profile: { type: 'string' },
    updates: { type: 'string' },
    rate: { type: 'string' },
    seed: { type: 'string' },
    token: { type: 'string' },
    'token-file': { type: 'string' },
    cors: { type: 'boolean' },
  });
  return {
    port: readInteger('port', values.port, 7575, 65_535),
    profile: readOneOf('profile', values.profile ?? '3.5', ['3.4', '3.5', '3.6']),
    // the sandbox keeps all updates in memory
    updates: readInteger('updates', values.updates, 0, 10_000_000),
    rate: readInteger('rate', values.rate, 0, 100_000),
    seed: readInteger('seed', values.seed, 1),
    cors: values.cors ?? false,
    token: readSandboxToken(values),
    tokenFile: values['token-file'],
  };
}

/** The token of the arguments. Unlike that of a ledger it may be an argument: it protects nothing. */
function readSandboxToken(values: { readonly token?: string; readonly 'token-file'?: string }): string | undefined {
  const { token, 'token-file': file } = values;
  if (token !== undefined && file !== undefined) throw new UsageError('--token and --token-file exclude each other');
  return token === undefined
    ? tokenProvider(file, undefined)?.()
    : tokenProvider(undefined, token === '' ? ' ' : token, '--token')?.();
}

/** Where the sandbox runs, and commands to try. */
function greeting(
  sandbox: Sandbox,
  { profile, rate, token, tokenFile }: SandboxCommandOptions,
  stream: Output,
): string {
  const { url, ledgerEnd, parties } = sandbox;
  const strong = (text: string): string => styleText('bold', text, { stream });
  const faint = (text: string): string => styleText('dim', text, { stream });
  const traffic = rate === 0 ? 'no traffic' : `${rate} ${rate === 1 ? 'update' : 'updates'} per second`;
  const access = token === undefined ? '' : ', a token is required';
  const options = `--ledger ${url}${tokenFile === undefined ? '' : ` --token-file ${quote(tokenFile)}`}`;
  const variable =
    token !== undefined && tokenFile === undefined ? `  export CANTON_RX_LEDGER_TOKEN=${quote(token)}\n` : '';
  return `${strong(url)}  ${faint(`behaves like Canton ${profile}, ledger end ${ledgerEnd}, ${traffic}${access}`)}

${variable}  canton-rx tail ${options}
  canton-rx tail ${options} --from end --party ${parties[0] ?? ''}

${faint('Ctrl-C stops it; nothing is saved.')}
`;
}

/** An argument for a shell. */
const quote = (text: string): string => (/^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

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
