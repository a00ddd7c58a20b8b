import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { map } from 'rxjs';
import { contractsFor } from '../../src/contracts/contractsFor.js';
import type { LiveContracts } from '../../src/contracts/liveContracts.js';
import { remoteContracts, serverSentEventsHeaders, toServerSentEvents } from '../../src/sse/index.js';
import { brief, briefState } from '../contracts/brief.js';
import { tcpProxy } from '../helpers/localServers.js';
import { observe } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { alice, bob, carol, contract, secretOf, ServerView } from './support.js';

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

/** A server of plain Node.js, on loopback. The token of a user is the name of the party. */
async function serve(view: ServerView) {
  const views = new Map<string, LiveContracts>();
  const responses: ServerResponse[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const party = [alice, bob].find((name) => request.headers.authorization === `Bearer ${name}`);
    if (party === undefined) {
      response.writeHead(401).end();
      return;
    }
    const live = views.get(party) ?? contractsFor(view.live, [party]);
    views.set(party, live);
    responses.push(response);
    response.writeHead(200, serverSentEventsHeaders);
    const stream = toServerSentEvents(live.changes$, { lastEventId: request.headers['last-event-id'] });
    await pipeline(Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]), response);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => undefined);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/contracts`, port, responses, server };
}

/** A client that writes a request and reads nothing. */
async function openSocket(port: number, lines: readonly string[]): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write(['GET /contracts HTTP/1.1', 'host: app', ...lines, '', ''].join('\r\n'));
  return socket;
}

/** A proxy that records what is sent to each user, by the tokens of the requests, and can cut all connections. */
async function recordingProxy(server: string) {
  const records = new Map<string, string>();
  const clients = new Set<Socket>();
  let cuts = 0;
  const { url, close } = await tcpProxy(server, (client, target) => {
    let user = '';
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('data', (chunk) => {
      user = /^authorization: Bearer (\S+)/im.exec(chunk.toString())?.[1] ?? user;
      target.write(chunk);
    });
    target.on('data', (chunk) => {
      records.set(user, (records.get(user) ?? '') + chunk.toString());
      client.write(chunk);
    });
  });
  return {
    ...{ url, close },
    of: (user: string) => records.get(user) ?? '',
    get connections() {
      return clients.size;
    },
    get cuts() {
      return cuts;
    },
    cut: () => {
      cuts += clients.size;
      for (const client of clients) client.destroy();
    },
  };
}

const retry = { baseDelayMs: 1, maxDelayMs: 5 };

describe('a server of plain Node.js', () => {
  it('sends each user their own contracts, also after a connection was cut', async () => {
    const view = new ServerView();
    const { url, server } = await serve(view);
    const [ofAlice, ofBob] = [alice, bob].map((token) => remoteContracts(url, {}, { token, retry }));
    const states = [ofAlice, ofBob].map((remote) => remote && observe(remote.state$.pipe(map(briefState))));
    const changes = ofBob && observe(ofBob.changes$.pipe(map(brief)));
    view.reset([contract('a'), contract('b', [bob]), contract('c', [alice, bob])]);
    await until(() => states.every((each) => each?.values.at(-1)?.startsWith('live') === true));
    expect(states.map((each) => each?.values.at(-1))).toEqual(['live/open 1 ac', 'live/open 1 bc']);
    server.closeAllConnections();
    await until(() => changes?.values.length === 2 && view.subscriptions <= 1);
    view.change({ add: [contract('d', [bob], { offset: 2 })], remove: ['c'] });
    await until(() => states[1]?.values.at(-1) === 'live/open 2 bd');
    await until(() => states[0]?.values.at(-1) === 'live/open 2 a');
    for (const each of states) each?.subscription.unsubscribe();
    changes?.subscription.unsubscribe();
    await until(() => view.subscriptions === 0);
  });

  it('answers 401 for another token, which ends the view', async () => {
    const { url } = await serve(new ServerView());
    const states = observe(remoteContracts(url, {}, { token: 'mallory', retry }).state$);
    await until(() => states.error !== undefined);
    expect(states.error).toMatchObject({ _tag: 'UnauthorizedError', path: '/contracts' });
  });

  it('ends what a client reads that disconnects', async () => {
    const view = new ServerView();
    const { port } = await serve(view);
    view.reset([contract('a')]);
    const socket = await openSocket(port, [`authorization: Bearer ${alice}`]);
    await until(() => view.subscriptions === 1);
    socket.destroy();
    await until(() => view.subscriptions === 0);
  });

  it('buffers little for a client that reads nothing, and sends it all contracts when it reads', async () => {
    const view = new ServerView();
    const { port, responses } = await serve(view);
    view.reset([contract('a')]);
    const socket = await openSocket(port, [`authorization: Bearer ${alice}`]);
    await until(() => responses.length === 1);
    const payload = 'x'.repeat(100_000);
    for (let count = 0; count < 300; count += 1) {
      // 60 MB in all, as each contract is in its update, too
      view.change({
        add: [contract(`c${count}`, [alice], { payload, offset: view.offset + 1 })],
        remove: [`c${count - 1}`],
      });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(responses[0]?.writableLength).toBeLessThan(2 ** 20);
    let received = '';
    socket.on('data', (chunk) => {
      received = (received + chunk.toString()).slice(-1_000_000);
    });
    socket.resume();
    await until(() => received.includes('event: reset'));
    await until(() => received.includes('"contractId":"c299"'));
  });

  it('sends nothing of another user to one that has an ID of that user, or a huge one (G81)', async () => {
    const view = new ServerView();
    const { url } = await serve(view);
    view.reset([contract('a'), contract('b', [bob])]);
    const texts: string[] = [];
    const read = async (headers: Record<string, string>): Promise<string> => {
      const response = await fetch(url, { headers });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('}\n\n')) text += (await reader?.read())?.value ?? '}\n\n';
      await reader?.cancel();
      texts.push(text);
      return text;
    };
    const kept = observe(contractsFor(view.live, [alice]).changes$);
    const ofAlice = await read({ authorization: `Bearer ${alice}` });
    const id = /^id: (.*)$/m.exec(ofAlice)?.[1] ?? '';
    for (const lastEventId of [id, `${id}0`, 'x'.repeat(8_000)])
      expect(await read({ authorization: `Bearer ${bob}`, 'last-event-id': lastEventId })).toContain('event: reset');
    const forBob = texts.slice(1).join('');
    expect(forBob).toContain(secretOf('b'));
    expect(forBob).not.toContain(secretOf('a'));
    expect(ofAlice).not.toContain(secretOf('b'));
    kept.subscription.unsubscribe();
    await until(() => view.subscriptions === 0);
  });

  it('puts nothing of a party on the wire to another one, whatever a page requests and wherever it is cut (G81)', async () => {
    const view = new ServerView();
    const { url } = await serve(view);
    const proxy = await recordingProxy(url);
    // a page that claims to be both, and to have been where the other one was
    const hostile =
      (other: string): typeof globalThis.fetch =>
      (input) => {
        const { url: address, headers: sent, signal } = new Request(input);
        const headers = new Headers(sent);
        const ids = proxy.of(other).match(/^id: .*$/gm) ?? [];
        const [name = '', position = ''] = ids.at(-1)?.slice(4).split('-') ?? [];
        headers.set('last-event-id', `${name}-${Math.max(1, Number(position) - (ids.length % 3))}`);
        for (const header of ['parties', 'party', 'x-user', 'x-forwarded-user', 'cookie']) headers.set(header, other);
        return fetch(`${address}?parties=${other}&user=${other}&token=${other}`, { headers, signal });
      };
    const pages = [alice, bob].map((token, index) => {
      const other = [bob, alice][index] ?? '';
      const remote = remoteContracts(proxy.url, {}, { token, retry, fetch: hostile(other) });
      return observe(remote.state$.pipe(map(briefState)));
    });
    const owners = [[alice], [bob], [alice, bob], [carol], [bob, carol]];
    const made = Array.from({ length: 80 }, (_, number) =>
      contract(`n${number}`, owners[number % owners.length], { offset: number + 2 }),
    );
    view.reset([]);
    for (const [number, each] of made.entries()) {
      view.change({ add: [each], remove: number % 3 === 0 && number > 0 ? [`n${number - 1}`] : [] });
      if (number % 7 === 0) {
        await until(() => proxy.connections >= 2);
        proxy.cut();
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    const idsFor = (party: string): string =>
      view.contracts.flatMap((one) => (one.createdEvent.witnessParties.includes(party) ? one.contractId : [])).join('');
    await until(() =>
      pages.every((page, index) => page.values.at(-1)?.endsWith(` ${idsFor([alice, bob][index] ?? '')}`) === true),
    );
    for (const party of [alice, bob]) {
      const sent = proxy.of(party);
      for (const { contractId, createdEvent } of made) {
        if (createdEvent.witnessParties.includes(party)) continue;
        expect(sent).not.toContain(secretOf(contractId));
        expect(sent).not.toContain(`"${contractId}"`);
      }
      expect(sent).toContain('secret of');
    }
    expect(proxy.cuts).toBeGreaterThan(5);
    for (const page of pages) page.subscription.unsubscribe();
    await until(() => view.subscriptions === 0);
    proxy.close();
  });

  it('refuses a header that is too long for it', async () => {
    const { url } = await serve(new ServerView());
    const headers = { authorization: `Bearer ${bob}`, 'last-event-id': 'x'.repeat(100_000) };
    expect((await fetch(url, { headers })).status).toBe(431);
  });
});
