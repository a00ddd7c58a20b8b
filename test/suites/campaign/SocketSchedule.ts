import fc from 'fast-check';
import { cantonError, type Fault, type FaultSocket, type SandboxProfile } from '../../../src/sandbox/index.js';

/** A fault of one request, as plain data: `rewrite` faults are given by name. */
export type RequestFault =
  Exclude<Fault, { kind: 'rewrite' | 'socket' }> | { readonly kind: 'rewrite'; readonly how: keyof typeof rewrites };

/** What an operator does to the service, or new entries of the ledger. */
export type OperatorAction =
  | { readonly kind: 'generate'; readonly count: number }
  | { readonly kind: 'advance'; readonly offsets: number }
  | { readonly kind: 'restart'; readonly downMs: number; readonly maxListElements: number }
  | { readonly kind: 'profile'; readonly profile: SandboxProfile };

/** A ledger, how a feed reads it, and what happens meanwhile. */
export interface SocketSchedule {
  readonly seed: number;
  readonly known: number;
  /** The percentage of the known updates that an earlier feed has received. */
  readonly seenBefore: number;
  readonly profile: SandboxProfile;
  readonly interfaceOnly: boolean;
  readonly transport: 'http' | 'websocket';
  readonly maxListElements: number;
  readonly maxPageSize: number;
  /** The feed's default, if `undefined`. */
  readonly parallelRanges: number | undefined;
  /** When the token expires, once. */
  readonly expiresAtMs: number;
  /** When the participant prunes, if it does, and up to which percentage of the known updates. */
  readonly prunesAtMs: number;
  readonly prunesUpTo: number;
  readonly prunes?: boolean;
  /** Whether the client continues to send a token that has expired. */
  readonly keepsToken?: boolean;
  readonly faults: readonly { readonly fault: RequestFault; readonly after: number; readonly times: number }[];
  /** Faults of the WebSockets, in the order in which they are opened. */
  readonly socketFaults: readonly (FaultSocket & { readonly kind: 'socket' })[];
  readonly actions: readonly { readonly action: OperatorAction; readonly atMs: number }[];
}

const isList = (u: unknown): u is unknown[] => Array.isArray(u);

/** Changes to a list, by a service or a proxy, that must not confuse a feed. */
export const rewrites = {
  /** Each element twice in a row. */
  doubled: (answer: unknown) => (isList(answer) ? answer.flatMap((element: unknown) => [element, element]) : answer),
  /** Fewer elements than there are. */
  shortened: (answer: unknown) => (isList(answer) ? answer.slice(0, 1) : answer),
  /** JSON with white space. */
  indented: (answer: unknown) => JSON.stringify(answer, undefined, 2),
} as const;

const status = (code: number, body: unknown, headers: Readonly<Record<string, string>> = {}): RequestFault => ({
  kind: 'status',
  status: code,
  body,
  headers,
});

const requestFault: fc.Arbitrary<RequestFault> = fc.oneof(
  fc.constantFrom<RequestFault>(
    { kind: 'reset' },
    { kind: 'reset', when: 'after' },
    { kind: 'hang' },
    { kind: 'body', body: '' },
    { kind: 'body', body: '[{"update":' },
    status(503, 'The server was not able to produce a timely response to your request.'),
    status(503, cantonError('SERVICE_NOT_RUNNING')),
    status(409, cantonError('PARTICIPANT_BACKPRESSURE')),
    status(504, cantonError('REQUEST_TIME_OUT')),
    status(502, '<html><title>Bad Gateway</title></html>'),
    status(429, '', { 'retry-after': '0' }),
    status(500, 'Internal Server Error'),
    status(408, ''),
    status(425, ''),
    status(499, ''),
    { kind: 'rewrite', how: 'doubled' },
    { kind: 'rewrite', how: 'shortened' },
    { kind: 'rewrite', how: 'indented' },
  ),
  fc.record({ kind: fc.constant('delay' as const), ms: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ kind: fc.constant('stall' as const), bytes: fc.nat(30_000) }),
  fc.record({
    kind: fc.constant('truncate' as const),
    bytes: fc.nat(30_000),
    how: fc.constantFrom('close' as const, 'reset' as const),
  }),
);

const profile = fc.constantFrom<SandboxProfile>('3.3', '3.4', '3.5', '3.6', '3.7');
const maxListElements = fc.integer({ min: 1, max: 60 });

const action: fc.Arbitrary<OperatorAction> = fc.oneof(
  fc.record({ kind: fc.constant('generate' as const), count: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constant('advance' as const), offsets: fc.integer({ min: 1, max: 500 }) }),
  fc.record({ kind: fc.constant('restart' as const), downMs: fc.nat(15), maxListElements }),
  fc.record({ kind: fc.constant('profile' as const), profile }),
);

const socketKind = fc.constant('socket' as const);
const elements = fc.nat(4);
const socketFault: fc.Arbitrary<FaultSocket> = fc.oneof(
  fc.record({
    kind: socketKind,
    how: fc.constant('refuse' as const),
    status: fc.constantFrom(400, 401, 403, 404, 503),
  }),
  fc.record({
    kind: socketKind,
    how: fc.constant('close' as const),
    code: fc.constantFrom(1000, 1001, 1011),
    elements,
  }),
  fc.record({ kind: socketKind, how: fc.constant('cut' as const), elements }),
  fc.record({
    kind: socketKind,
    how: fc.constant('error' as const),
    body: fc.constantFrom<unknown>(
      cantonError('SERVICE_NOT_RUNNING'),
      cantonError('STALE_STREAM_AUTHORIZATION'),
      '{"upd',
    ),
    elements,
  }),
);

const fields: { readonly [K in keyof Omit<SocketSchedule, 'prunes' | 'keepsToken'>]: fc.Arbitrary<SocketSchedule[K]> } =
  {
    seed: fc.integer({ min: 1, max: 1_000_000 }),
    known: fc.nat(120),
    seenBefore: fc.nat(100),
    profile,
    interfaceOnly: fc.boolean(),
    transport: fc.constantFrom('http' as const, 'websocket' as const),
    maxListElements,
    maxPageSize: fc.integer({ min: 1, max: 60 }),
    parallelRanges: fc.constantFrom(undefined, undefined, 1, 2, 3, 5, 16),
    expiresAtMs: fc.nat(90),
    prunesAtMs: fc.nat(60),
    prunesUpTo: fc.nat(100),
    faults: fc.array(fc.record({ fault: requestFault, after: fc.nat(12), times: fc.integer({ min: 1, max: 2 }) }), {
      maxLength: 8,
    }),
    socketFaults: fc.array(socketFault, { maxLength: 3 }),
    actions: fc.array(fc.record({ action, atMs: fc.nat(60) }), { maxLength: 5 }),
  };

/** Faults and operator actions while a feed catches up. */
export const socketSchedule: fc.Arbitrary<SocketSchedule> = fc.record(fields);

/** The same for a feed that follows by WebSockets, over long enough that they are opened again. */
export const followedSchedule: fc.Arbitrary<SocketSchedule> = fc.record({
  ...fields,
  known: fc.nat(20),
  interfaceOnly: fc.constant(false),
  transport: fc.constant('websocket' as const),
  expiresAtMs: fc.nat(2_500),
  faults: fc.array(fc.record({ fault: requestFault, after: fc.nat(12), times: fc.constant(1) }), { maxLength: 2 }),
  socketFaults: fc.array(socketFault, { maxLength: 5 }),
  actions: fc.array(fc.record({ action, atMs: fc.nat(2_500) }), { minLength: 12, maxLength: 24 }),
});
