/** Elements of the wire, as small as they may be. */

const at = '2026-07-24T10:00:00Z';
const synchronizer = 'sync1::1220ab';

/** A transaction without events. */
export const transaction = (offset: number): object => ({
  update: {
    Transaction: {
      value: {
        updateId: `1220${offset}`,
        commandId: '',
        workflowId: '',
        effectiveAt: at,
        events: [],
        offset,
        synchronizerId: synchronizer,
        traceContext: null,
        recordTime: at,
        externalTransactionHash: null,
        paidTrafficCost: null,
      },
    },
  },
});

/** A checkpoint. */
export const checkpoint = (offset: number): object => ({
  update: {
    OffsetCheckpoint: { value: { offset, synchronizerTimes: [{ synchronizerId: synchronizer, recordTime: at }] } },
  },
});

/** A variant that nobody knows. */
export const novelty = (offset: number): object => ({ update: { Novelty: { value: { offset, novel: true } } } });

/** A transaction that does not decode. */
export const invalid = (offset: number): object => ({
  update: { Transaction: { value: { updateId: 'secret payload', offset } } },
});
