/** Updates and responses in their wire form, as small as they may be. */
import type { HttpResponse } from '../../src/http/HttpPort.js';

const recordTime = '2026-07-24T10:00:00Z';
export const synchronizerId = 'sync1::1220ab';

/** The content of a transaction without events, of which `fields` may differ. */
export const transactionValue = (offset: number, fields: object = {}): object => ({
  updateId: `1220${offset}`,
  commandId: '',
  workflowId: '',
  effectiveAt: recordTime,
  events: [],
  offset,
  synchronizerId,
  traceContext: null,
  recordTime,
  externalTransactionHash: null,
  paidTrafficCost: null,
  ...fields,
});

/** `{"update": {"Transaction": ...}}`. */
export const transactionWith = (offset: number, fields: object): object => ({
  update: { Transaction: { value: transactionValue(offset, fields) } },
});

/** A transaction without events. */
export const transaction = (offset: number): object => transactionWith(offset, {});

/** A transaction without events, with an update ID of its own. */
export const transactionWithId = (offset: number, updateId: string): object => transactionWith(offset, { updateId });

/** `{"update": {"Reassignment": ...}}`, without events unless `fields` have some. */
export const reassignmentWith = (offset: number, fields: object): object => ({
  update: {
    Reassignment: {
      value: {
        updateId: `1220${offset}`,
        commandId: '',
        workflowId: '',
        offset,
        events: [],
        traceContext: null,
        recordTime,
        synchronizerId,
        paidTrafficCost: null,
        ...fields,
      },
    },
  },
});

/** A checkpoint. */
export const checkpoint = (offset: number, time = recordTime): object => ({
  update: { OffsetCheckpoint: { value: { offset, synchronizerTimes: [{ synchronizerId, recordTime: time }] } } },
});

/** A checkpoint among completions. */
export const completionCheckpoint = (offset: number, time = recordTime): object => ({
  completionResponse: {
    OffsetCheckpoint: { value: { offset, synchronizerTimes: [{ synchronizerId, recordTime: time }] } },
  },
});

/** A completion: of a committed transaction, if `changes` do not say otherwise. */
export const completion = (offset: number, changes: object = {}): object => ({
  completionResponse: {
    Completion: {
      value: {
        commandId: `command-${offset}`,
        status: { code: 0, message: '', details: [] },
        updateId: `1220${offset}`,
        userId: 'app',
        actAs: ['alice::1220ab'],
        submissionId: '',
        deduplicationPeriod: { DeduplicationOffset: { value: 0 } },
        traceContext: null,
        offset,
        synchronizerTime: { synchronizerId, recordTime },
        paidTrafficCost: 0,
        transactionHash: '',
        ...changes,
      },
    },
  },
});

/** A rejection. */
export const rejection = (offset: number, changes: object = {}): object =>
  completion(offset, {
    updateId: '',
    status: {
      code: 10,
      message: 'LOCAL_VERDICT_LOCKED_CONTRACTS(2,abc123): Rejected transaction is referring to locked contracts',
      details: [],
    },
    ...changes,
  });

/** An update of a variant that no codec knows. */
export const unknownVariant = (offset: number): object => ({ update: { Novelty: { value: { offset, novel: true } } } });

/** A transaction that does not decode. */
export const invalid = (offset: number): object => ({
  update: { Transaction: { value: { updateId: 'secret payload', offset } } },
});

/** The errors of a connection that was refused, and of one that broke. */
export const refusedConnection = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
export const brokenConnection = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** A response with status 200 and a JSON body. */
export const ok = (body: unknown): HttpResponse => ({ status: 200, headers: {}, text: JSON.stringify(body) });

/** A response with an error status; a string body is sent as it is, any other as JSON. */
export const errorReply = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse => ({
  status,
  headers,
  text: typeof body === 'string' ? body : JSON.stringify(body),
});

/** The body of an error of the ledger, with all ten keys. */
export const errorBody = (
  code: string,
  errorCategory: number,
  context: Readonly<Record<string, string>> = {},
): object => ({
  code,
  cause: `because of ${code}`,
  correlationId: null,
  traceId: null,
  context,
  resources: [],
  errorCategory,
  grpcCodeValue: 0,
  retryInfo: null,
  definiteAnswer: null,
});

/** The response of the JSON layer that waits no longer for the participant. */
export const timedOut = errorReply(503, 'The server was not able to produce a timely response to your request.');

/** The response to an unknown path. */
export const notFound = errorReply(404, { errors: ['HttpMethod(POST)'], status: 404, ledgerApiError: null });
