import { createPrivateKey, createPublicKey, webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { webCryptoSigner, type Signer } from 'canton-rx';

/**
 * Signs with an Ed25519 key in a file, PKCS #8 in PEM: enough for a demonstration. A key that is worth something is in an
 * HSM or a wallet, and its signer is an object with the party and a function, too.
 */
export async function keySigner(party: string, file: string): Promise<Signer> {
  const key = createPrivateKey(await readFile(file, 'utf8'));
  const { subtle } = webcrypto;
  const publicDer = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const privateDer = key.export({ type: 'pkcs8', format: 'der' });
  return webCryptoSigner({
    party,
    key: {
      publicKey: await subtle.importKey('spki', publicDer, 'Ed25519', true, ['verify']),
      privateKey: await subtle.importKey('pkcs8', privateDer, 'Ed25519', false, ['sign']),
    },
  });
}
