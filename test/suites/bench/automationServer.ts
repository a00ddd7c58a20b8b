import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import type { AutomationSpec } from './lines/automation.js';

/**
 * A ledger service in a process of its own, with contracts that submissions archive. A submission takes a fixed time. The
 * contracts are there again whenever a client reads them from the start.
 */
const { count, submitMs } = JSON.parse(process.argv[2] ?? '') as AutomationSpec;
const contractIds = Array.from({ length: count }, (_, n) => `00${String(n).padStart(64, '0')}`);
/** The texts of the updates, of which the first is at the offset after the contracts. */
let updates: string[] = [];
const waiting = new Set<() => void>();

const party = 'alice::1220ab';
const templateId = '1220ab:Main:Asset';
const synchronizerId = 'global::1220ab';
const at = '2026-07-24T10:00:00Z';

const active = (n: number): object => ({
  workflowId: '',
  contractEntry: {
    JsActiveContract: {
      createdEvent: {
        ...{ offset: n + 1, nodeId: 0, contractId: contractIds[n], templateId, packageName: 'main', createdAt: at },
        ...{ createArgument: { owner: party, amount: `${n}.0`, note: 'x'.repeat(300) }, acsDelta: true },
        ...{ witnessParties: [party], signatories: [party], observers: [] },
      },
      synchronizerId,
      reassignmentCounter: 0,
    },
  },
  streamContinuationToken: '',
});

const transaction = (offset: number, commandId: string, contractId: string): object => ({
  ...{ updateId: `1220${offset}`, commandId, workflowId: '', effectiveAt: at, recordTime: at, offset, synchronizerId },
  events: [
    {
      ArchivedEvent: { offset, nodeId: 0, contractId, templateId, witnessParties: [party], packageName: 'main' },
    },
  ],
});

interface SubmitRequest {
  readonly commands: {
    readonly commandId: string;
    readonly commands: readonly [{ readonly ExerciseCommand: { readonly contractId: string } }];
  };
}

function submit({ commands: { commandId, commands } }: SubmitRequest, send: (json: object) => void): void {
  setTimeout(() => {
    const committed = transaction(count + updates.length + 1, commandId, commands[0].ExerciseCommand.contractId);
    updates.push(JSON.stringify({ update: { Transaction: { value: committed } } }));
    send({ transaction: committed });
    for (const look of [...waiting]) look();
  }, submitMs);
}

interface Range {
  readonly beginExclusive: number;
  readonly endInclusive?: number;
}

/** Answers a poll as soon as there is an update, and a range at once. */
function answerUpdates(
  { beginExclusive, endInclusive }: Range,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  const first = beginExclusive - count;
  const limit = Math.min(200, Number(query.get('limit') ?? 200));
  const end = endInclusive === undefined ? Infinity : endInclusive - count;
  const answer = (): void => {
    waiting.delete(look);
    clearTimeout(idle);
    sendText(response, `[${updates.slice(first, Math.min(first + limit, end)).join(',')}]`);
  };
  const look = (): void => {
    if (endInclusive !== undefined || updates.length - first >= limit) answer();
    else idle.refresh();
  };
  const idle = setTimeout(answer, Number(query.get('stream_idle_timeout_ms') ?? 500));
  waiting.add(look);
  look();
}

function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function answer(url: string, body: string, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const send = (json: object): void => {
    sendText(response, JSON.stringify(json));
  };
  const isOver = updates.length === count;
  switch (pathname) {
    case '/v2/state/ledger-end':
      send({ offset: count + (isOver ? 0 : updates.length) });
      return;
    case '/v2/parties/participant-id':
      send({ participantId: 'bench::1220ab' });
      return;
    case '/v2/state/active-contracts-page': {
      const { pageToken, maxPageSize } = JSON.parse(body) as { pageToken?: string | null; maxPageSize: number };
      if (pageToken == null) updates = [];
      const first = Number(pageToken ?? 0);
      const next = Math.min(count, first + maxPageSize);
      const activeContracts = Array.from({ length: next - first }, (_, n) => active(first + n));
      send({ activeContracts, activeAtOffset: count, nextPageToken: next === count ? null : String(next) });
      return;
    }
    case '/v2/commands/submit-and-wait-for-transaction':
      submit(JSON.parse(body) as SubmitRequest, send);
      return;
    default:
      if (body === '') {
        response.writeHead(404).end();
        return;
      }
      answerUpdates(JSON.parse(body) as Range, searchParams, response);
  }
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    answer(request.url ?? '/', Buffer.concat(chunks).toString(), response);
  });
});
// closing an idle connection could fail a client's request
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
