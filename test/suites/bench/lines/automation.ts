import { type Outcome, plainLoad } from '../Load.js';
import { exited, nextMessage, sideBySide, speedRatios, start } from '../processes.js';
import { type Line, median } from '../report.js';

/** A ledger with contracts that submissions archive. */
export interface AutomationSpec {
  readonly count: number;
  /** How long a submission takes, in milliseconds. */
  readonly submitMs: number;
}

const submitMs = 5;

/** A rule that acts on many contracts that are due at once. */
export const automation: Line = {
  id: 'automation',
  about: 'a rule that acts on contracts',
  measure: async ({ sets, scale }) => {
    const count = 5_000 * scale;
    const server = start('automationServer.js', { count, submitMs } satisfies AutomationSpec);
    try {
      const load = { ...plainLoad, url: `http://127.0.0.1:${String(await nextMessage(server))}`, count };
      const { ours, undici, theirs, ky, following } = await sideBySide(
        sets,
        {
          ours: { variant: 'automateRule', load },
          undici: { variant: 'automateRule', load: { ...load, port: 'undici' } },
          theirs: { variant: 'bareAutomation', load },
          ky: { variant: 'bareAutomationKy', load },
          following: { variant: 'bareAutomationFollowing', load },
        },
        ['--expose-gc'],
      );
      const perSecond = (outcomes: readonly Outcome[]): string =>
        (1e6 / median(outcomes.map(({ cost }) => cost))).toFixed(0);
      const heapMiB = (name: string): string =>
        (median(ours.map(({ figures }) => figures?.[name] ?? NaN)) / 2 ** 20).toFixed(1);
      return [
        {
          id: 'automation',
          figure: `actions on ${count} contracts, 8 at a time at ${submitMs} ms / a loop over fetch`,
          ratios: speedRatios(ours, theirs),
          goal: { atLeast: 0.85 },
          note: `${perSecond(ours)} a second, the loop ${perSecond(theirs)}`,
        },
        {
          id: 'automation-ky',
          figure: 'the same / a loop over ky, which sends the requests of the rule, too',
          ratios: speedRatios(ours, ky),
          goal: { atLeast: 0.85 },
          note: `the loop ${perSecond(ky)}`,
        },
        {
          id: 'automation-following',
          figure: 'the same / a loop over ky that also reads the updates, as a rule does',
          ratios: speedRatios(ours, following),
          goal: { atLeast: 0.85 },
          note: `the loop ${perSecond(following)}`,
        },
        {
          id: 'automation-undici',
          figure: 'the same over undici / the same loop',
          ratios: speedRatios(undici, theirs),
        },
        {
          id: 'automation-heap',
          figure: 'heap after the last action / when the contracts are known',
          ratios: ours.map(({ figures }) => (figures?.['heapAtEnd'] ?? NaN) / (figures?.['heapAtStart'] ?? NaN)),
          goal: { atMost: 1.1 },
          note: `${heapMiB('heapAtStart')} MiB, then ${heapMiB('heapAtEnd')} MiB`,
        },
      ];
    } finally {
      server.kill();
      await exited(server);
    }
  },
};
