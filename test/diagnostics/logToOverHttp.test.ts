import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, fromEventPattern, type Observable, Subject, take, takeUntil } from 'rxjs';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import { contractType } from '../../src/codecs/TemplateType.js';
import { liveContracts } from '../../src/contracts/index.js';
import { logTo } from '../../src/diagnostics/logTo.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { LedgerOptions } from '../../src/ledger/LedgerOptions.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { memoryStore, processFeed, updatesFeed } from '../../src/process/index.js';
import { undiciPort } from '../../src/undici/index.js';
import * as t from 'io-ts';
import { httpServers } from '../http/portContract.js';

const updateFormat = acsDelta({ parties: 'any' });
const Iou = contractType('#finance:Main:Iou', t.type({}));

/** What a program subscribes to. */
const uses: readonly (readonly [string, (ledger: Ledger) => Observable<unknown>])[] = [
  ['a feed', (ledger) => ledger.updates({ beginExclusive: 0, updateFormat })],
  ['a live view', (ledger) => liveContracts(ledger, { types: { iou: Iou }, parties: 'any' }).all$()],
  [
    'a processor',
    (ledger) =>
      processFeed(updatesFeed(ledger, { beginExclusive: 0, updateFormat }), () => undefined, {
        name: 'test',
        store: memoryStore(),
      }),
  ],
];

const stop$ = new Subject<void>();
afterEach(() => {
  stop$.next();
});

/** The first line that is logged, after that of the start. */
function firstLine(options: LedgerOptions, use: (ledger: Ledger) => Observable<unknown>): Promise<string> {
  const ledger = createLedger(options);
  const line$ = fromEventPattern<string>((write) => {
    ledger.diagnostics$.pipe(takeUntil(stop$)).subscribe(logTo({ info: write, warn: write, error: write }));
    use(ledger)
      .pipe(takeUntil(stop$))
      .subscribe({ error: () => undefined });
  });
  return firstValueFrom(line$.pipe(filter((line) => !/: (starting|leading): /.test(line))));
}

/** A port on which nothing listens, nor begins to during the test: a connection to elsewhere has it. */
async function refusingPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const holder = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(holder, 'connect');
  stop$.pipe(take(1)).subscribe(() => {
    holder.destroy();
    server.close();
  });
  return holder.localPort ?? 0;
}

describe.each(uses)('the first line of logTo, for %s', (_, use) => {
  const serve = httpServers();

  it.each([
    ['fetch', {}],
    ['undici', { port: undiciPort() }],
  ])('names the host and the port of a ledger that does not run, by %s', async (_, options) => {
    const host = `127.0.0.1:${await refusingPort()}`;
    const line = await firstLine({ baseUrl: `http://${host}`, ...options }, use);
    expect(line).toMatch(
      /^canton-rx: (feed 1|processor test): 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\), retry 1 in 0\.\d s$/,
    );
    expect(line).toContain(host);
  });

  it.each<[string, Parameters<typeof serve>[0], string]>([
    ['accepts connections and does not respond', () => undefined, 'no response from HOST for 1.5 s, still waiting'],
    [
      'is not a ledger',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'),
      'ended with an error: HOST did not answer as expected: the response is a web page',
    ],
    [
      'has no path of a ledger',
      (_, response) => response.writeHead(404, { 'content-type': 'text/plain' }).end('Not Found'),
      'HOST answered 404, but not as a ledger: Not Found',
    ],
  ])('reports a server that %s', async (_, handle, line) => {
    const { url } = await serve(handle);
    expect(await firstLine({ baseUrl: url }, use)).toContain(line.replace('HOST', new URL(url).host));
  });
});
