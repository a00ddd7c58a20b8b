import { defer, type Observable, of } from 'rxjs';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import type { Update } from '../../src/codecs/Update.js';
import type { Transport } from '../../src/feed/LedgerFeed.js';
import type { Range } from '../../src/feed/Page.js';
import type { UpdatesOptions } from '../../src/feed/UpdatesOptions.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { LedgerOptions } from '../../src/ledger/LedgerOptions.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import type { SocketSign } from '../../src/ws/SocketPort.js';
import { socketTransport } from '../../src/ws/socketTransport.js';
import {
  type Reply,
  scriptedService,
  type ScriptedService,
  scriptedSockets,
  type ScriptedSockets,
  type ServiceRequest,
  type SocketRequest,
} from './scripted.js';
import { VirtualLedger, type VirtualOptions } from './virtualLedger.js';
import { transaction } from './wire.js';

export const updateFormat = acsDelta({ parties: ['alice::1220ab'] });

/** A virtual ledger, a service that serves it, and a client of that service. */
export interface World {
  readonly ledger: VirtualLedger;
  readonly service: ScriptedService;
  readonly sockets: ScriptedSockets;
  /** The options of a feed by those sockets. */
  readonly websocket: { readonly transport: Transport };
  readonly client: Ledger;
  /** The updates of the client; by default all from 0, without an end. */
  readonly feed: (
    request?: Partial<Range>,
    options?: UpdatesOptions & { readonly onUndecodable?: 'fail' },
  ) => Observable<Update>;
}

export interface WorldOptions extends VirtualOptions {
  readonly client?: Partial<LedgerOptions>;
  /** Returns the reply to a request if it fails, from the request and its number. */
  readonly fault?: (request: ServiceRequest, count: number) => Reply | Observable<Reply> | undefined;
  /** Returns the stream of a WebSocket if it fails, from its request and its number. */
  readonly socketFault?: (request: SocketRequest, count: number) => Observable<SocketSign> | undefined;
}

export function world({ fault, socketFault, client: options, ...virtual }: WorldOptions = {}): World {
  const ledger = new VirtualLedger(virtual);
  const service = scriptedService((request, count) =>
    defer(() => {
      const faulty = fault?.(request, count);
      if (faulty === undefined) return ledger.reply(request);
      return 'subscribe' in faulty ? faulty : of(faulty);
    }),
  );
  const sockets = scriptedSockets((request, count) => socketFault?.(request, count) ?? ledger.streamText(request));
  const client = createLedger({ baseUrl: 'http://ledger.example', port: service.port, ...options });
  return {
    ledger,
    service,
    sockets,
    websocket: { transport: socketTransport(sockets.port) },
    client,
    feed: ({ beginExclusive = 0, endInclusive, descendingOrder } = {}, options = {}) =>
      client.updates(
        endInclusive === undefined
          ? { beginExclusive, updateFormat }
          : { beginExclusive, endInclusive, descendingOrder, updateFormat },
        options,
      ),
  };
}

export const fill = (ledger: VirtualLedger, ...all: readonly number[]): void => {
  for (const offset of all) ledger.append(offset, transaction(offset));
};

/** The numbers from 1 to n. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
