import { VerificationError, type VerificationReason } from '../errors/VerificationError.js';

/** Why a submission must not be signed. */
export const refusal = (reason: VerificationReason, explanation: string, path?: string): VerificationError =>
  new VerificationError(reason, explanation, path);
