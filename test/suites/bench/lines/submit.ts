import { plainLoad } from '../Load.js';
import { sideBySide, speedRatios } from '../processes.js';
import type { Line } from '../report.js';
import { withServer } from '../withServer.js';

const roundTripMs = 20;

export const submit: Line = {
  id: 'submit',
  about: 'commands of hosted parties',
  measure: ({ sets, scale }) => {
    const count = 2_000 * scale;
    return withServer({ kind: 'tx', count: 1, step: 1, roundTripMs }, async ({ url, served }) => {
      const load = { ...plainLoad, url, count };
      const { ours, theirs } = await sideBySide(sets, {
        ours: { variant: 'submitCommands', load },
        theirs: { variant: 'bareSubmit', load },
      });
      const { requests } = await served();
      return [
        {
          id: 'submit',
          figure: `submissions, 16 at a time at ${roundTripMs} ms / a loop over fetch`,
          ratios: speedRatios(ours, theirs),
          goal: { atLeast: 0.8 },
          note: `${(requests / (2 * sets * count)).toFixed(3)} requests each`,
        },
      ];
    });
  },
};
