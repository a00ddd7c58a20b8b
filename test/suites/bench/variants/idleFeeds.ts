import { acsDelta, createLedger } from '../../../../src/index.js';
import { origin } from '../ledgerText.js';
import type { Load, Outcome } from '../Load.js';
import { restingShare } from '../restingShare.js';

/** Many feeds of one ledger where nothing happens. */
export async function measure({ url, count, options }: Load): Promise<Outcome> {
  const ledger = createLedger({ baseUrl: url });
  const failures: unknown[] = [];
  for (let i = 0; i < count; i += 1) {
    ledger.updates({ beginExclusive: origin, updateFormat: acsDelta({ parties: 'any' }) }, options).subscribe({
      error: (error: unknown) => failures.push(error),
    });
  }
  const cost = await restingShare();
  if (failures.length > 0) throw failures[0];
  return { cost };
}
