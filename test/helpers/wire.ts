/** Updates and responses in their wire form, as small as they may be. */
import type { HttpResponse } from '../../src/http/HttpPort.js';

const recordTime = '2026-07-24T10:00:00Z';
const synchronizerId = 'sync1::1220ab';

/** A transaction without events. */
export const transaction = (offset: number): object => ({
  update: {
    Transaction: {
      value: {
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
      },
    },
  },
});

/** A checkpoint. */
export const checkpoint = (offset: number): object => ({
  update: { OffsetCheckpoint: { value: { offset, synchronizerTimes: [{ synchronizerId, recordTime }] } } },
});

/** An update of a variant that no codec knows. */
export const unknownVariant = (offset: number): object => ({ update: { Novelty: { value: { offset, novel: true } } } });

/** A transaction that does not decode. */
export const invalid = (offset: number): object => ({
  update: { Transaction: { value: { updateId: 'secret payload', offset } } },
});

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

/** The response to an unknown path. */
export const notFound = errorReply(404, { errors: ['HttpMethod(POST)'], status: 404, ledgerApiError: null });
