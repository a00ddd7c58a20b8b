import { afterEach } from '@jest/globals';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';

const open: Sandbox[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

/** A sandbox that is closed after the test. */
export async function sandboxWith(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  open.push(sandbox);
  return sandbox;
}

/** What came back. */
export interface Reply {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
  readonly json: unknown;
}

export async function send(sandbox: Sandbox, path: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(sandbox.url + path, init);
  const text = await response.text();
  const type = response.headers.get('content-type');
  const json: unknown = type === 'application/json' ? JSON.parse(text) : undefined;
  return { status: response.status, type, text, json };
}

export const get = (sandbox: Sandbox, path: string) => send(sandbox, path);

export const post = (sandbox: Sandbox, path: string, body: unknown, init: RequestInit = {}) =>
  send(sandbox, path, { ...init, method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

/** What is at a path in a JSON value. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Object.getOwnPropertyDescriptor(inner, key)?.value : undefined,
    value,
  );
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  if (typeof found !== 'string') throw new TypeError(`no string at ${path.join('.')} of ${JSON.stringify(value)}`);
  return found;
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  if (!Array.isArray(found)) throw new TypeError(`no list at ${path.join('.')} of ${JSON.stringify(value)}`);
  return found;
}

/** The offsets of a list of updates. */
export function offsets(reply: Reply): readonly unknown[] {
  return listAt(reply.json).map((element) => {
    const update = at(element, 'update');
    return typeof update === 'object' && update !== null ? at(Object.values(update)[0], 'value', 'offset') : undefined;
  });
}

/** The variants of a list of updates. */
export function variants(reply: Reply): readonly string[] {
  return listAt(reply.json).flatMap((element) => Object.keys(Object(at(element, 'update')) as object));
}

export const anyParty = { filtersByParty: {}, filtersForAnyParty: { cumulative: [] }, verbose: false };

export const forParty = (party: string, ...cumulative: readonly unknown[]) => ({
  filtersByParty: { [party]: { cumulative: cumulative.map((identifierFilter) => ({ identifierFilter })) } },
  verbose: false,
});

export const acsDelta = (eventFormat: unknown) => ({ eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' });

export const ledgerEffects = (eventFormat: unknown) => ({
  eventFormat,
  transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
});

/** Everything of everybody. */
export const everything = {
  includeTransactions: acsDelta(anyParty),
  includeReassignments: anyParty,
  includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: [] } },
};

/** A transaction that makes one contract. */
export const creation = (fields: object = {}) => ({ Transaction: { value: { events: [{ CreatedEvent: fields }] } } });
