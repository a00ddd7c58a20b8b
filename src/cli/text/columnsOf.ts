import type { Output } from '../World.js';

/** How wide an output is now; a terminal that does not know its width, as in a container, says 0. */
export const columnsOf = ({ columns }: Output, fallback: number): number =>
  columns === undefined || columns === 0 ? fallback : columns;
