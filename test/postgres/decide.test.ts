import { expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { decideRow } from '../../src/postgres/outbox/decide.js';
import type { OutboxRow } from '../../src/postgres/outbox/OutboxRows.js';
import { withoutText } from '../helpers/thrown.js';

it.each(withoutText)('a command whose function throws waits for the next attempt: %s', async (_, thrown) => {
  const pay = (): never => {
    throw thrown;
  };
  const request = { decide: 'pay', argument: 1, actAs: ['alice::1220ab'] };
  const row = { id: 1, request, commandId: 'c-1', failures: 0 } as unknown as OutboxRow;
  expect(await lastValueFrom(decideRow({ decide: { pay }, decideTimeoutMs: 1_000 }, row))).toMatchObject({
    outcome: { state: 'pending', mayBeCommitted: false, error: expect.any(String) },
  });
});
