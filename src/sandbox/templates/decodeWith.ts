import type { JsonDecoder } from '../../codecs/ContractType.js';

/** Returns a function that decodes Daml JSON, and throws a `TypeError` if that fails. */
export const decodeWith =
  <T>(decoder: JsonDecoder<T>) =>
  (json: unknown): T => {
    const decoded = decoder.run(json);
    if (decoded.ok) return decoded.result;
    const { at = '', message = '' } = decoded.error;
    throw new TypeError(`The value does not have its type: ${at === '' ? '' : `${at}: `}${message}`);
  };
