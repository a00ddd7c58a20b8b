import type { Measure } from '../Load.js';

interface Module {
  readonly measure: Measure;
}

/** Everything that is measured, each loaded only in the process that measures it. */
export const variants = {
  bareFetch: (): Promise<Module> => import('./bareFetch.js'),
  decode: (): Promise<Module> => import('./decode.js'),
  decodeNaive: (): Promise<Module> => import('./decodeNaive.js'),
  feed: (): Promise<Module> => import('./feed.js'),
  naiveFetch: (): Promise<Module> => import('./naiveFetch.js'),
  parse: (): Promise<Module> => import('./parse.js'),
};

export type VariantName = keyof typeof variants;
