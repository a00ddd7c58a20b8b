import type { Answer } from '../probe/Answer.js';
import { plain } from '../text/plain.js';
import { codeIn } from './codeIn.js';
import type { Trouble } from './Trouble.js';

/** Why an answer is no good one; `undefined` where it is JSON of status 200, whatever that says. */
export function troubleOfAnswer({ status, headers, text }: Answer): Trouble | undefined {
  if (isHtml(headers['content-type'], text))
    return {
      kind: 'foreign',
      text: `an HTML page answers, with status ${status}`,
      next: "is there a proxy or a login page before it? is this the JSON Ledger API's port?",
    };
  if (status === 200) return isJson(text) ? undefined : notJson;
  if (status >= 300 && status < 400)
    return {
      kind: 'foreign',
      text: `it redirects to elsewhere, with status ${status}`,
      next: 'give the address that it redirects to: nothing that has a token follows a redirect',
    };
  if (status === 401)
    return {
      kind: 'token',
      text: 'the token is refused (401)',
      next: 'get a new one; the participant does not say what is wrong with it, its log does',
    };
  if (status === 403)
    return { kind: 'token', text: "the token's user may not do this (403)", next: 'have the user granted the right' };
  const code = codeIn(text);
  if ([502, 503, 504].includes(status) && code === undefined)
    return {
      kind: 'unreachable',
      text: `a gateway answers, and the participant does not (${status})`,
      next: 'is the participant up? it may be starting',
    };
  return {
    kind: 'other',
    text: `answered with ${status}${code === undefined ? '' : ` ${plain(code).slice(0, 60)}`}`,
  };
}

const notJson: Trouble = {
  kind: 'foreign',
  text: 'what answers is not JSON',
  next: "is this the JSON Ledger API's port?",
};

const isHtml = (type: string | undefined, text: string): boolean =>
  type?.includes('html') === true || /^\s*<(?:!doctype|html)/i.test(text);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
