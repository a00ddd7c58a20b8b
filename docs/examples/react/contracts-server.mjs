// sends each user their own contracts: see the guide "Each user their own contracts"
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createLedger } from 'canton-rx';
import { contractsFor, liveContracts } from 'canton-rx/contracts';
import { serverSentEventsHeaders, toServerSentEvents } from 'canton-rx/sse';

/**
 * Starts a server on loopback. `partiesOfToken` is your login: it has the parties of each user, by the token of a session.
 */
export async function startContractsServer(ledgerUrl, partiesOfToken) {
  const all = liveContracts(createLedger({ baseUrl: ledgerUrl }), { parties: 'any' });
  const views = new Map([...partiesOfToken].map(([token, parties]) => [token, contractsFor(all, parties)]));
  const server = createServer((request, response) => {
    const view = views.get(request.headers.authorization?.replace('Bearer ', ''));
    if (view === undefined) {
      response.writeHead(401).end();
      return;
    }
    response.writeHead(200, serverSentEventsHeaders);
    const events = toServerSentEvents(view.changes$, { lastEventId: request.headers['last-event-id'], keepMs: 30_000 });
    pipeline(Readable.fromWeb(events), response).catch(() => undefined); // the page has disconnected
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}
