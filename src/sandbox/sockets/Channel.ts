import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { timerMs } from '../wire/values.js';

interface Wiring {
  readonly socket: WebSocket;
  readonly raw: Socket;
  readonly idleMs: number;
  /** Called when it is the server that ends it. */
  readonly onEnd: () => void;
}

/** Bytes and a reset that arrive together are a plain end to many clients: libuv does not report the reset then. */
const readMs = 10;

/** The server's end of a WebSocket, with the manners of a participant. */
export class Channel {
  /** The first message, a text unless it was sent as bytes. Never settles if the client leaves before it. */
  readonly first: Promise<string | Buffer>;
  readonly #close: WebSocket['close'];
  #asked = false;
  #silent = false;

  constructor(private readonly wiring: Wiring) {
    const { socket, raw, idleMs } = wiring;
    this.#close = socket.close.bind(socket);
    // what ws calls to answer a close frame, or a mistake of the client
    socket.close = (code) => {
      if (!this.isHeldOpen(code)) this.#close(code);
    };
    this.first = new Promise((resolve) => {
      socket.once('message', (data: Buffer, isBinary) => {
        this.#asked = true;
        resolve(isBinary ? data : data.toString());
      });
    });
    socket.on('error', () => {
      // the close that follows says it all
    });
    socket.on('ping', (data) => {
      if (!this.#silent) socket.pong(data);
    });
    raw.setTimeout(timerMs(idleMs), () => {
      wiring.onEnd();
      raw.destroy();
    });
  }

  /**
   * Sends a message. Resolves once it has left this process, so that a slow client is waited for, and never if the client
   * is gone.
   */
  send(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.wiring.socket.send(text, (error) => {
        if (error == null) resolve();
      });
    });
  }

  end(code = 1000, reason = ''): void {
    this.wiring.onEnd();
    this.#close(code, reason);
  }

  /** Resets the connection. */
  cut(): void {
    this.wiring.onEnd();
    setTimeout(() => this.wiring.raw.resetAndDestroy(), readMs).unref();
  }

  /** Falls silent as if the network did: from here on nothing is sent, no pong either. */
  silence(): void {
    this.#silent = true;
    this.wiring.raw.setTimeout(0);
  }

  /** A client that wants to close is answered once its stream has ended, and never if that is endless. */
  private isHeldOpen(code = 1000): boolean {
    return this.#silent || (this.#asked && code <= 1001);
  }
}
