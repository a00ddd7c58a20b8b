import { plainLoad } from '../Load.js';
import { costRatios, sideBySide } from '../processes.js';
import { type Line, median } from '../report.js';

/** A change in a live view of 100 000 contracts, over one in a view of 1 000. */
export const contractChanges: Line = {
  id: 'contract-changes',
  about: 'changes of a live view of 100 000 contracts',
  measure: async ({ sets, scale }) => {
    const load = { ...plainLoad, count: 40_000 * scale };
    const { few, many } = await sideBySide(sets, {
      few: { variant: 'changesAmong1000', load },
      many: { variant: 'changesAmong100000', load },
    });
    const us = (outcomes: typeof few): string => median(outcomes.map(({ cost }) => cost)).toFixed(1);
    return [
      {
        id: 'contract-changes',
        figure: 'a change among 100 000 contracts / one among 1 000',
        ratios: costRatios(many, few),
        goal: { atMost: 1.2 },
        note: `${us(many)} us a change against ${us(few)}`,
      },
    ];
  },
};
