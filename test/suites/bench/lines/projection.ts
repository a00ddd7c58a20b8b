import { type Outcome, plainLoad } from '../Load.js';
import { type Job, sideBySide, speedRatios } from '../processes.js';
import { type Line, median } from '../report.js';
import type { VariantName } from '../variant.js';
import { withPostgres } from '../../../helpers/postgresProcess.js';
import { withServer } from '../withServer.js';

/** A projection of contracts into PostgreSQL, its snapshot over a loop that inserts the same rows, and its changes over plain batches. */
export const projection: Line = {
  id: 'projection',
  about: 'a projection of contracts into PostgreSQL',
  measure: ({ sets, scale }) => {
    const count = 100_000 * scale;
    return withPostgres((databaseUrl) =>
      withServer({ kind: 'contract', count, step: 1, roundTripMs: 0 }, ({ url: contractsUrl }) =>
        withServer({ kind: 'change', count, step: 1, roundTripMs: 0 }, ({ url: changesUrl }) =>
          withServer({ kind: 'tx', count, step: 1, roundTripMs: 0 }, async ({ url: updatesUrl }) => {
            const job = (variant: VariantName, url: string): Job => ({
              variant,
              load: { ...plainLoad, url, databaseUrl, port: 'undici', count },
            });
            const { loop, load, batches, changes } = await sideBySide(sets, {
              loop: job('loopProjection', contractsUrl),
              load: job('loadProjection', contractsUrl),
              batches: job('processBatches', updatesUrl),
              changes: job('projectChanges', changesUrl),
            });
            const writing = (outcomes: readonly Outcome[]): readonly Outcome[] =>
              outcomes.map(({ figures }) => ({ cost: figures?.['writingUs'] ?? NaN }));
            return [
              {
                id: 'projection-load',
                figure:
                  'a snapshot of 100 000 contracts, projected / read with fetch, and the same rows copied by a loop',
                ratios: speedRatios(load, loop),
                note: `${rateOf(load)} contracts/s, the loop ${rateOf(loop)}`,
              },
              {
                id: 'projection-write',
                figure: 'the same without the reading / the copying of the loop',
                ratios: speedRatios(writing(load), writing(loop)),
                goal: { atLeast: 0.8 },
                note: `${rateOf(writing(load))} contracts/s, the loop ${rateOf(writing(loop))}`,
              },
              {
                id: 'projection-feed',
                figure: 'changes of contracts, projected in batches of 200 / one INSERT for a batch of 200 updates',
                ratios: speedRatios(changes, batches),
                note: `${rateOf(changes)} updates/s, the batches ${rateOf(batches)}`,
              },
            ];
          }),
        ),
      ),
    );
  },
};

const rateOf = (outcomes: readonly Outcome[]): string =>
  median(outcomes.map(({ cost }) => 1_000_000 / cost)).toFixed(0);
