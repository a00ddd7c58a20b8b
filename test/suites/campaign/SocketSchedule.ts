import fc from 'fast-check';
import { cantonError, type Fault, type FaultSocket } from '../../../src/sandbox/index.js';

/** What goes wrong with one request, as plain data; `rewrite` faults by their name. */
export type Trouble =
  Exclude<Fault, { kind: 'rewrite' | 'socket' }> | { readonly kind: 'rewrite'; readonly how: keyof typeof rewrites };

/** What an operator does, or the ledger. */
export type Deed =
  | { readonly kind: 'generate'; readonly count: number }
  | { readonly kind: 'advance'; readonly offsets: number }
  | { readonly kind: 'restart'; readonly downMs: number; readonly maxListElements: number }
  | { readonly kind: 'profile'; readonly profile: '3.4' | '3.5' | '3.6' };

/** A ledger, how it is read, and all that happens meanwhile. */
export interface SocketSchedule {
  readonly seed: number;
  readonly known: number;
  /** Of what is known, the part in a hundred that an earlier feed has seen. */
  readonly seenBefore: number;
  readonly profile: '3.4' | '3.5' | '3.6';
  readonly interfaceOnly: boolean;
  readonly transport: 'http' | 'websocket';
  readonly maxListElements: number;
  readonly maxPageSize: number;
  /** Left to the feed, if absent. */
  readonly parallelRanges: number | undefined;
  /** When the token expires, once. */
  readonly expiresAtMs: number;
  /** When and up to which part in a hundred of what is known the participant prunes, if it does. */
  readonly prunesAtMs: number;
  readonly prunesUpTo: number;
  readonly prunes?: boolean;
  /** Whether the client keeps to a token that has expired. */
  readonly keepsToken?: boolean;
  readonly troubles: readonly { readonly trouble: Trouble; readonly after: number; readonly times: number }[];
  /** What goes wrong with WebSockets, in their order. */
  readonly socketTroubles: readonly (FaultSocket & { readonly kind: 'socket' })[];
  readonly deeds: readonly { readonly deed: Deed; readonly atMs: number }[];
}

const isList = (u: unknown): u is unknown[] => Array.isArray(u);

/** What a service, or something before it, may make of a list and must not confuse a feed by. */
export const rewrites = {
  /** Each element twice in a row. */
  doubled: (answer: unknown) => (isList(answer) ? answer.flatMap((element: unknown) => [element, element]) : answer),
  /** Fewer than there are. */
  shortened: (answer: unknown) => (isList(answer) ? answer.slice(0, 1) : answer),
  /** JSON with blanks in it. */
  indented: (answer: unknown) => JSON.stringify(answer, undefined, 2),
} as const;

const status = (code: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Trouble => ({
  kind: 'status',
  status: code,
  body,
  headers,
});

export const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  fc.constantFrom<Trouble>(
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

const profile = fc.constantFrom('3.4' as const, '3.5' as const, '3.6' as const);
const maxListElements = fc.integer({ min: 1, max: 60 });

const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ kind: fc.constant('generate' as const), count: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constant('advance' as const), offsets: fc.integer({ min: 1, max: 500 }) }),
  fc.record({ kind: fc.constant('restart' as const), downMs: fc.nat(15), maxListElements }),
  fc.record({ kind: fc.constant('profile' as const), profile }),
);

const socketKind = fc.constant('socket' as const);
const elements = fc.nat(4);
const socketTrouble: fc.Arbitrary<FaultSocket> = fc.oneof(
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
    troubles: fc.array(fc.record({ trouble, after: fc.nat(12), times: fc.integer({ min: 1, max: 2 }) }), {
      maxLength: 8,
    }),
    socketTroubles: fc.array(socketTrouble, { maxLength: 3 }),
    deeds: fc.array(fc.record({ deed, atMs: fc.nat(60) }), { maxLength: 5 }),
  };

/** Whatever may happen while a feed catches up. */
export const socketSchedule: fc.Arbitrary<SocketSchedule> = fc.record(fields);

/** What happens to a feed that follows by sockets: it has to last until they are opened again. */
export const followedSchedule: fc.Arbitrary<SocketSchedule> = fc.record({
  ...fields,
  known: fc.nat(20),
  interfaceOnly: fc.constant(false),
  transport: fc.constant('websocket' as const),
  expiresAtMs: fc.nat(2_500),
  troubles: fc.array(fc.record({ trouble, after: fc.nat(12), times: fc.constant(1) }), { maxLength: 2 }),
  socketTroubles: fc.array(socketTrouble, { maxLength: 5 }),
  deeds: fc.array(fc.record({ deed, atMs: fc.nat(2_500) }), { minLength: 12, maxLength: 24 }),
});
