import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import * as t from 'io-ts';
import { ledgerUrlOf, suggest, UsageError } from './arguments.js';
import type { connectionOptions, Values } from './options.js';
import { escapeText } from './terminal.js';
import { hasCode, messageOf, type Output, systemReason, type World } from './World.js';

/** A ledger and the token for it. */
export interface Connection {
  /** The URL of its JSON Ledger API. */
  readonly ledger: string;
  /** Returns the token for one request, and throws if there is none. Absent: no token is sent. */
  readonly token: (() => string) | undefined;
  /** The parties of a context, for commands without `--party`. */
  readonly contextParties?: readonly string[] | undefined;
  /** Logs requests; absent without `--verbose`. */
  readonly log?: LogRequest;
  /** A `fetch` that logs its requests; absent without `--verbose`. */
  readonly fetch?: typeof fetch;
}

/** Is called when a request is sent, and what it returns when the request ends. */
type LogRequest = (method: string, url: string) => (result: number | string) => unknown;

/**
 * Writes each request to stderr: `POST /v2/updates?limit=200  200  12 ms`. Neither the host, nor headers or bodies, which may be
 * secret.
 */
function logTo(stderr: Output): Required<Pick<Connection, 'log' | 'fetch'>> {
  const log: LogRequest = (method, url) => {
    const startedAt = performance.now();
    const path = escapeText(url.replace(/^https?:\/\/[^/]+/, ''));
    return (result) => stderr.write(`${method} ${path}  ${result}  ${Math.round(performance.now() - startedAt)} ms\n`);
  };
  return { log, fetch: fetchAndLog(log) };
}

const fetchAndLog =
  (log: LogRequest): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const end = log(request.method, request.url);
    try {
      const response = await fetch(request);
      end(response.status);
      return response;
    } catch (error) {
      end('no response');
      throw error;
    }
  };

/** Whether a host name is that of this machine, so that requests do not leave it. */
export const isThisMachine = (hostname: string): boolean =>
  /^(?:(?:[^.]+\.)*localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

/** The port of a URL, which is not in it for the default port. */
export const portOf = ({ port, protocol }: URL): number => {
  const usual = protocol === 'https:' ? 443 : 80;
  return port === '' ? usual : Number(port);
};

/** The host and port of a ledger, for messages. */
export const addressOf = ({ ledger }: Pick<Connection, 'ledger'>): string => {
  const url = new URL(ledger);
  return `${url.hostname}:${portOf(url)}`;
};

/** The next step if a ledger does not answer. */
export const checkAdvice = "run 'canton-rx check' with the same --ledger for the reason";

/** The ledger in the arguments, in a context or in the environment. Throws a {@link UsageError}. */
export function readConnection(values: Values<typeof connectionOptions>, { env, stderr }: World): Connection {
  const name = values.context ?? env['CANTON_RX_CONTEXT'];
  const context = name === undefined || name === '' ? undefined : readContext(name, env);
  const [source, url] = urlOf(values.ledger, context, env);
  // the token of the environment is not meant for the ledger of a context
  const variable = context === undefined ? env['CANTON_RX_LEDGER_TOKEN'] : undefined;
  return {
    ledger: readUrl(url, source),
    token: tokenProvider(values['token-file'] ?? context?.tokenFile, variable),
    contextParties: context?.parties,
    ...(values.verbose === true && logTo(stderr)),
  };
}

/** The URL of a ledger, and what it is from. */
function urlOf(
  argument: string | undefined,
  context: Context | undefined,
  env: World['env'],
): readonly [string, string | undefined] {
  if (argument !== undefined) return ['--ledger', argument];
  return context === undefined
    ? ['CANTON_RX_LEDGER_URL', env['CANTON_RX_LEDGER_URL']]
    : ['the ledger of the context', context.ledger];
}

/** The URL of a ledger. The messages do not repeat an invalid one, which may be a secret in the wrong place. */
function readUrl(text: string | undefined, source: string): string {
  if (text === undefined || text === '')
    throw new UsageError('no ledger: use --ledger URL or --context NAME, or set CANTON_RX_LEDGER_URL');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    const meant = ledgerUrlOf(text);
    throw new UsageError(
      `${source} must be an absolute http(s) URL${meant === undefined ? ', such as http://127.0.0.1:7575' : `: did you mean ${meant}?`}`,
    );
  }
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`${source} must be a URL without a user or password`);
  // requests append a path to it
  const { href } = url;
  if (/[@?#]/.test(href)) throw new UsageError(`${source} must be a URL without a query, a hash or an @`);
  return href;
}

/**
 * Provides the token of a file, or a token from another source. Reads the file for every request, because tokens are replaced while a
 * feed runs. Throws a {@link UsageError} if there is no token now, rather than waiting for one.
 */
export function tokenProvider(
  file: string | undefined,
  value: string | undefined,
  source = 'CANTON_RX_LEDGER_TOKEN',
): (() => string) | undefined {
  const provider = file === undefined ? fixedToken(value, source) : () => readToken(readFileSync(file, 'utf8'), file);
  try {
    provider?.();
    return provider;
  } catch (error) {
    throw new UsageError(tokenErrorMessage(error));
  }
}

const fixedToken = (value: string | undefined, source: string): (() => string) | undefined =>
  value === undefined || value === '' ? undefined : () => readToken(value, source);

/** A token becomes a header: other characters would fail there, with an error that shows the token. */
function readToken(text: string, source: string): string {
  const token = text.trim();
  if (/^bearer\s/i.test(token)) throw new Error(`${source} must contain the token alone, without "Bearer "`);
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`${source} does not contain a valid token`);
  return token;
}

/** Leaves the path out of messages of the system: the token itself may have been given in its place. */
function tokenErrorMessage(error: unknown): string {
  const reason = systemReason(error);
  return reason === undefined ? messageOf(error) : `cannot read the file of --token-file: ${reason}`;
}

/** A ledger that has a name in the file of contexts. Its token is in another file. */
interface Context {
  readonly ledger: string;
  /** The path of the file with the token; absent if none is sent. */
  readonly tokenFile: string | undefined;
  /** The parties of commands without `--party`. */
  readonly parties: readonly string[] | undefined;
}

/** Codec of the file: `{ "contexts": { "NAME": { "ledger": "https://…", "tokenFile": "…", "parties": ["…"] } } }`. */
const Contexts = t.type({
  contexts: t.record(
    t.string,
    t.exact(
      t.intersection([t.type({ ledger: t.string }), t.partial({ tokenFile: t.string, parties: t.array(t.string) })]),
    ),
  ),
});

/** The file of contexts: that of `CANTON_RX_CONFIG`, or one in the folder for configuration. A variable that is empty is not set. */
const contextsPath = (env: World['env']): string => {
  const [file = '', folder = '', home = ''] = [env['CANTON_RX_CONFIG'], env['XDG_CONFIG_HOME'], env['HOME']];
  if (file !== '') return file;
  // whatever the folder in which the command runs: a file there may be anybody's
  const base = isAbsolute(folder) ? folder : join(home === '' ? homedir() : home, '.config');
  return join(base, 'canton-rx', 'config.json');
};

/** The context of a name. Paths in the file are relative to its folder. Throws a {@link UsageError}. */
function readContext(name: string, env: World['env']): Context {
  const path = contextsPath(env);
  const { contexts } = readContexts(path);
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context === undefined) {
    const names = Object.keys(contexts);
    const similar = suggest(name, names);
    const advice = similar === undefined ? `use one of ${names.join(', ')}` : `did you mean ${similar}?`;
    throw new UsageError(`${path} has no context '${name}': ${advice}`);
  }
  const { ledger, tokenFile, parties } = context;
  return { ledger, tokenFile: tokenFile === undefined ? undefined : resolve(dirname(path), tokenFile), parties };
}

function readContexts(path: string): t.TypeOf<typeof Contexts> {
  const form = '{ "contexts": { "NAME": { "ledger": "URL", "tokenFile": "FILE", "parties": ["ID"] } } }';
  try {
    const decoded = Contexts.decode(JSON.parse(readFileSync(path, 'utf8')));
    if (decoded._tag === 'Right') return decoded.right;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw new UsageError(`--context requires the file ${path}: ${form}`);
    const reason = systemReason(error);
    if (reason !== undefined) throw new UsageError(`cannot read ${path}: ${reason}`);
  }
  throw new UsageError(`${path} must be JSON: ${form}`);
}
