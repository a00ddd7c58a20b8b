import { Buffer } from 'node:buffer';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { clock } from './Load.js';
import { cycle, origin, pagesOf } from './ledgerText.js';
import type { Served, ServerOrder, ServerSpec } from './withServer.js';

/** A ledger service in a process of its own, which implements the list algorithm. */
const { kind, count, step, roundTripMs } = JSON.parse(process.argv[2] ?? '') as ServerSpec;
const pageOf = pagesOf(kind, step);
const mostPerPage = 200;
let length = count;
let served = { requests: 0, pages: 0, emptyPages: 0, updates: 0 };
const appendedAt: number[] = [];
/** A ledger of changes has no contracts when a client begins, and its updates once the client has read that. */
let isAtStart = false;
const ledgerEnd = (): number => origin + (isAtStart ? 0 : length) * step;
const waiting = new Set<() => void>();

/** One half of the round trip time passes before the work, the other after it. */
const travel = (ms: number, then: () => void): void => {
  if (ms > 0) setTimeout(then, ms);
  else then();
};
const outward = Math.floor(roundTripMs / 2);
const back = Math.ceil(roundTripMs / 2);

function send(response: ServerResponse, body: Buffer | string, status = 200): void {
  travel(back, () => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
}

interface Range {
  readonly beginExclusive: number;
  readonly endInclusive?: number;
}
const firstAfter = ({ beginExclusive }: Range): number => Math.max(1, Math.floor((beginExclusive - origin) / step) + 1);

function sendPage(response: ServerResponse, first: number, available: number, limit: number): void {
  const size = Math.max(0, Math.min(available, limit));
  served = { ...served, updates: served.updates + size };
  send(response, kind === 'contract' ? creations(first, size) : pageOf(first, size));
}

/** The transactions that have created contracts: a view looks for that of the newest one. */
function creations(first: number, size: number): string {
  const contracts = JSON.parse(pageOf(first, size).toString()) as readonly ActiveContract[];
  const elements = contracts.map(({ contractEntry: { JsActiveContract: contract } }) => {
    const { createdEvent, synchronizerId } = contract;
    const { offset, createdAt } = createdEvent;
    const events = [{ CreatedEvent: createdEvent }];
    const ids = { updateId: `1220${offset}`, commandId: '', workflowId: '', synchronizerId, offset };
    return { update: { Transaction: { value: { ...ids, effectiveAt: createdAt, recordTime: createdAt, events } } } };
  });
  return JSON.stringify(elements);
}

interface ActiveContract {
  readonly contractEntry: {
    readonly JsActiveContract: {
      readonly createdEvent: { readonly offset: number; readonly createdAt: string };
      readonly synchronizerId: string;
    };
  };
}

function answerRange(response: ServerResponse, range: Range & { readonly endInclusive: number }, limit: number): void {
  if (range.endInclusive > origin + length * step) {
    send(response, '{"code":"OFFSET_AFTER_LEDGER_END","cause":"beyond the ledger end","grpcCodeValue":11}', 400);
    return;
  }
  const first = firstAfter(range);
  const available = Math.floor((range.endInclusive - origin) / step) - first + 1;
  served = { ...served, pages: served.pages + 1, emptyPages: served.emptyPages + (available > 0 ? 0 : 1) };
  sendPage(response, first, available, limit);
}

/** Answers when there are as many updates as the limit, or when none has arrived for the idle time. */
function answerPoll(response: ServerResponse, range: Range, limit: number, idleMs: number): void {
  const first = firstAfter(range);
  const answer = (): void => {
    waiting.delete(look);
    clearTimeout(idle);
    sendPage(response, first, length - first + 1, limit);
  };
  const look = (): void => {
    if (length - first + 1 >= limit) answer();
    else idle.refresh();
  };
  const idle = setTimeout(answer, idleMs);
  waiting.add(look);
  look();
}

/** Answers with a page of active contracts, of which there are as many as updates. The token is the number of the first. */
function answerContracts(response: ServerResponse, { pageToken = '1', maxPageSize }: ContractsPageRequest): void {
  if (kind === 'change') {
    isAtStart = false;
    send(response, `{"activeContracts":[],"activeAtOffset":${origin},"nextPageToken":null}`);
    return;
  }
  const first = Number(pageToken);
  const next = Math.min(first + maxPageSize, count + 1);
  const token = next > count ? 'null' : `"${next}"`;
  const list: Buffer[] = [];
  // prepared texts are at most one cycle long
  for (let begin = first; begin < next; begin += cycle)
    list.push(pageOf(begin, Math.min(cycle, next - begin)).subarray(1, -1));
  const contracts = Buffer.concat(list.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(','), part])));
  const rest = `],"activeAtOffset":${origin + count * step},"nextPageToken":${token}}`;
  send(response, Buffer.concat([Buffer.from('{"activeContracts":['), contracts, Buffer.from(rest)]));
}

interface ContractsPageRequest {
  readonly maxPageSize: number;
  readonly pageToken?: string;
}

/** The response to a submission: the first transaction. Only a ledger of transactions has one. */
function submitted(): string {
  const [first] = JSON.parse(pageOf(1, 1).toString()) as [{ update: { Transaction: { value: object } } }];
  return JSON.stringify({ transaction: first.update.Transaction.value });
}

function answer(url: string, body: string, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  if (pathname === '/v2/state/ledger-end') {
    send(response, JSON.stringify({ offset: ledgerEnd() }));
    return;
  }
  if (pathname === '/v2/parties/participant-id') {
    isAtStart = kind === 'change';
    send(response, JSON.stringify({ participantId: 'bench::1220ab' }));
    return;
  }
  if (pathname === '/v2/commands/submit-and-wait-for-transaction') {
    send(response, submitted());
    return;
  }
  if (pathname === '/v2/state/active-contracts-page') {
    answerContracts(response, JSON.parse(body) as ContractsPageRequest);
    return;
  }
  const limit = Math.min(mostPerPage, Number(searchParams.get('limit') ?? mostPerPage));
  const { beginExclusive, endInclusive } = JSON.parse(body) as Range;
  if (endInclusive !== undefined) answerRange(response, { beginExclusive, endInclusive }, limit);
  else answerPoll(response, { beginExclusive }, limit, Number(searchParams.get('stream_idle_timeout_ms') ?? 500));
}

function append(perSecond: number, left: number): void {
  if (left === 0) return;
  setTimeout(
    () => {
      length += 1;
      appendedAt.push(clock());
      for (const look of [...waiting]) look();
      append(perSecond, left - 1);
    },
    (-Math.log(1 - Math.random()) * 1_000) / perSecond,
  );
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    served = { ...served, requests: served.requests + 1 };
    travel(outward, () => {
      answer(request.url ?? '/', Buffer.concat(chunks).toString(), response);
    });
  });
});
// closing an idle connection could fail a client's request
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('message', (order: ServerOrder) => {
  if (order.order === 'append') append(order.perSecond, order.count);
  else process.send?.({ ...served, appendedAt } satisfies Served);
});
process.on('disconnect', () => process.exit());
