import type { Connection } from '../arguments/Connection.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import { isThisMachine } from './isThisMachine.js';

const { warned } = finder('encryption', 'encryption');

/** Whether the token goes where others can read it: then a warning, and otherwise nothing. */
export function checkEncryption({ ledger, token }: Connection): readonly Finding[] {
  const { protocol, hostname } = new URL(ledger);
  if (token === undefined || protocol === 'https:' || isThisMachine(hostname)) return [];
  return [
    warned({
      text: 'the token goes over plain http to another host: whoever is on the way can read it',
      next: 'use https://, or a tunnel to a port of this machine; get a new token where somebody else may be on the way',
    }),
  ];
}
