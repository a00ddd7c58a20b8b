import process from 'node:process';
import type { Observer } from 'rxjs';
import { mark } from './marks.js';

/** Tells of each commit, and of what went wrong. */
export const toldUntil = (over: () => unknown): Observer<unknown> => ({
  next: () => {
    mark('d');
  },
  error: (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
  complete: () => void over(),
});
