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

/** A change for 1 000 readers of the contracts of 1 000 parties, over one for a single reader. */
export const contractsForReaders: Line = {
  id: 'contracts-for',
  about: 'readers of a live view of 100 000 contracts',
  measure: async ({ sets, scale }) => {
    const load = { ...plainLoad, count: 40_000 * scale };
    const { one, many } = await sideBySide(sets, {
      one: { variant: 'changesForOne', load },
      many: { variant: 'changesFor1000', load },
    });
    const us = (outcomes: typeof one): string => median(outcomes.map(({ cost }) => cost)).toFixed(1);
    const mb = (outcomes: typeof one): string =>
      median(outcomes.map(({ figures }) => figures?.['heapMb'] ?? NaN)).toFixed(0);
    return [
      {
        id: 'contracts-for',
        figure: 'a change for 1 000 readers of a party each / for one reader',
        ratios: costRatios(many, one),
        goal: { atMost: 2 },
        note: `${us(many)} us a change against ${us(one)}; a heap of ${mb(many)} MB against ${mb(one)}`,
      },
    ];
  },
};
