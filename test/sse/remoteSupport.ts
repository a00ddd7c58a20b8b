import { asyncScheduler } from 'rxjs';
import { type ServerSentEventsOptions, serverSentEventsResponse } from '../../src/sse/index.js';
import type { LiveContracts } from '../../src/contracts/liveContracts.js';

export const url = 'https://app.example/contracts?of=me';

/** A request that a server has received. */
export interface Received {
  readonly url: string;
  readonly lastEventId: string | null;
  readonly authorization: string | null;
  readonly isAborted: () => boolean;
}

/** How the bytes of a response arrive. */
export interface Line {
  /** How many bytes arrive at once; 0 breaks the connection. By default, all that were sent. */
  readonly nextBytes?: () => number;
  /** Whether nothing arrives for now. */
  readonly isStalled?: () => boolean;
}

/** A server in the same process. It answers with the contracts of a view, unless the test says what else it answers. */
export class AppServer {
  readonly requests: Received[] = [];
  /** All that it has sent. */
  readonly sent: string[] = [];
  /** What it answers in place of the contracts. */
  answer: (request: Request) => Response | Promise<Response> | undefined = () => undefined;
  line: Line = {};
  private readonly connections = new Set<Connection>();

  constructor(
    public live: LiveContracts,
    private readonly options: ServerSentEventsOptions = {},
  ) {}

  readonly fetch: typeof globalThis.fetch = async (input) => {
    const request = input as Request;
    this.requests.push({
      url: request.url,
      lastEventId: request.headers.get('last-event-id'),
      authorization: request.headers.get('authorization'),
      isAborted: () => request.signal.aborted,
    });
    const answered = await this.answer(request);
    if (answered !== undefined) return answered;
    const lastEventId = request.headers.get('last-event-id');
    const { body, headers } = serverSentEventsResponse(this.live.changes$, { ...this.options, lastEventId });
    if (body === null) throw new Error('no body');
    const connection = new Connection(body, this);
    this.connections.add(connection);
    request.signal.addEventListener('abort', () => {
      connection.end(request.signal.reason);
    });
    return new Response(connection.arriving, { headers });
  };

  /** Breaks all connections. */
  cut(): void {
    for (const connection of this.connections) connection.end(new TypeError('terminated'));
    this.connections.clear();
  }

  /** Lets all connections continue that have stalled. */
  resume(): void {
    for (const connection of this.connections) connection.resume();
  }
}

/** A response on its way to the page. */
class Connection {
  private readonly sending: ReadableStreamDefaultReader<Uint8Array>;
  private readonly decoder = new TextDecoder();
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  private rest = new Uint8Array();
  private isEnded = false;
  private resumed: () => void = () => undefined;
  readonly arriving: ReadableStream<Uint8Array>;

  constructor(
    body: ReadableStream<Uint8Array>,
    private readonly server: AppServer,
  ) {
    this.sending = body.getReader();
    this.arriving = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
        },
        pull: () => this.arrive(),
      },
      { highWaterMark: 0 },
    );
  }

  resume(): void {
    this.resumed();
  }

  end(reason: unknown): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.controller?.error(reason);
    void this.sending.cancel();
    this.resumed();
  }

  private async arrive(): Promise<void> {
    const { isStalled, nextBytes } = this.server.line;
    while (isStalled?.() === true && !this.isEnded)
      await new Promise<void>((resolve) => {
        this.resumed = resolve;
      });
    if (this.rest.length === 0) {
      const { value } = await this.sending.read();
      if (this.isEnded) return;
      if (value === undefined) {
        this.isEnded = true;
        this.controller?.close();
        return;
      }
      this.server.sent.push(this.decoder.decode(value, { stream: true }));
      this.rest = Uint8Array.from(value);
    }
    if (this.isEnded) return;
    const count = nextBytes?.() ?? this.rest.length;
    if (count === 0) {
      this.end(new TypeError('terminated'));
      return;
    }
    const part = this.rest.slice(0, count);
    this.rest = this.rest.slice(count);
    this.controller?.enqueue(part);
  }
}

/** Lets all that waits for nothing but the turns of the event loop happen. */
export const settle = async (turns = 20): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

export const now = (): number => asyncScheduler.now();
