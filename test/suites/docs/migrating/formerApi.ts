import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { type WebSocket, WebSocketServer } from 'ws';
import type { GuideLedger, Task } from './GuideLedger.js';

/** A service with as much of the JSON API v1 as the guide uses, for one template and one party. */
export interface FormerApi extends GuideLedger {
  /** Cuts all streams off. */
  readonly cut: () => void;
  /** Has new streams get this in place of their contracts, or has them cut off. */
  readonly answerStreams: (answer: object | 'cut') => void;
  /** The requests and streams so far. */
  readonly requests: readonly string[];
}

const templateId = '#tasks:Tasks:Task';

interface Created {
  readonly contractId: string;
  readonly payload: Task;
}

/** A query, or a key, of a request. */
interface Query {
  readonly query?: Partial<Task> | undefined;
  readonly key?: Task | undefined;
}

/** The body of a request, with what its path needs. */
interface Body extends Query {
  readonly contractId?: string;
  readonly payload: Task;
}

/** Starts the service. */
export async function formerApi(owner: string): Promise<FormerApi> {
  const contracts = new Map<string, Created>();
  const streams = new Map<WebSocket, readonly Query[]>();
  const requests: string[] = [];
  let count = 0;
  let answer: object | 'cut' | undefined;

  const send = (event: object, queries?: (stream: readonly Query[]) => readonly number[]): void => {
    for (const [socket, stream] of streams) {
      const matchedQueries = queries?.(stream);
      if (matchedQueries?.length === 0) continue;
      socket.send(
        JSON.stringify({ events: [{ ...event, ...(matchedQueries && { matchedQueries }) }], offset: `${count}` }),
      );
    }
  };
  const create = (payload: Task): Created => {
    const created = { contractId: `00${(++count).toString().padStart(2, '0')}`, payload };
    contracts.set(created.contractId, created);
    send({ created: wireOf(created) }, (queries) => matchesOf(created, queries));
    return created;
  };
  const archive = (contractId: string): object => {
    contracts.delete(contractId);
    count++;
    const event = { archived: { templateId, contractId } };
    // the service tells every stream of the template
    send(event);
    return event;
  };
  const find = ({ contractId, key }: Body): Created | undefined =>
    [...contracts.values()].find((created) =>
      contractId === undefined ? isDeepStrictEqual(created.payload, key) : created.contractId === contractId,
    );

  /** The results of requests by path. */
  const results: Readonly<Record<string, (body: Body) => unknown>> = {
    '/v1/query': ({ query }) =>
      [...contracts.values()].filter((created) => matchesOf(created, [{ query }]).length > 0).map(wireOf),
    '/v1/fetch': (body) => {
      const found = find(body);
      return found === undefined ? null : wireOf(found);
    },
    '/v1/create': ({ payload }) => wireOf(create(payload)),
    '/v1/exercise': (body) => {
      const found = find(body);
      return found && { exerciseResult: {}, events: [archive(found.contractId)] };
    },
  };

  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    void text(request).then((body) => {
      const result = results[path]?.(JSON.parse(body) as Body);
      const status = result === undefined ? 404 : 200;
      const message = status === 200 ? { status, result } : { status, errors: ['not found'] };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(message));
    });
  });
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'daml.ws.auth' });
  sockets.on('connection', (socket: WebSocket, { url }: IncomingMessage) => {
    requests.push(url ?? '');
    socket.on('message', (data: Buffer) => {
      const queries = JSON.parse(data.toString()) as readonly Query[] | object;
      // an offset comes before the queries of a stream that goes on
      if (!Array.isArray(queries)) return;
      if (answer === 'cut') socket.terminate();
      else if (answer !== undefined) socket.send(JSON.stringify(answer));
      if (answer !== undefined) return;
      for (const created of contracts.values()) {
        const matchedQueries = matchesOf(created, queries);
        if (matchedQueries.length > 0)
          socket.send(JSON.stringify({ events: [{ created: wireOf(created), matchedQueries }] }));
      }
      socket.send(JSON.stringify({ events: [], offset: `${count}` }));
      streams.set(socket, queries);
    });
    socket.on('close', () => streams.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    create: (title) => create({ owner, title }).contractId,
    archive: (contractId) => void archive(contractId),
    cut: () => {
      for (const socket of sockets.clients) socket.terminate();
    },
    answerStreams: (message) => {
      answer = message;
    },
    close: async () => {
      if (!server.listening) return;
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const wireOf = ({ contractId, payload }: Created): object => ({
  templateId,
  contractId,
  payload,
  key: payload,
  signatories: [payload.owner],
  observers: [],
  agreementText: '',
});

/** The queries that a contract matches; one without fields matches all. */
const matchesOf = ({ payload }: Created, queries: readonly Query[]): readonly number[] =>
  queries.flatMap(({ query, key }, index) =>
    isDeepStrictEqual({ ...payload, ...query, ...key }, payload) ? [index] : [],
  );
