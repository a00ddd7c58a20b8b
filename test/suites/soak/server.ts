import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import process from 'node:process';

/**
 * A ledger of any length in a process of its own, generated on demand, with an update at every third offset. One request in
 * a hundred fails.
 */
const ledgerEnd = Number(process.argv[2]) * 3;
const at = '2026-07-24T10:00:00.123456Z';
const payload = { owner: 'alice::1220ab', amount: '100.0000000000', meta: { values: ['a', 'b'] } };
const event = `{"CreatedEvent":{"offset":0,"nodeId":0,"contractId":"00ab","templateId":"ab:Main:Asset","contractKey":null,"createArgument":${JSON.stringify(payload)},"createdEventBlob":"","interfaceViews":[],"witnessParties":["alice::1220ab"],"signatories":["alice::1220ab"],"observers":[],"createdAt":"${at}","packageName":"main","representativePackageId":"ab","acsDelta":true}}`;
const before = `{"update":{"Transaction":{"value":{"updateId":"1220ab","commandId":"","workflowId":"","effectiveAt":"${at}","events":[${event}],"offset":`;
const after = `,"synchronizerId":"sync1::1220ab","traceContext":null,"recordTime":"${at}","externalTransactionHash":null,"paidTrafficCost":null}}}}`;

function page(begin: number, end: number, limit: number): string {
  const elements: string[] = [];
  for (let offset = begin - (begin % 3) + 3; offset <= end && elements.length < limit; offset += 3)
    elements.push(before + String(offset) + after);
  return `[${elements.join(',')}]`;
}

let faults = 0;
let requests = 0;

/** The faults of every hundredth request, in turn. */
const wrongs: readonly ((response: ServerResponse, text: string) => void)[] = [
  (response) => response.writeHead(503, { 'content-type': 'text/plain' }).end('The server was not able'),
  (response) => response.socket?.resetAndDestroy(),
  (response, text) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.write(text.slice(0, text.length / 2), () => response.socket?.destroy());
  },
  (response, text) => response.writeHead(200).end(text.slice(0, -7)),
  (response) => response.writeHead(502).end('<html><title>Bad Gateway</title></html>'),
];

function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const range = (body === '' ? {} : JSON.parse(body)) as { beginExclusive?: number; endInclusive?: number };
  const { beginExclusive = 0, endInclusive = ledgerEnd } = range;
  const isEnd = pathname === '/v2/state/ledger-end';
  const text = isEnd
    ? JSON.stringify({ offset: ledgerEnd })
    : page(beginExclusive, endInclusive, Number(searchParams.get('limit') ?? 200));
  requests += 1;
  if (requests % 100 === 0) {
    faults += 1;
    wrongs[faults % wrongs.length]?.(response, text);
  } else if (text === '[]') setTimeout(() => response.end(text), Number(searchParams.get('stream_idle_timeout_ms')));
  else response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    answer(request, response, Buffer.concat(chunks).toString());
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ address: server.address() }));
process.on('message', () => {
  server.getConnections((_, connections) => process.send?.({ requests, faults, connections }));
});
process.on('disconnect', () => process.exit());
