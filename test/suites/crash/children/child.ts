import { openSync, writeSync } from 'node:fs';
import process from 'node:process';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Observer } from 'rxjs';
import { ledgerEffects } from '../../../../src/codecs/UpdateFormat.js';
import { createLedger } from '../../../../src/ledger/createLedger.js';
import type { Ledger } from '../../../../src/ledger/Ledger.js';
import type { Work } from '../../../../src/process/ProcessOptions.js';
import type { Orders } from '../Child.js';
import { hashOf, idOf, mark } from './marks.js';

/** The orders of this process. */
export const orders = JSON.parse(process.argv[2] ?? '') as Orders;

/** The ledger, with a short timeout for requests and the usual retry budget. */
export const openLedger = (): Ledger =>
  createLedger({
    baseUrl: orders.ledgerUrl,
    requestTimeoutMs: orders.requestTimeoutMs ?? 250,
    retry: { baseDelayMs: 1, maxDelayMs: 20 },
  });

export const request = {
  beginExclusive: 0,
  updateFormat: ledgerEffects({ parties: 'any' }),
  ...(orders.end !== undefined && { endInclusive: orders.end }),
};

let notes: number | undefined;

/**
 * Appends an update to the notes, at once. It begins a line and ends with a mark: a kill can cut a write where a page of
 * the file ends.
 */
export const note = (update: Work): void => {
  mark('u');
  notes ??= openSync(orders.notes ?? '', 'a');
  writeSync(notes, `\n${orders.life} ${update.offset} ${idOf(update)} ${hashOf(update)} .`);
};

/** Marks each commit, and ends the process at an error. */
export const markCommits = (onComplete: () => unknown): Observer<unknown> => ({
  next: () => {
    mark('d');
  },
  error: (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
  complete: () => void onComplete(),
});

/** A NATS connection that waits for its server for any time. */
export async function connectNats(): Promise<NatsConnection> {
  // loaded on demand, since most children do without
  const { connect } = await import('@nats-io/transport-node');
  return connect({
    servers: orders.storeUrl,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 20,
    timeout: 500,
  });
}
