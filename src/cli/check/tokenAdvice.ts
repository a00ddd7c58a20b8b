import { claimsOf } from './claimsOf.js';
import { durationText } from './durationText.js';

/** The longest that participants from 3.4 on take a token for, unless they are told otherwise, in seconds. */
const usualMost = 300;

/** What to do about a token that was refused: the participant does not say why, but the token's times may. */
export function tokenAdvice(token: string, nowMs: number): string {
  const claims = claimsOf(token);
  if (claims === undefined) return 'it is no JWT: is this the right file?';
  const now = nowMs / 1_000;
  const { exp, nbf } = claims;
  if (exp !== undefined && exp <= now) return `it expired ${durationText(now - exp)} ago: get a new one`;
  if (nbf !== undefined && nbf > now) return `it is good only in ${durationText(nbf - now)}: see to the clocks`;
  if (exp !== undefined && exp - now > usualMost)
    return `it is good for ${durationText(exp - now)}: participants from 3.4 on take 5 minutes at most, by default`;
  return "see to its audience or scope, its signature and its user; the participant's log says which it is";
}
