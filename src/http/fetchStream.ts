import { Observable } from 'rxjs';
import type { HttpRequest } from './HttpPort.js';

/** A part of a response that is read while it comes: first its head, then the chunks of its body. */
export type StreamPart =
  | {
      readonly _tag: 'Head';
      readonly status: number;
      /** The headers. Names are in lower case. */
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly _tag: 'Chunk'; readonly bytes: Uint8Array };

/**
 * Sends a request whose response has no end. Emits the parts of the response, and completes with it. Errors if the connection
 * fails, before or after the head. Unsubscribing aborts the request.
 */
export type StreamPort = (request: HttpRequest) => Observable<StreamPart>;

/** Sends requests with `fetch`, and reads their responses while they come. */
export const fetchStream =
  (fetch?: typeof globalThis.fetch): StreamPort =>
  ({ method, url, headers }) =>
    new Observable<StreamPart>((subscriber) => {
      const controller = new AbortController();
      let isEnded = false;
      const read = async (): Promise<void> => {
        // following a redirect would send headers to another host
        const init: RequestInit = { method, headers, signal: controller.signal, redirect: 'manual' };
        const response = await (fetch === undefined ? globalThis.fetch(url, init) : fetch(new Request(url, init)));
        subscriber.next({ _tag: 'Head', status: response.status, headers: Object.fromEntries(response.headers) });
        const reader = response.body?.getReader();
        // a fetch that is not the one of the platform may not know the signal
        const cancel = (): void => void reader?.cancel().catch(() => undefined);
        if (controller.signal.aborted) cancel();
        controller.signal.addEventListener('abort', cancel);
        for (;;) {
          const { value: bytes } = (await reader?.read()) ?? {};
          if (bytes === undefined) return;
          subscriber.next({ _tag: 'Chunk', bytes });
        }
      };
      read().then(
        () => {
          isEnded = true;
          subscriber.complete();
        },
        (error: unknown) => {
          isEnded = true;
          subscriber.error(error);
        },
      );
      return () => {
        // aborting a fetch that has failed may cause a second rejection, which would be unhandled
        if (!isEnded) controller.abort();
      };
    });
