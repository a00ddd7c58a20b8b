import { lastValueFrom, map, mergeMap, range } from 'rxjs';
import { createLedger } from '../../../../src/index.js';
import { type Measure, stopwatch } from '../Load.js';

/** How many submissions are under way at a time. */
const concurrency = 16;

const actAs = ['alice::1220ab'] as const;
const commands = [{ CreateCommand: { templateId: '#p:M:T', createArguments: { owner: actAs[0], amount: '10.0' } } }];

/** The library's submission of commands of a hosted party. */
export const submitCommands: Measure = async ({ url, count }) => {
  const ledger = createLedger({ baseUrl: url });
  const watch = stopwatch(count);
  await lastValueFrom(
    range(0, count).pipe(
      mergeMap((n) => ledger.submitAndWaitForTransaction({ actAs, commandId: `order-${n}`, commands }), concurrency),
      map(() => {
        watch.add(1);
      }),
    ),
  );
  return { cost: watch.each() };
};

/** A loop over `fetch`, which sends a command once and decodes nothing. */
export const bareSubmit: Measure = async ({ url, count }) => {
  const watch = stopwatch(count);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const commandId = `order-${next}`;
      next += 1;
      const response = await fetch(`${url}/v2/commands/submit-and-wait-for-transaction`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ commands: { actAs, commandId, commands } }),
      });
      await response.json();
      watch.add(1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { cost: watch.each() };
};
