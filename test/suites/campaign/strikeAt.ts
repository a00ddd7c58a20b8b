import type { Asked } from '../../helpers/scripted.js';
import { isBounded, isPage, isPoll } from './inflict.js';
import type { Fault, Strike } from './Schedule.js';

const isStruck: Readonly<Record<Strike['on'], (asked: Asked) => boolean>> = {
  any: () => true,
  page: isPage,
  bounded: (asked) => isPage(asked) && isBounded(asked),
  poll: isPoll,
  end: (asked) => !isPage(asked),
};

/** What goes wrong with the n-th request, at a time. */
export const strikeAt = (strikes: readonly Strike[], asked: Asked, ms: number, n: number): Fault | undefined =>
  strikes.find(
    ({ on, when }) =>
      isStruck[on](asked) &&
      ('request' in when ? when.request === n : ms >= when.fromMs && ms < when.fromMs + when.forMs),
  )?.fault;
