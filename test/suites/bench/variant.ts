import process from 'node:process';
import type { Measure } from './Load.js';
import type { Job } from './processes.js';

/** Every variant, loaded only in the process that measures it. */
const variants = {
  automateRule: async () => (await import('./variants/automation.js')).automateRule,
  bareAutomation: async () => (await import('./variants/automation.js')).bareAutomation,
  bareAutomationFollowing: async () => (await import('./variants/automation.js')).bareAutomationFollowing,
  bareAutomationKy: async () => (await import('./variants/automation.js')).bareAutomationKy,
  bareConsumer: async () => (await import('./variants/nats.js')).bareConsumer,
  bareContracts: async () => (await import('./variants/snapshot.js')).bareContracts,
  bareFetch: async () => (await import('./variants/read.js')).bareFetch,
  bareInserts: async () => (await import('./variants/process.js')).bareInserts,
  barePublish: async () => (await import('./variants/nats.js')).barePublish,
  bareSubmit: async () => (await import('./variants/submit.js')).bareSubmit,
  bareToFile: async () => (await import('./variants/read.js')).bareToFile,
  changesAmong1000: async () => (await import('./variants/contractChanges.js')).changesAmong(1_000),
  changesAmong100000: async () => (await import('./variants/contractChanges.js')).changesAmong(100_000),
  changesForOne: async () => (await import('./variants/contractChanges.js')).changesFor(1),
  changesFor1000: async () => (await import('./variants/contractChanges.js')).changesFor(1_000),
  decode: async () => (await import('./variants/decode.js')).decode,
  decodeNaive: async () => (await import('./variants/decode.js')).decodeNaive,
  feed: async () => (await import('./variants/feed.js')).feed,
  fillStream: async () => (await import('./variants/nats.js')).fillStream,
  filters: async () => (await import('./variants/operators.js')).filters,
  idleFeeds: async () => (await import('./variants/feed.js')).idleFeeds,
  importCore: async () => (await import('./variants/startup.js')).importCore,
  importPackages: async () => (await import('./variants/startup.js')).importPackages,
  liveContracts: async () => (await import('./variants/snapshot.js')).liveContractsFromStart,
  liveFeed: async () => (await import('./variants/feed.js')).liveFeed,
  livePoll: async () => (await import('./variants/read.js')).livePoll,
  longFeed: async () => (await import('./variants/feed.js')).longFeed,
  loadProjection: async () => (await import('./variants/projection.js')).loadProjection,
  loopBatches: async () => (await import('./variants/process.js')).loopBatches,
  loopInserts: async () => (await import('./variants/process.js')).loopInserts,
  loopProjection: async () => (await import('./variants/projection.js')).loopProjection,
  naiveFetch: async () => (await import('./variants/read.js')).naiveFetch,
  operators: async () => (await import('./variants/operators.js')).operators,
  parse: async () => (await import('./variants/decode.js')).parse,
  peerOfficial: async () => (await import('./variants/read.js')).peerOfficial,
  peerOpenapi: async () => (await import('./variants/read.js')).peerOpenapi,
  peerZod: async () => (await import('./variants/read.js')).peerZod,
  processBatches: async () => (await import('./variants/process.js')).processBatches,
  processInserts: async () => (await import('./variants/process.js')).processInserts,
  processNothing: async () => (await import('./variants/process.js')).processNothing,
  processPromises: async () => (await import('./variants/process.js')).processPromises,
  processToFile: async () => (await import('./variants/process.js')).processToFile,
  projectChanges: async () => (await import('./variants/projection.js')).projectChanges,
  readDurable: async () => (await import('./variants/nats.js')).readDurable,
  readWithStore: async () => (await import('./variants/nats.js')).readWithStore,
  relay: async () => (await import('./variants/nats.js')).relay,
  submitCommands: async () => (await import('./variants/submit.js')).submitCommands,
} satisfies Readonly<Record<string, () => Promise<Measure>>>;

export type VariantName = keyof typeof variants;

/** This process measures one variant once, and reports the outcome to its parent. */
process.on('disconnect', () => process.exit(1));
const { variant, load } = JSON.parse(process.argv[2] ?? '') as Job;
const measure: Measure = await variants[variant]();
const outcome = await measure(load);
process.send?.(outcome, () => process.exit());
