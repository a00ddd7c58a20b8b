import type { Kind } from './ledgerText.js';
import { exited, nextMessage, start } from './processes.js';

/** The ledger of a server, and the distance to it. */
export interface ServerSpec {
  readonly kind: Kind;
  /** How many updates there are. */
  readonly count: number;
  /** The distance between the offsets of two updates. */
  readonly step: number;
  /** The network's round trip time. */
  readonly roundTripMs: number;
}

/** The counters of a server since its start. */
export interface Served {
  readonly requests: number;
  /** Answers to bounded ranges. */
  readonly pages: number;
  readonly emptyPages: number;
  readonly updates: number;
  /** When each new update was appended, in milliseconds of the machine's clock. */
  readonly appendedAt: readonly number[];
}

/** A message to a server. */
export type ServerOrder =
  { readonly order: 'report' } | { readonly order: 'append'; readonly perSecond: number; readonly count: number };

/** A running ledger service. */
export interface Server {
  readonly url: string;
  readonly spec: ServerSpec;
  /** Its counters. */
  readonly served: () => Promise<Served>;
  /** Appends updates at random times, with an average rate. */
  readonly append: (count: number, perSecond: number) => void;
}

/** Starts a server, uses it, and stops it. */
export async function withServer<A>(spec: ServerSpec, use: (server: Server) => Promise<A>): Promise<A> {
  const child = start('server.js', spec);
  const send = (order: ServerOrder): void => {
    child.send(order);
  };
  try {
    const port = await nextMessage(child);
    return await use({
      url: `http://127.0.0.1:${String(port)}`,
      spec,
      served: async () => {
        send({ order: 'report' });
        return (await nextMessage(child)) as Served;
      },
      append: (count, perSecond) => {
        send({ order: 'append', perSecond, count });
      },
    });
  } finally {
    child.kill();
    await exited(child);
  }
}
