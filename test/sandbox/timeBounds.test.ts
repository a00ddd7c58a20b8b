import { describe, expect, it } from '@jest/globals';
import type { ExternalParty, Sandbox } from '../../src/sandbox/index.js';
import { stopClock } from '../helpers/time.js';
import { post, textAt } from './client.js';
import { createCommand, executeBody, executePath, prepareBody, preparePath, withParty } from './requests.js';

const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString();
const absolute = (value: string) => ({ time: { MinLedgerTimeAbs: { value } } });
const relative = (seconds: number) => ({ time: { MinLedgerTimeRel: { value: { seconds, nanos: 0 } } } });

async function prepareAndSignWith(sandbox: Sandbox, eve: ExternalParty, changes: object = {}) {
  const { json } = await post(sandbox, preparePath, { ...prepareBody(eve.party, createCommand), ...changes });
  return executeBody(json, eve.party, eve.sign(textAt(json, 'preparedTransactionHash')));
}

const rejected = (code: string) => ({
  status: 409,
  json: { code, errorCategory: 2, context: { definite_answer: 'false' } },
});

describe('a prepared transaction', () => {
  it('is valid until its maximum record time', async () => {
    const { sandbox, eve } = await withParty();
    const late = await prepareAndSignWith(sandbox, eve, { maxRecordTime: fromNow(-1) });
    expect(await post(sandbox, executePath, late)).toMatchObject(rejected('LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED'));
    expect(sandbox.updates).toEqual([]);
    // the same change, prepared again
    const again = await prepareAndSignWith(sandbox, eve, { maxRecordTime: fromNow(60_000) });
    expect((await post(sandbox, executePath, again)).status).toBe(200);
  });

  it('is valid for the configured time after its preparation', async () => {
    const clock = stopClock();
    const { sandbox, eve } = await withParty({ preparationTimeToleranceMs: 5 });
    const body = await prepareAndSignWith(sandbox, eve);
    await clock.advance(6);
    const expired = rejected('LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND');
    expect(await post(sandbox, executePath, body)).toMatchObject(expired);
    sandbox.configure({ preparationTimeToleranceMs: 60_000 });
    expect((await post(sandbox, executePath, body)).status).toBe(200);
  });

  it('is valid for any time of generated traffic', async () => {
    const { sandbox, eve } = await withParty({ preparationTimeToleranceMs: 60_000 });
    await post(sandbox, executePath, await prepareAndSignWith(sandbox, eve, { commandId: 'first' }));
    const body = await prepareAndSignWith(sandbox, eve, { maxRecordTime: fromNow(60_000) });
    sandbox.generate(500);
    expect((await post(sandbox, executePath, body)).status).toBe(200);
  });

  it.each([absolute('2999-01-01T00:00:00Z'), relative(90)])(
    'is not committed with a ledger time too far ahead: %j',
    async (minLedgerTime) => {
      const { sandbox, eve } = await withParty();
      const far = rejected('LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND');
      expect(
        await post(sandbox, executePath, { ...(await prepareAndSignWith(sandbox, eve)), minLedgerTime }),
      ).toMatchObject(far);
      expect(await post(sandbox, executePath, await prepareAndSignWith(sandbox, eve, { minLedgerTime }))).toMatchObject(
        far,
      );
      sandbox.configure({ ledgerTimeToleranceMs: 1e15 });
      expect(
        (await post(sandbox, executePath, { ...(await prepareAndSignWith(sandbox, eve)), minLedgerTime })).status,
      ).toBe(200);
    },
  );

  it('is committed at its minimum ledger time, within the tolerance', async () => {
    const { sandbox, eve } = await withParty();
    const value = fromNow(20_000);
    const body = { ...(await prepareAndSignWith(sandbox, eve)), minLedgerTime: absolute(value) };
    expect((await post(sandbox, executePath, body)).json).toMatchObject({
      transaction: { effectiveAt: value.replace('.000Z', 'Z') },
    });
    const other = {
      ...(await prepareAndSignWith(sandbox, eve, { commandId: 'other' })),
      minLedgerTime: { time: { Empty: {} } },
    };
    expect((await post(sandbox, executePath, other)).status).toBe(200);
  });

  it('needs times that decode', async () => {
    const { sandbox, eve } = await withParty();
    const body = prepareBody(eve.party, createCommand);
    for (const changes of [
      { maxRecordTime: 'tomorrow' },
      { maxRecordTime: '2026-13-01T00:00:00Z' },
      { minLedgerTime: absolute('tomorrow') },
      { minLedgerTime: relative(1e15) },
      { minLedgerTime: { time: { Later: {} } } },
    ]) {
      expect(await post(sandbox, preparePath, { ...body, ...changes })).toMatchObject({
        status: 400,
        text: expect.stringContaining('Invalid value for: body'),
      });
    }
  });
});
