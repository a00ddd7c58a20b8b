import { defer, from, Observable, type ObservableInput } from 'rxjs';
import type { HttpPort, HttpRequest, HttpResponse } from '../../src/http/HttpPort.js';

/** A request as tests look at it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
}

/** What a scripted service answers: a status and a body, or an error of the connection. */
export type Reply = HttpResponse | Error;

/** A service whose answers the test gives, and what it was asked. */
export interface Scripted {
  readonly port: HttpPort;
  readonly asked: Asked[];
  /** Requests that were unsubscribed before their answer came. */
  readonly aborted: Asked[];
  /** Requests on the way now. */
  open: number;
}

const askedOf = ({ method, url, body, headers }: HttpRequest): Asked => {
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

/** A port that answers as the test says, `answer` being called once per subscription. */
export function scripted(answer: (asked: Asked, count: number) => ObservableInput<Reply>): Scripted {
  const service: Scripted = {
    asked: [],
    aborted: [],
    open: 0,
    port: (request) =>
      new Observable<HttpResponse>((subscriber) => {
        const asked = askedOf(request);
        service.asked.push(asked);
        service.open += 1;
        let answered = false;
        // what has been answered is not on the way any more, whatever is done with the answer
        const settle = (): void => {
          if (!answered) service.open -= 1;
          answered = true;
        };
        const subscription = defer(() => from(answer(asked, service.asked.length))).subscribe({
          next: (reply) => {
            settle();
            if (reply instanceof Error) subscriber.error(reply);
            else subscriber.next(reply);
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
          if (!answered) service.aborted.push(asked);
          settle();
          subscription.unsubscribe();
        };
      }),
  };
  return service;
}

/** A 200 with a JSON body. */
export const ok = (body: unknown): HttpResponse => ({ status: 200, headers: {}, text: JSON.stringify(body) });

/** An answer that is no success. */
export const failed = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse => ({
  status,
  headers,
  text: typeof body === 'string' ? body : JSON.stringify(body),
});

/** The body of the ledger's own errors, all ten keys. */
export const canton = (
  code: string,
  errorCategory: number,
  context: Readonly<Record<string, string>> = {},
): object => ({
  code,
  cause: `because of ${code}`,
  correlationId: null,
  traceId: null,
  context,
  resources: [],
  errorCategory,
  grpcCodeValue: 0,
  retryInfo: null,
  definiteAnswer: null,
});

/** What an unknown path answers. */
export const notFound = failed(404, { errors: ['HttpMethod(POST)'], status: 404, ledgerApiError: null });
