import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Completion, CompletionElement } from '../../src/codecs/Completion.js';
import { effort } from '../helpers/effort.js';
import { completion, rejection } from '../helpers/wire.js';
import { decode, problemsIn } from './support.js';

const message = 'LOCAL_VERDICT_LOCKED_CONTRACTS(2,abc123): Rejected transaction\nis referring to locked contracts';
const errorInfo = (reason: string, metadata: object): object => ({
  typeUrl: 'type.googleapis.com/google.rpc.ErrorInfo',
  value: 'AAAA',
  valueDecoded: { reason, domain: '', metadata },
  unknownFields: { fields: {} },
});
const failed = (status: object): object => rejection(9, { status: { code: 10, details: [], ...status } });

describe('a completion', () => {
  it('of a transaction has what the wire has, without empty fields', () => {
    expect(decode(CompletionElement, completion(7))).toStrictEqual({
      _tag: 'Completion',
      outcome: 'committed',
      commandId: 'command-7',
      status: { code: 0, message: '', details: [] },
      updateId: '12207',
      userId: 'app',
      actAs: ['alice::1220ab'],
      deduplicationPeriod: { DeduplicationOffset: { value: 0 } },
      offset: 7,
      synchronizerTime: { synchronizerId: 'sync1::1220ab', recordTime: '2026-07-24T10:00:00Z' },
      paidTrafficCost: 0,
    });
  });

  it('of a reassignment has an update without a deduplication period', () => {
    for (const deduplicationPeriod of [null, { Empty: {} }]) {
      const decoded = decode(CompletionElement, completion(7, { deduplicationPeriod, status: null }));
      expect(decoded).toMatchObject({ outcome: 'reassigned', updateId: '12207' });
      expect(decoded).not.toHaveProperty('deduplicationPeriod');
    }
  });

  it('keeps what a newer ledger adds to its period', () => {
    const duration = { seconds: 600, nanos: 0, unknownFields: { fields: {} } };
    const deduplicationPeriod = { DeduplicationDuration: { value: duration, since: 7 } };
    expect(decode(CompletionElement, completion(7, { deduplicationPeriod, priority: 1 }))).toMatchObject({
      outcome: 'committed',
      deduplicationPeriod,
      priority: 1,
    });
  });

  it('keeps a period of a kind that a newer ledger adds: it is one of a transaction', () => {
    const deduplicationPeriod = { DeduplicationSince: { value: 'yesterday' } };
    expect(decode(CompletionElement, completion(7, { deduplicationPeriod }))).toMatchObject({
      outcome: 'committed',
      deduplicationPeriod,
    });
    expect(decode(CompletionElement, rejection(7, { deduplicationPeriod }))).toMatchObject({ outcome: 'rejected' });
  });

  it.each([{}, { DeduplicationOffset: { value: -1 } }, { DeduplicationOffset: { value: 1 }, Other: {} }])(
    'has no period that is invalid: %j',
    (deduplicationPeriod) => {
      expect(problemsIn(CompletionElement, completion(7, { deduplicationPeriod }))).toHaveLength(1);
    },
  );

  it.each([
    ['its message', { message }, ['LOCAL_VERDICT_LOCKED_CONTRACTS', 2]],
    [
      'its details, where the message has none',
      { message: 'no', details: [{ valueDecoded: 'x' }, errorInfo('DUPLICATE_COMMAND', { category: '10', n: 1 })] },
      ['DUPLICATE_COMMAND', 10],
    ],
    ['neither, where the ledger withholds it', { message: 'An error occurred (see 12).', details: [null] }, ['NA', -1]],
  ])('of a rejection has the code of %s', (_, status, [code, errorCategory]) => {
    const decoded = decode(CompletionElement, failed(status));
    expect(decoded).toMatchObject({ outcome: 'rejected', code, errorCategory, status });
    expect(decoded).not.toHaveProperty('updateId');
  });

  it('of a rejection has the explanation and the texts of the details', () => {
    const metadata = { category: '10', completion_offset: '12', depth: 3 };
    expect(decode(CompletionElement, failed({ message, details: [errorInfo('X', metadata)] }))).toMatchObject({
      reason: 'Rejected transaction\nis referring to locked contracts',
      context: { category: '10', completion_offset: '12' },
    });
  });

  it('without an update and without an error is invalid', () => {
    expect(problemsIn(CompletionElement, completion(7, { updateId: '' }))).toStrictEqual([
      'completionResponse.Completion.value.updateId: expected an update id',
    ]);
  });

  it('decodes an encoded value to the same value', () => {
    const texts = fc.constantFrom(null, '', 'x');
    const wires = fc.record({
      status: fc.constantFrom(null, { code: 0, message: '', details: [] }, { code: 5, message, details: [{}] }),
      submissionId: texts,
      transactionHash: texts,
      traceContext: fc.constantFrom(null, { traceparent: '00-1', tracestate: null }),
      deduplicationPeriod: fc.constantFrom(null, { Empty: {} }, { DeduplicationOffset: { value: 9 } }, { Later: 7 }),
      paidTrafficCost: fc.constantFrom(null, 0, 7),
      novelty: fc.jsonValue(),
    });
    fc.assert(
      fc.property(wires, (changes) => {
        const decoded = decode(CompletionElement, completion(7, changes));
        expect(decode(CompletionElement, CompletionElement.encode(decoded))).toStrictEqual(decoded);
        expect(Completion.is(decoded)).toBe(true);
        expect(JSON.stringify(CompletionElement.encode(decoded))).not.toContain('outcome');
      }),
      { numRuns: effort(25, 100) },
    );
  });
});
