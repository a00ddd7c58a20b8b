import { defer, of, type Observable } from 'rxjs';
import { acsDelta } from '../../src/codecs/formats.js';
import type { Update } from '../../src/codecs/Update.js';
import type { UpdatesOptions } from '../../src/feed/UpdatesOptions.js';
import type { Range } from '../../src/feed/Page.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import type { SocketSign } from '../../src/http/SocketPort.js';
import type { LedgerOptions } from '../../src/ledger/LedgerOptions.js';
import { scripted, type Asked, type Reply, type Scripted } from './scripted.js';
import { scriptedSockets, type AskedSocket, type ScriptedSockets } from './scriptedSockets.js';
import { VirtualLedger, type VirtualOptions } from './virtualLedger.js';
import { transaction } from './wire.js';

export const updateFormat = acsDelta({ parties: ['alice::1220ab'] });

/** A virtual ledger, the service in front of it, and a client of that service. */
export interface World {
  readonly ledger: VirtualLedger;
  readonly service: Scripted;
  readonly sockets: ScriptedSockets;
  readonly client: Ledger;
  /** From 0 and without an end, unless it is told otherwise. */
  readonly feed: (
    request?: Partial<Range>,
    options?: UpdatesOptions & { readonly onInvalid?: 'fail' },
  ) => Observable<Update>;
}

export interface WorldOptions extends VirtualOptions {
  readonly client?: Partial<LedgerOptions>;
  /** What goes wrong: an answer in place of the ledger's, by request and by its number. */
  readonly fault?: (asked: Asked, count: number) => Reply | Observable<Reply> | undefined;
  /** The same of sockets. */
  readonly socketFault?: (asked: AskedSocket, count: number) => Observable<SocketSign> | undefined;
}

export function world({ fault, socketFault, client: options, ...virtual }: WorldOptions = {}): World {
  const ledger = new VirtualLedger(virtual);
  const service = scripted((asked, count) =>
    defer(() => {
      const wrong = fault?.(asked, count);
      if (wrong === undefined) return ledger.answer(asked);
      return 'subscribe' in wrong ? wrong : of(wrong);
    }),
  );
  const sockets = scriptedSockets((asked, count) => socketFault?.(asked, count) ?? ledger.push(asked));
  const ports = { port: service.port, webSocket: sockets.port };
  const client = createLedger({ baseUrl: 'http://ledger.example', ...ports, ...options });
  return {
    ledger,
    service,
    sockets,
    client,
    feed: ({ beginExclusive = 0, endInclusive, descendingOrder } = {}, how = {}) =>
      client.updates(
        endInclusive === undefined
          ? { beginExclusive, updateFormat }
          : { beginExclusive, endInclusive, descendingOrder, updateFormat },
        how,
      ),
  };
}

export const fill = (ledger: VirtualLedger, ...all: readonly number[]): void => {
  for (const offset of all) ledger.append(offset, transaction(offset));
};

/** 1 to n. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
