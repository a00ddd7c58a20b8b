import { createLedger } from '../../../../src/ledger/createLedger.js';
import { ledgerEffects } from '../../../../src/codecs/formats.js';
import { orders } from './orders.js';

/** The ledger, with little patience for requests that hang, and no end of patience for it. */
export const ledger = createLedger({
  baseUrl: orders.ledgerUrl,
  requestTimeoutMs: 250,
  retry: { baseDelayMs: 1, maxDelayMs: 20 },
});

export const request = {
  beginExclusive: 0,
  updateFormat: ledgerEffects({ parties: 'any' }),
  ...(orders.end !== undefined && { endInclusive: orders.end }),
};
