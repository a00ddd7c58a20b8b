import { plainLoad } from '../Load.js';
import { costRatios, type Job, sideBySide } from '../processes.js';
import { type Line, median } from '../report.js';
import type { VariantName } from '../variant.js';

export const decode: Line = {
  id: 'decode',
  about: 'decoding a page',
  measure: async ({ sets, scale }) => {
    const job = (variant: VariantName, count: number): Job => ({
      variant,
      load: { ...plainLoad, kind: 'mix', count: count * scale },
    });
    const outcomes = await sideBySide(sets, {
      parse: job('parse', 160_000),
      decode: job('decode', 160_000),
      naive: job('decodeNaive', 80_000),
    });
    const { parse } = outcomes;
    return [
      {
        id: 'decode',
        figure: 'parse and decode a page of a mix / JSON.parse',
        ratios: costRatios(outcomes.decode, parse),
        goal: { atMost: 1.15 },
      },
      {
        id: 'decode-naive',
        figure: 'the mix with naive io-ts / JSON.parse',
        ratios: costRatios(outcomes.naive, parse),
      },
    ];
  },
};

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
