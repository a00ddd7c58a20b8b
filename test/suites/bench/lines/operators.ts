import { plainLoad } from '../Load.js';
import type { Line } from '../Line.js';
import { median } from '../ratios.js';
import { costRatios, sideBySide } from '../sideBySide.js';

export const operators: Line = {
  id: 'operators',
  about: 'operators',
  measure: async ({ sets, scale }) => {
    const load = { ...plainLoad, count: 20_000_000 * scale };
    const { ours, filters } = await sideBySide(sets, {
      filters: { variant: 'filters', load },
      ours: { variant: 'operators', load },
    });
    const ns = (outcomes: typeof ours): string => (median(outcomes.map(({ cost }) => cost)) * 1_000).toFixed(0);
    return [
      {
        id: 'operators',
        figure: "ofVariant and onSynchronizer / RxJS's filter, by hand",
        ratios: costRatios(ours, filters),
        goal: { atMost: 1.1 },
        note: `${ns(ours)} ns an update against ${ns(filters)}`,
      },
    ];
  },
};
