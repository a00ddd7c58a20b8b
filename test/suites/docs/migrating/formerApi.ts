import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { type WebSocket, WebSocketServer } from 'ws';

/** The payload of the tasks in the guide. */
export interface Task {
  readonly owner: string;
  readonly title: string;
}

/** A ledger for the blocks of one side, with tasks. */
export interface GuideLedger {
  readonly url: string;
  /** Creates a task, and returns its id. */
  readonly create: (title: string) => string;
  readonly archive: (contractId: string) => void;
  readonly close: () => Promise<void>;
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

/** Starts a service with as much of the JSON API v1 as the guide uses, for one template and one party. */
export async function formerApi(owner: string): Promise<GuideLedger> {
  const contracts = new Map<string, Created>();
  const streams = new Map<WebSocket, readonly Query[]>();
  let count = 0;

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
    void text(request).then((body) => {
      const result = results[request.url ?? '']?.(JSON.parse(body) as Body);
      const status = result === undefined ? 404 : 200;
      const message = status === 200 ? { status, result } : { status, errors: ['not found'] };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(message));
    });
  });
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'daml.ws.auth' });
  sockets.on('connection', (socket: WebSocket) => {
    socket.on('message', (data: Buffer) => {
      const queries = JSON.parse(data.toString()) as readonly Query[] | object;
      // an offset comes before the queries of a stream that goes on
      if (!Array.isArray(queries)) return;
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
    create: (title) => create({ owner, title }).contractId,
    archive: (contractId) => void archive(contractId),
    close: async () => {
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
