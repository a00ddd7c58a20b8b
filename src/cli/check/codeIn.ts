import { JsCantonError } from '../../codecs/JsCantonError.js';

/** Of an error of the ledger, its name. */
export function codeIn(text: string): string | undefined {
  try {
    const decoded = JsCantonError.decode(JSON.parse(text));
    return decoded._tag === 'Right' ? decoded.right.code : undefined;
  } catch {
    return undefined;
  }
}
