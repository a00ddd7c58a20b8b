import { ended, heard, start } from './child.js';
import type { Served, ServerOrder, ServerSpec } from './ServerSpec.js';

/** A ledger service that runs. */
export interface Server {
  readonly url: string;
  readonly spec: ServerSpec;
  /** What it has counted so far. */
  readonly served: () => Promise<Served>;
  /** Has so many updates appended, at random times, so many a second on average. */
  readonly append: (count: number, perSecond: number) => void;
}

/** Has a server for as long as it is used. */
export async function withServer<A>(spec: ServerSpec, use: (server: Server) => Promise<A>): Promise<A> {
  const child = start('server.js', spec);
  const tell = (order: ServerOrder): void => {
    child.send(order);
  };
  try {
    const port = await heard(child);
    return await use({
      url: `http://127.0.0.1:${String(port)}`,
      spec,
      served: async () => {
        tell({ order: 'tell' });
        return (await heard(child)) as Served;
      },
      append: (count, perSecond) => {
        tell({ order: 'append', perSecond, count });
      },
    });
  } finally {
    child.kill();
    await ended(child);
  }
}
