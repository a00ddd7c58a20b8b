import {
  catchError,
  defer,
  EMPTY,
  finalize,
  from,
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
import { type Sandbox, type SandboxTemplate, startSandbox } from '../sandbox/index.js';
import { parseOptions, readInteger, readOneOf, UsageError } from './arguments.js';
import { tokenProvider } from './Connection.js';
import { quoteOption } from './shell.js';
import { type Paint, paintFor } from './terminal.js';
import { toolCommands } from './toolCommands.js';
import { errorLine, hasCode, interruptions, messageOf, unwritableMessage, type World, writeFailures } from './World.js';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** `canton-rx sandbox`; emits the exit code, once. */
export function sandboxCommand(args: readonly string[], { stdout, stderr, signals, env }: World): Observable<number> {
  const { participantId, templatesFile, ...options } = readSandboxOptions(args, env);
  const { token } = options;
  const serve = (sandbox: Sandbox, templates: readonly SandboxTemplate[]): Observable<unknown> => {
    sandbox.generate(options.updates, options);
    stdout.write(greeting(sandbox, { ...options, templates: templates.length }, paintFor(stdout, env)));
    return merge(NEVER, generateTraffic(sandbox, options)).pipe(finalize(() => void sandbox.close()));
  };
  const templates$ = templatesFile === undefined ? of([]) : loadTemplates(templatesFile);
  const served$ = templates$.pipe(
    switchMap((templates) => {
      const started = startSandbox({
        ...options,
        templates,
        ...(participantId !== undefined && { participantId }),
        ...(token !== undefined && { checkToken: (given) => given === token }),
      });
      return from(started).pipe(switchMap((sandbox) => serve(sandbox, templates)));
    }),
    ignoreElements(),
  );
  const stopped$ = interruptions(signals).pipe(map(() => ({ code: 0, text: 'stopped\n' })));
  // without the greeting, the user does not know the address
  const unwritable$ = writeFailures(stdout).pipe(map((error) => ({ code: 1, text: unwritableMessage(error) })));
  return merge(stopped$, unwritable$, served$).pipe(
    take(1),
    map(({ code, text }) => {
      stderr.write(text);
      return code;
    }),
    catchError((error: unknown) => {
      stderr.write(errorLine(failureMessage(error, options)));
      return of(1);
    }),
  );
}

/** How to run the sandbox: with `updates` at the start, and then `rate` of them in a second. */
type SandboxCommandOptions = Omit<ReturnType<typeof readSandboxOptions>, 'participantId' | 'templatesFile'>;

function readSandboxOptions(args: readonly string[], env: World['env']) {
  const values = parseOptions(args, toolCommands.sandbox.options);
  return {
    port: readInteger('port', values.port, 7575, 65_535),
    profile: readOneOf('profile', values.profile ?? '3.5', ['3.3', '3.4', '3.5', '3.6', '3.7']),
    // the sandbox keeps all updates in memory
    updates: readInteger('updates', values.updates, 0, 10_000_000),
    rate: readInteger('rate', values.rate, 0, 100_000),
    seed: readInteger('seed', values.seed, 1),
    participantId: readParticipantId(values['participant-id']),
    contention: (values.contend ?? false) ? 0.3 : 0,
    cors: readOrigins(values.cors, values['allow-origin']),
    // what requests must have; it is never printed
    token: tokenProvider(values['token-file'], env[tokenVariable], tokenVariable)?.(),
    tokenFile: values['token-file'],
    templatesFile: values.templates,
  };
}

/** The variable with the token. It differs from that of the other commands, which may be for a real ledger. */
const tokenVariable = 'CANTON_RX_SANDBOX_TOKEN';

/** The id of the participant; `undefined` for a new one. */
function readParticipantId(id?: string): string | undefined {
  if (id === undefined || /^[\w:-]+::[\w-]+$/.test(id)) return id;
  throw new UsageError(`--participant-id must be of the form NAME::FINGERPRINT, got '${id}'`);
}

/** The web pages that may send requests. */
function readOrigins(isLocal = false, origins?: readonly string[]): boolean | readonly string[] {
  if (origins === undefined) return isLocal;
  if (isLocal) throw new UsageError('--cors and --allow-origin exclude each other');
  const wrong = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
  if (wrong === undefined) return origins;
  throw new UsageError(`--allow-origin must be an origin such as http://localhost:5173, got '${wrong}'`);
}

/** Where the sandbox runs, and commands to try. */
function greeting(
  sandbox: Sandbox,
  { profile, rate, token, tokenFile, contention, templates }: SandboxCommandOptions & { readonly templates: number },
  paint: Paint,
): string {
  const { url, ledgerEnd, parties } = sandbox;
  const [party = ''] = parties;
  const traffic = rate === 0 ? 'no traffic' : `${rate} ${rate === 1 ? 'update' : 'updates'} per second`;
  const own = templates === 0 ? '' : `, ${templates} ${templates === 1 ? 'template' : 'templates'}`;
  const access = `${own}${contention === 0 ? '' : ', races for contracts'}${token === undefined ? '' : ', a token is required'}`;
  const options = `--ledger ${url}${tokenFile === undefined ? '' : ` ${quoteOption('token-file', tokenFile)}`}`;
  const variable =
    token !== undefined && tokenFile === undefined ? `  export CANTON_RX_LEDGER_TOKEN="$${tokenVariable}"\n` : '';
  return `${paint('bold', url)}  ${paint('dim', `behaves like Canton ${profile}, ledger end ${ledgerEnd}, ${traffic}${access}`)}

${variable}  canton-rx tail ${options}
  canton-rx tail ${options} --from end --party ${party}
  canton-rx submit ${options} --user-id me --act-as ${party} \\
    --template '#sandbox-assets:Main:Asset' --argument '{"owner": "${party}", "amount": "10.0", "serial": "1"}'

${paint('dim', 'Ctrl-C stops it; nothing is saved.')}
`;
}

const tickMs = 50;

/** Generates updates at a rate while subscribed. */
const generateTraffic = (sandbox: Sandbox, { rate, seed }: SandboxCommandOptions): Observable<unknown> =>
  rate === 0
    ? EMPTY
    : defer(() => {
        const startedAt = performance.now();
        let generated = 0;
        return interval(Math.max(tickMs, 1_000 / rate)).pipe(
          tap(() => {
            // by the clock, so that a late tick does not lower the rate
            const due = Math.floor(((performance.now() - startedAt) * rate) / 1_000) - generated;
            sandbox.generate(due, { seed });
            generated += due;
          }),
        );
      });

const failureMessage = (error: unknown, { port }: SandboxCommandOptions): string =>
  hasCode(error, 'EADDRINUSE') ? `port ${port} is in use: choose another with --port` : messageOf(error);

/**
 * Loads the templates of a module: its default export, or its export `templates`. Emits them once.
 *
 * @param file - the path of a module in JavaScript, or in TypeScript if this Node.js runs it
 */
const loadTemplates = (file: string): Observable<readonly SandboxTemplate[]> =>
  defer(() => importModule(file)).pipe(map((module) => templatesIn(module, file)));

async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (!hasCode(error, 'ERR_UNKNOWN_FILE_EXTENSION'))
      throw new Error(`${file}: ${messageOf(error)}`, { cause: error });
    const remedy = 'use 22.18 or later, or run the command with tsx: NODE_OPTIONS="--import tsx"';
    throw new Error(`${file}: this Node.js does not run TypeScript: ${remedy}`, { cause: error });
  }
}

function templatesIn(module: Readonly<Record<string, unknown>>, file: string): readonly SandboxTemplate[] {
  const exported: unknown = module['default'] ?? module['templates'];
  if (isListOfTemplates(exported)) return exported;
  throw new Error(`${file}: the default export, or the export templates, must be a list of what template() returns`);
}

const isListOfTemplates = (value: unknown): value is readonly SandboxTemplate[] =>
  Array.isArray(value) && value.every(isTemplate);

/** Whether a value is a template; made by another copy of this package, too. */
const isTemplate = (value: unknown): value is SandboxTemplate =>
  typeof value === 'object' && value !== null && '_tag' in value && value._tag === 'SandboxTemplate';
