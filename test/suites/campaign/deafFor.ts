import type { Schedule } from './Schedule.js';

/**
 * How much longer a feed may take to notice that a socket brings nothing more, in milliseconds: where nothing can be
 * found out by HTTP, or the ledger end may only be that of a replica that is behind, it waits until it gives it up.
 */
export const deafFor = ({ pushes }: Pick<Schedule, 'pushes'>): number =>
  pushes?.some(({ fault }) => fault.kind === 'deaf') === true ? 100_000 : 0;
