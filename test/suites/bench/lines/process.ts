import { plainLoad } from '../Load.js';
import { type Job, sideBySide, speedRatios } from '../processes.js';
import { type Line, median } from '../report.js';
import type { VariantName } from '../variant.js';
import { withPostgres } from '../withPostgres.js';
import { withServer } from '../withServer.js';

/** Work on each update, without a database: over a loop that reads the same ledger with fetch and JSON.parse. */
export const processing: Line = {
  id: 'process',
  about: 'processing',
  measure: ({ sets, scale }) => {
    const count = 100_000 * scale;
    return withServer({ kind: 'tx', count, step: 1, roundTripMs: 0 }, async ({ url }) => {
      const job = (variant: VariantName): Job => ({ variant, load: { ...plainLoad, url, count } });
      const { bare, bareFile, nothing, promises, file } = await sideBySide(sets, {
        bare: job('bareFetch'),
        nothing: job('processNothing'),
        promises: job('processPromises'),
        bareFile: job('bareToFile'),
        file: job('processToFile'),
      });
      return [
        {
          id: 'process',
          figure: 'processFeed, a handler that does nothing / fetch and JSON.parse in a loop',
          ratios: speedRatios(nothing, bare),
        },
        {
          id: 'process-promise',
          figure: 'the same with a handler that returns a Promise',
          ratios: speedRatios(promises, bare),
        },
        {
          id: 'process-file',
          figure: 'the same with fileStore / the loop, with a place that is flushed at each page',
          ratios: speedRatios(file, bareFile),
        },
      ];
    });
  },
};

/** Effects in PostgreSQL, read with undici as services do, over a loop of awaited statements that neither reads a ledger nor keeps a place. */
export const postgres: Line = {
  id: 'postgres',
  about: 'processing into PostgreSQL',
  measure: ({ sets, scale }) => {
    const count = 20_000 * scale;
    return withServer({ kind: 'tx', count: 5 * count, step: 1, roundTripMs: 0 }, ({ url }) =>
      withPostgres(async (databaseUrl) => {
        const job = (variant: VariantName, updates: number): Job => ({
          variant,
          load: { ...plainLoad, url, databaseUrl, port: 'undici', count: updates },
        });
        const { bareInserts, inserts, bareBatches, batches } = await sideBySide(sets, {
          bareInserts: job('bareInserts', count),
          inserts: job('processInserts', count),
          bareBatches: job('bareBatches', 5 * count),
          batches: job('processBatches', 5 * count),
        });
        const rate = ({ cost }: { readonly cost: number }): number => 1_000_000 / cost;
        return [
          {
            id: 'postgres-insert',
            figure: 'one INSERT an update, a commit a page / a loop of awaited INSERTs',
            ratios: speedRatios(inserts, bareInserts),
            goal: { atLeast: 0.9 },
            note: `the loop: ${median(bareInserts.map(rate)).toFixed(0)} rows/s`,
          },
          {
            id: 'postgres-batch',
            figure: 'one INSERT for a batch of 200 / a loop of awaited INSERTs of 200 rows',
            ratios: speedRatios(batches, bareBatches),
            note: `the loop: ${median(bareBatches.map(rate)).toFixed(0)} rows/s`,
          },
        ];
      }),
    );
  },
};
