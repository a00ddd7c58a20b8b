import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { clampTimer } from '../wire/values.js';
import { resetSoon } from './Call.js';

/** The server side of a WebSocket, which closes connections as a participant does. */
export class Channel {
  /** The first message: a string, or a `Buffer` if it is binary. Never settles if the client disconnects first. */
  readonly firstMessage: Promise<string | Buffer>;
  readonly #close: WebSocket['close'];
  #hasRequest = false;
  #isSilent = false;

  constructor(private readonly options: ChannelOptions) {
    const { socket, raw, idleMs } = options;
    this.#close = socket.close.bind(socket);
    // ws calls this to respond to a close frame or a protocol error of the client
    socket.close = (code) => {
      if (!this.ignoresClose(code)) this.#close(code);
    };
    this.firstMessage = new Promise((resolve) => {
      socket.once('message', (data: Buffer, isBinary) => {
        this.#hasRequest = true;
        resolve(isBinary ? data : data.toString());
      });
    });
    socket.on('error', () => {
      // handled by the close event that follows
    });
    socket.on('ping', (data) => {
      if (!this.#isSilent) socket.pong(data);
    });
    raw.setTimeout(clampTimer(idleMs), () => {
      options.onEnd();
      raw.destroy();
    });
  }

  /**
   * Sends a message. Resolves when the message has left this process, so that a slow client causes back-pressure. Never
   * resolves if the client has disconnected.
   */
  send(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.options.socket.send(text, (error) => {
        if (error == null) resolve();
      });
    });
  }

  end(code = 1000, reason = ''): void {
    this.options.onEnd();
    this.#close(code, reason);
  }

  /** Resets the connection. */
  reset(): void {
    this.options.onEnd();
    resetSoon(this.options.raw);
  }

  /** Sends nothing from now on, not even pongs, as after a network failure. */
  silence(): void {
    this.#isSilent = true;
    this.options.raw.setTimeout(0);
  }

  /**
   * Participants respond to a client's close frame only when its stream has ended, so never if the stream is endless.
   */
  private ignoresClose(code = 1000): boolean {
    return this.#isSilent || (this.#hasRequest && code <= 1001);
  }
}

interface ChannelOptions {
  readonly socket: WebSocket;
  readonly raw: Socket;
  readonly idleMs: number;
  /** Called when the server ends the connection. */
  readonly onEnd: () => void;
}
