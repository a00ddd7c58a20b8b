import type { Problem } from '../codecs/Problem.js';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';
import { InvalidRequestError } from '../errors/InvalidRequestError.js';
import type { Signer } from './Signer.js';

/** Throws an `InvalidRequestError` for signers whose signatures the ledger could only refuse. */
export function checkSigners(signers: readonly Signer[], { actAs }: PrepareRequest): void {
  const problems: Problem[] = signers.flatMap(({ party }, i) =>
    actAs.includes(party) ? [] : [{ path: `signer[${i}].party`, expected: 'one of actAs' }],
  );
  if (signers.length === 0) problems.push({ path: 'signer', expected: 'one at least' });
  if (problems.length > 0) throw new InvalidRequestError(problems);
}
