import { plainLoad } from '../Load.js';
import type { Line } from '../Line.js';
import { costRatios, sideBySide } from '../sideBySide.js';
import type { Job } from '../run.js';
import type { VariantName } from '../variants/index.js';

export const decode: Line = {
  id: 'decode',
  about: 'decoding a page',
  measure: async ({ sets, scale }) => {
    const job = (variant: VariantName, kind: 'mix' | 'tx', count: number): Job => ({
      variant,
      load: { ...plainLoad, kind, count: count * scale },
    });
    const outcomes = await sideBySide(sets, {
      parse: job('parse', 'mix', 160_000),
      decode: job('decode', 'mix', 160_000),
      naive: job('decodeNaive', 'mix', 80_000),
      parseTx: job('parse', 'tx', 160_000),
      decodeTx: job('decode', 'tx', 160_000),
    });
    const { parse, parseTx } = outcomes;
    return [
      {
        id: 'decode',
        figure: 'parse and decode a page of a mix / JSON.parse',
        ratios: costRatios(outcomes.decode, parse),
        goal: { atMost: 1.15 },
      },
      {
        id: 'decode-tx',
        figure: 'the same of transactions',
        ratios: costRatios(outcomes.decodeTx, parseTx),
      },
      {
        id: 'decode-naive',
        figure: 'the mix by naive io-ts / JSON.parse',
        ratios: costRatios(outcomes.naive, parse),
      },
    ];
  },
};
