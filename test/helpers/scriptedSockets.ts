import { defer, finalize, type Observable } from 'rxjs';
import type { SocketPort, SocketSign } from '../../src/http/SocketPort.js';

/** A socket that was asked for, as tests look at it. */
export interface AskedSocket {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sockets that do what the test says, and what was asked of them. */
export interface ScriptedSockets {
  readonly port: SocketPort;
  readonly asked: AskedSocket[];
  /** Sockets that are open or being opened. */
  open: number;
}

/** A port whose sockets do as the test says, `answer` being called once per subscription. */
export function scriptedSockets(
  answer: (asked: AskedSocket, count: number) => Observable<SocketSign>,
): ScriptedSockets {
  const sockets: ScriptedSockets = {
    asked: [],
    open: 0,
    port: ({ url, headers, message }) =>
      defer(() => {
        const asked = { path: new URL(url).pathname, headers, body: JSON.parse(message) as AskedSocket['body'] };
        sockets.asked.push(asked);
        sockets.open += 1;
        return answer(asked, sockets.asked.length).pipe(
          finalize(() => {
            sockets.open -= 1;
          }),
        );
      }),
  };
  return sockets;
}

/** A message of the ledger. */
export const text = (json: unknown): SocketSign => ({ _tag: 'Text', text: JSON.stringify(json) });

/** A socket is open. */
export const open: SocketSign = { _tag: 'Open' };

/** The end of a socket that was open. */
export const end = (code: number): SocketSign => ({ _tag: 'End', code });
