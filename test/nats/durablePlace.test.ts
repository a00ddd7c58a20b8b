import { expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/nats-core';
import { firstValueFrom } from 'rxjs';
import { durablePlace } from '../../src/nats/durablePlace.js';
import { natsStream } from '../../src/nats/NatsStream.js';
import type { PlaceBucket } from '../../src/nats/PlaceBucket.js';
import { retryPolicy } from '../../src/http/retry.js';
import { observe } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { cursorAt } from './support.js';

/** A bucket in memory whose writes wait for a gate, and the records that were written. */
function gatedBucket() {
  const written: { readonly holder?: string; readonly cursor?: { readonly offset: number } }[] = [];
  let gate: Promise<unknown> = Promise.resolve();
  let begun = 0;
  const bucket: PlaceBucket = {
    get: () => Promise.resolve(written.length === 0 ? undefined : { record: written.at(-1), revision: written.length }),
    put: async (_, record, revision) => {
      begun += 1;
      await gate;
      if (revision !== written.length) return undefined;
      return written.push(record as object);
    },
    send: (_, __, record) => {
      written.push(record as object);
    },
  };
  const close = (): (() => void) => {
    let open: () => void = () => undefined;
    gate = new Promise<void>((resolve) => (open = resolve));
    return open;
  };
  return { bucket, written, begun: () => begun, close };
}

const connection = { isClosed: () => false, options: {} } as unknown as NatsConnection;
const stream = natsStream({
  connection,
  stream: 'ledger',
  timeoutMs: 1_000,
  retrying: { retry: retryPolicy(), report: () => undefined },
});

it('does not move back to the cursor before a save when it is renewed during the save', async () => {
  const { bucket, written, begun, close } = gatedBucket();
  const saved: number[] = [];
  const onSaved = (offset: number): void => {
    saved.push(offset);
  };
  const place = durablePlace(stream, bucket, { durable: 'reader', ackWaitMs: 30, onSaved });
  const held = observe(place.hold());
  await until(() => held.values.length === 1);
  const open = close();
  const before = begun();
  const saving = firstValueFrom(place.save(cursorAt(7)), { defaultValue: undefined });
  await until(() => begun() > before);
  // meanwhile a renewal becomes due
  const startedAt = performance.now();
  await until(() => performance.now() > startedAt + 30);
  open();
  await saving;
  expect(saved).toEqual([7]);
  const count = written.length;
  await until(() => written.length > count + 1);
  expect(written.at(-1)?.cursor?.offset).toBe(7);
  held.subscription.unsubscribe();
  expect(written.at(-1)).toEqual({ cursor: cursorAt(7) });
});
