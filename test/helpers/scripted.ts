import { defer, finalize, from, Observable, type ObservableInput } from 'rxjs';
import type { HttpPort, HttpRequest, HttpResponse } from '../../src/http/HttpPort.js';
import type { SocketPort, SocketSign } from '../../src/ws/SocketPort.js';

/** A request that a scripted service received. */
export interface ServiceRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
}

/** The reply of a scripted service: a response, or an error of the connection. */
export type Reply = HttpResponse | Error;

/** A service whose replies the test writes, with a record of its requests. */
export interface ScriptedService {
  readonly port: HttpPort;
  readonly requests: ServiceRequest[];
  /** The requests that were unsubscribed before their reply. */
  readonly aborted: ServiceRequest[];
  /** The number of requests without a reply now. */
  open: number;
}

/** Creates a service. `reply` is called once per subscription, with the request and the number of requests so far. */
export function scriptedService(
  reply: (request: ServiceRequest, count: number) => ObservableInput<Reply>,
): ScriptedService {
  const service: ScriptedService = {
    requests: [],
    aborted: [],
    open: 0,
    port: (httpRequest) =>
      new Observable<HttpResponse>((subscriber) => {
        const request = toServiceRequest(httpRequest);
        service.requests.push(request);
        service.open += 1;
        let isSettled = false;
        // a request with a reply is no longer open, whatever the subscriber does with the reply
        const settle = (): void => {
          if (!isSettled) service.open -= 1;
          isSettled = true;
        };
        const subscription = defer(() => from(reply(request, service.requests.length))).subscribe({
          next: (value) => {
            settle();
            if (value instanceof Error) subscriber.error(value);
            else subscriber.next(value);
          },
          error: (error: unknown) => {
            settle();
            subscriber.error(error);
          },
          complete: () => {
            subscriber.complete();
          },
        });
        return () => {
          if (!isSettled) service.aborted.push(request);
          settle();
          subscription.unsubscribe();
        };
      }),
  };
  return service;
}

const toServiceRequest = ({ method, url, body, headers }: HttpRequest): ServiceRequest => {
  const { pathname, searchParams } = new URL(url);
  const parsed: unknown = body === undefined ? {} : JSON.parse(body);
  return {
    method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    body: isRecord(parsed) ? parsed : {},
    token: headers['authorization']?.replace('Bearer ', ''),
  };
};

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === 'object' && u !== null;

/** The request of a WebSocket: its handshake and its first message. */
export interface SocketRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** WebSockets whose messages the test writes, with a record of their requests. */
export interface ScriptedSockets {
  readonly port: SocketPort;
  readonly requests: SocketRequest[];
  /** The number of sockets that are open or being opened. */
  open: number;
}

/** Creates a port for WebSockets. `stream` is called once per subscription, with the request and the number so far. */
export function scriptedSockets(
  stream: (request: SocketRequest, count: number) => Observable<SocketSign>,
): ScriptedSockets {
  const sockets: ScriptedSockets = {
    requests: [],
    open: 0,
    port: ({ url, headers, message }) =>
      defer(() => {
        const request = { path: new URL(url).pathname, headers, body: JSON.parse(message) as SocketRequest['body'] };
        sockets.requests.push(request);
        sockets.open += 1;
        return stream(request, sockets.requests.length).pipe(
          finalize(() => {
            sockets.open -= 1;
          }),
        );
      }),
  };
  return sockets;
}

/** A WebSocket opens. */
export const socketOpen: SocketSign = { _tag: 'Open' };

/** A WebSocket receives a message. */
export const socketText = (json: unknown): SocketSign => ({ _tag: 'Text', text: JSON.stringify(json) });

/** An open WebSocket ends. */
export const socketEnd = (code: number): SocketSign => ({ _tag: 'End', code });
