import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as t from 'io-ts';
import { ExecuteRequest } from '../../src/codecs/ExecuteRequest.js';
import { ExecuteResponse } from '../../src/codecs/Transaction.js';
import { JsCantonError } from '../../src/codecs/JsCantonError.js';
import { PrepareRequest } from '../../src/codecs/SubmissionRequest.js';
import { formatProblem, problemsOf } from '../../src/codecs/Problem.js';
import { UpdateElement } from '../../src/codecs/Update.js';
import { UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';
import { problemsIn, replaceAt, sample } from './support.js';
import { effort } from '../helpers/effort.js';

const INT64 = 'Int64, a whole number within 2^53 - 1';
const OFFSET = 'Offset, a whole number from 0 to 2^53 - 1';
const TIMESTAMP = 'Timestamp, ISO 8601 in UTC';

describe('problems of an update', () => {
  const transaction = 'update.Transaction.value';
  const assigned = 'update.Reassignment.value.events.0.JsAssignmentEvent';
  const added = 'update.TopologyTransaction.value.events.1.event.ParticipantAuthorizationAdded.value';

  it.each([
    { of: 0, path: `${transaction}.events.0.CreatedEvent.nodeId`, value: '0', expected: INT64 },
    { of: 0, path: `${transaction}.events.0.CreatedEvent.signatories.0`, value: 7, expected: 'string' },
    {
      of: 0,
      path: `${transaction}.events.0.CreatedEvent.interfaceViews.1.viewStatus.code`,
      value: 1.5,
      expected: INT64,
    },
    {
      of: 0,
      path: `${transaction}.events.0.CreatedEvent.interfaceViews.0.viewStatus`,
      value: null,
      expected: 'ViewStatus',
    },
    { of: 0, path: `${transaction}.events.0.CreatedEvent`, value: [], expected: 'CreatedEvent' },
    { of: 0, path: `${transaction}.events.0`, value: {}, expected: 'TransactionEvent' },
    { of: 0, path: `${transaction}.traceContext`, value: '00-ab', expected: 'TraceContext' },
    { of: 0, path: `${transaction}.traceContext.traceparent`, value: {}, expected: 'string' },
    { of: 0, path: transaction, value: undefined, expected: 'Transaction' },
    { of: 0, path: 'update.Transaction', value: 'x', expected: '{ value: Transaction }' },
    { of: 3, path: `${assigned}.createdEvent.contractId`, value: undefined, expected: 'string' },
    { of: 4, path: `${added}.participantPermission`, value: [], expected: 'ParticipantPermission' },
    { of: 5, path: 'update.OffsetCheckpoint.value.synchronizerTimes.0.recordTime', value: null, expected: TIMESTAMP },
  ])('$path: expected $expected', ({ of, path, value, expected }) => {
    const wire = replaceAt(sample('updates-3.5', 'wire', of), path, value);
    expect(problemsIn(UpdateElement, wire)).toStrictEqual([`${path}: expected ${expected}`]);
  });

  it('are all reported', () => {
    const events = [{ CreatedEvent: {} }, { ArchivedEvent: { offset: 1, nodeId: 'x' } }];
    const wire = { update: { Transaction: { value: { offset: '1', updateId: 'u', events } } } };
    expect(problemsIn(UpdateElement, wire)).toStrictEqual([
      `${transaction}.offset: expected ${OFFSET}`,
      `${transaction}.events.0.CreatedEvent.offset: expected ${OFFSET}`,
      `${transaction}.events.0.CreatedEvent.nodeId: expected ${INT64}`,
      `${transaction}.events.0.CreatedEvent.contractId: expected string`,
      `${transaction}.events.0.CreatedEvent.templateId: expected string`,
      `${transaction}.events.0.CreatedEvent.packageName: expected string`,
      `${transaction}.events.0.CreatedEvent.createdAt: expected ${TIMESTAMP}`,
      `${transaction}.events.1.ArchivedEvent.nodeId: expected ${INT64}`,
      `${transaction}.events.1.ArchivedEvent.contractId: expected string`,
      `${transaction}.events.1.ArchivedEvent.templateId: expected string`,
      `${transaction}.events.1.ArchivedEvent.packageName: expected string`,
      `${transaction}.effectiveAt: expected ${TIMESTAMP}`,
      `${transaction}.synchronizerId: expected string`,
      `${transaction}.recordTime: expected ${TIMESTAMP}`,
    ]);
  });

  it.each([null, undefined, 'text', 1, []])('of %j have no path', (wire) => {
    expect(problemsIn(UpdateElement, wire)).toStrictEqual(['expected { update: Update }']);
  });
});

describe('problems of other answers', () => {
  it.each(['context.category', 'resources'] as const)('an invalid %s does not make an error undecodable', (path) => {
    const wire = replaceAt(sample('errors', 'in-flight', 'wire'), path, 12);
    expect(problemsIn(JsCantonError, wire)).toStrictEqual([]);
  });

  it('of an execution start at the transaction', () => {
    const wire = replaceAt(sample('execute-response', 'wire'), 'transaction.offset', null);
    expect(problemsIn(ExecuteResponse, wire)).toStrictEqual([`transaction.offset: expected ${OFFSET}`]);
  });
});

describe('formatProblem', () => {
  it('omits an empty path', () => {
    expect(formatProblem({ path: '', expected: 'Offset' })).toBe('expected Offset');
    expect(formatProblem({ path: 'a.0', expected: 'Offset' })).toBe('a.0: expected Offset');
  });
});

describe('problemsOf', () => {
  it('names the type if the codec has no message', () => {
    const result = t.type({ a: t.number }).decode({ a: 'secret' });
    expect(result._tag === 'Left' ? problemsOf(result.left) : result).toStrictEqual([
      { path: 'a', expected: 'number' },
    ]);
  });

  it('does not have the keys of a map, which are values', () => {
    const record = t.record(t.string, t.string);
    const maps = {
      plain: record,
      wrapped: t.readonly(t.refinement(record, () => true)),
      nested: t.array(t.record(t.string, t.type({ inner: t.string }))),
      either: t.union([t.string, t.exact(t.type({ deep: record }))]),
      self: t.recursion<Record<string, string>>('Self', () => record),
    };
    const secret = { secret: 1 };
    const value = { plain: secret, wrapped: secret, nested: [{ secret: {} }], self: secret };
    const result = t.type(maps).decode({ ...value, either: { deep: secret } });
    expect(result._tag === 'Left' ? problemsOf(result.left).map(({ path }) => path) : result).toStrictEqual([
      'plain.*',
      'wrapped.*',
      'nested.0.*.inner',
      'either.0',
      'either.1.deep.*',
      'self.*',
    ]);
  });

  it('never contains a value', () => {
    const secret = 'c4n4ry';
    const codecs: readonly t.Decoder<unknown, unknown>[] = [
      UpdateElement,
      ExecuteResponse,
      JsCantonError,
      UpdatesRequest,
      ExecuteRequest,
      PrepareRequest,
    ];
    const samples = [
      ...['0', '1', '2', '3', '4', '5'].map((of) => sample('updates-3.5', 'wire', of)),
      sample('execute-response', 'wire'),
      sample('errors', 'in-flight', 'wire'),
      ...['updates', 'execute', 'prepare'].map((name) => sample('requests', name, 'pasted')),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.array(fc.constantFrom(secret, `!${secret}`, [secret], { [secret]: secret }, { value: secret }), {
          minLength: 1,
        }),
        fc.infiniteStream(fc.boolean()),
        (wire, values, whether) => {
          let next = 0;
          const broken: unknown = JSON.parse(JSON.stringify(wire), (key, value: unknown) =>
            key !== '' && whether.next().value === true && (typeof value !== 'object' || value === null)
              ? values[next++ % values.length]
              : value,
          );
          for (const codec of codecs)
            for (const problem of problemsIn(codec, broken)) expect(withoutKeys(problem, broken)).not.toContain(secret);
        },
      ),
      { numRuns: effort(100, 300) },
    );
  });
});

/** A problem without the keys of its path, which may contain the secret but are not values. */
function withoutKeys(problem: string, broken: unknown): string {
  const keys = new Set<string>();
  JSON.stringify(broken, (key, value: unknown) => {
    keys.add(key);
    return value;
  });
  const [path = '', ...rest] = problem.split(': expected ');
  return [...path.split('.').filter((key) => !keys.has(key)), ...rest].join(' ');
}
