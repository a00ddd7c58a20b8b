import type * as t from 'io-ts';
import { matching } from './internal/matching.js';

/** A user of the participant, at most 128 characters; empty for the user whom the token names. */
export type UserId = string;

/** Codec of `UserId`. */
export const UserId: t.Type<UserId, UserId> = matching(
  'UserId',
  /^[a-zA-Z0-9@^$.!`\-#+'~_|:()]*$/,
  128,
  'at most 128 characters without a space',
);
