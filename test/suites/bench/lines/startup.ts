import { plainLoad } from '../Load.js';
import type { Line } from '../Line.js';
import { median } from '../ratios.js';
import { costRatios, sideBySide } from '../sideBySide.js';

export const startup: Line = {
  id: 'startup',
  about: 'importing',
  measure: async ({ sets }) => {
    const { core, packages } = await sideBySide(sets * 3, {
      packages: { variant: 'importPackages', load: plainLoad },
      core: { variant: 'importCore', load: plainLoad },
    });
    const ms = (outcomes: typeof core): string => median(outcomes.map(({ cost }) => cost)).toFixed(0);
    return [
      {
        id: 'startup',
        figure: 'importing the library / importing its four packages',
        ratios: costRatios(core, packages),
        goal: { atMost: 1.3 },
        note: `${ms(core)} ms against ${ms(packages)}`,
      },
    ];
  },
};
