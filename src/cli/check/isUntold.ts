import type { Answer } from '../probe/Answer.js';
import { codeIn } from './codeIn.js';

/** Whether a service does not have an endpoint, or has switched it off. */
export const isUntold = ({ status, text }: Answer): boolean =>
  status === 404 || status === 405 || status === 501 || codeIn(text) === 'DEPRECATED_API_DISABLED';
