/** The kinds of keys that both WebCrypto and the ledger know. */
export type KeyKind = 'Ed25519' | 'P-256';

/** The kind of a key; a `TypeError` for any that does not fit. */
export function keyKind({ algorithm }: CryptoKey): KeyKind {
  if (algorithm.name === 'Ed25519') return 'Ed25519';
  if (algorithm.name === 'ECDSA' && 'namedCurve' in algorithm && algorithm.namedCurve === 'P-256') return 'P-256';
  throw new TypeError('the key is neither of Ed25519 nor of ECDSA on P-256');
}
