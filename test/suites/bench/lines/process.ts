import { type Outcome, plainLoad } from '../Load.js';
import { type Job, sideBySide, speedRatios } from '../processes.js';
import { type Line, median } from '../report.js';
import type { VariantName } from '../variant.js';
import { withPostgres } from '../../../helpers/postgresProcess.js';
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

/** Effects in PostgreSQL, read with undici as services do, over loops as one would write them by hand, which keep no place. */
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
        const { bareInserts, loopInserts, inserts, loopBatches, batches } = await sideBySide(sets, {
          bareInserts: job('bareInserts', count),
          loopInserts: job('loopInserts', count),
          inserts: job('processInserts', count),
          loopBatches: job('loopBatches', 5 * count),
          batches: job('processBatches', 5 * count),
        });
        return [
          {
            id: 'postgres-insert',
            figure: 'one INSERT an update, a commit a page / a loop that reads with fetch and awaits each INSERT',
            ratios: speedRatios(inserts, loopInserts),
            goal: { atLeast: 0.9 },
            note: `the loop: ${rateOf(loopInserts)} rows/s`,
          },
          {
            id: 'postgres-bare',
            figure: 'the same / a loop of awaited INSERTs that reads no ledger',
            ratios: speedRatios(inserts, bareInserts),
            note: `the loop: ${rateOf(bareInserts)} rows/s`,
          },
          {
            id: 'postgres-batch',
            figure: 'one INSERT for a batch of 200 / a loop that reads with fetch and inserts pages',
            ratios: speedRatios(batches, loopBatches),
            goal: { atLeast: 0.9 },
            note: `the loop: ${rateOf(loopBatches)} rows/s`,
          },
        ];
      }),
    );
  },
};

const rateOf = (outcomes: readonly Outcome[]): string =>
  median(outcomes.map(({ cost }) => 1_000_000 / cost)).toFixed(0);
