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
  filters: (): Promise<Module> => import('./filters.js'),
  idleFeeds: (): Promise<Module> => import('./idleFeeds.js'),
  idlePolls: (): Promise<Module> => import('./idlePolls.js'),
  importCore: (): Promise<Module> => import('./importCore.js'),
  importPackages: (): Promise<Module> => import('./importPackages.js'),
  liveFeed: (): Promise<Module> => import('./liveFeed.js'),
  livePoll: (): Promise<Module> => import('./livePoll.js'),
  longFeed: (): Promise<Module> => import('./longFeed.js'),
  naiveFetch: (): Promise<Module> => import('./naiveFetch.js'),
  operators: (): Promise<Module> => import('./operators.js'),
  parse: (): Promise<Module> => import('./parse.js'),
  peerOfficial: (): Promise<Module> => import('./peerOfficial.js'),
  peerOpenapi: (): Promise<Module> => import('./peerOpenapi.js'),
  peerZod: (): Promise<Module> => import('./peerZod.js'),
};

export type VariantName = keyof typeof variants;
