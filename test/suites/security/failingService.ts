import type { IncomingMessage, ServerResponse } from 'node:http';
import { payload } from './secrets.js';
import { errorBody } from '../../helpers/wire.js';

/** A request as the service received it, and the response to write. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
}

/** A way to fail. */
export type Fault = (exchange: Exchange) => void;

/** The whole request, its secrets first. */
const echo = ({ request, body }: Exchange): string => `${heads(request)} ${body}`;

const heads = ({ headers }: IncomingMessage): string =>
  `authorization: ${headers.authorization ?? ''} x-api-key: ${String(headers['x-api-key'])}`;

const echoes: Readonly<Record<string, (exchange: Exchange) => string>> = {
  text: (exchange) => `refused: ${echo(exchange)}`,
  'text, body first': (exchange) => `refused: ${exchange.body}`,
  html: (exchange) => `<html><h1>Error</h1><pre>${echo(exchange)}</pre></html>`,
  'html, body first': ({ body }) => `<html><pre>${body.replaceAll('"', '&quot;')}</pre></html>`,
  json: (exchange) => JSON.stringify({ error: 'refused', request: echo(exchange), payload }),
  'json after a prefix': ({ body }) => `)]}',\n${body}{"payload":"${payload}"}`,
  'json after a NUL': ({ body }) => `\0${body}{"payload":"${payload}"}`,
  'json in lines': ({ body }) => `data: {"payload":"${payload}"}\n\ndata: ${body}`,
  canton: (exchange) =>
    JSON.stringify({
      ...errorBody('INVALID_ARGUMENT', 8, { request: heads(exchange.request), signature: signaturesIn(exchange.body) }),
      cause: `not ${heads(exchange.request)} ${signaturesIn(exchange.body)}`,
      correlationId: heads(exchange.request),
    }),
};

/** The ledger's own messages may quote a command, but not its signatures or the signed transaction. */
const signaturesIn = (body: string): string =>
  [...body.matchAll(/"(?:signature|preparedTransaction)":"([^"]+)"/g)].map(([, found]) => found).join(' ');

const statuses = [300, 307, 400, 401, 404, 413, 429, 500, 503];

const created = {
  offset: 5,
  nodeId: 0,
  contractId: '00ab',
  templateId: 'p:M:T',
  packageName: 'p',
  createdAt: '2026-07-24T10:00:00Z',
  createArgument: { note: payload },
};

/** Updates with a payload that do not decode. */
const undecodable: Readonly<Record<string, unknown>> = {
  'an invalid event': [update({ events: [{ CreatedEvent: { ...created, contractId: { payload } } }] })],
  'an event of an unknown kind': [update({ events: [{ [payload]: { payload } }] })],
  'an update of an unknown kind': [{ update: { [payload]: { payload } } }],
  'an update without an offset': [update({ offset: payload, events: [{ CreatedEvent: created }] })],
  'an invalid time': [update({ recordTime: payload, events: [{ CreatedEvent: created }] })],
  'a contract in place of the list': created,
  'a string': payload,
  'lists in lists': [[[payload]]],
};

function update(fields: object): object {
  const at = '2026-07-24T10:00:00Z';
  const value = {
    updateId: '1220',
    offset: 5,
    synchronizerId: 's',
    effectiveAt: at,
    recordTime: at,
    events: [],
    ...fields,
  };
  return { update: { Transaction: { value } } };
}

const breaks: Readonly<Record<string, Fault>> = {
  'a connection that is reset': ({ request }) => {
    request.socket.resetAndDestroy();
  },
  'an answer that is cut': ({ response, request, body }) => {
    response.writeHead(200, { 'content-length': '100000' });
    response.write(`[{"payload":"${payload}","request":"${body}`, () => request.socket.destroy());
  },
  'an error that is cut': ({ response, request, body }) => {
    response.writeHead(503, { 'content-length': '100000' });
    response.write(`${payload} ${body}`, () => request.socket.destroy());
  },
  'a success that is not JSON': ({ response, body }) => response.end(`${payload} ${body}`),
  'a success that ends too early': ({ response, body }) => response.end(`[{"payload":"${payload}","request":${body}`),
  'a success that is not UTF-8': ({ response }) =>
    response.end(Buffer.concat([Buffer.from(`["${payload}`), Buffer.from([0xc3, 0x28, 0x22, 0x5d])])),
  'an invalid header': ({ request }) => request.socket.end(`HTTP/1.1 200 OK\r\nx y: ${payload}\r\n\r\n`),
};

/** Every way to fail, by name. */
export const faults: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ...statuses.flatMap((status) =>
    Object.entries(echoes).map(([how, write]): [string, Fault] => [
      `${status} ${how}`,
      (exchange) => exchange.response.writeHead(status).end(write(exchange)),
    ]),
  ),
  ...Object.entries(undecodable).map(([what, json]): [string, Fault] => [
    what,
    ({ response }) => response.end(JSON.stringify(json)),
  ]),
  ...Object.entries(breaks),
]);
