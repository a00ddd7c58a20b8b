import type { ObservableInput } from 'rxjs';
import type { PreparedSubmission } from '../codecs/PreparedSubmission.js';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';

/**
 * Decides whether a prepared submission may be signed: one that completes, whatever it emits, says yes; an error says no,
 * a {@link VerificationError} for one.
 *
 * The participant that prepares a submission could prepare another one than was asked for, and the party would sign it.
 * `canton-rx/verify` has a verifier that finds out.
 *
 * @param prepared - what the participant answered
 * @param request - what it was asked for
 *
 * @example
 * ```ts
 * import { EMPTY, throwError } from 'rxjs';
 * import { VerificationError, type Verifier } from 'canton-rx';
 *
 * const onlyV2: Verifier = ({ hashingSchemeVersion }) =>
 *   hashingSchemeVersion === 'HASHING_SCHEME_VERSION_V2' ? EMPTY : throwError(() => new VerificationError('scheme', 'not V2'));
 *
 * console.log(typeof onlyV2); // function
 * ```
 */
export type Verifier = (prepared: PreparedSubmission, request: PrepareRequest) => ObservableInput<unknown>;
