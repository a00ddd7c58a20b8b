/** The tags of ASN.1. */
const sequence = 0x30;
const integer = 0x02;

/**
 * An ECDSA signature on a curve of up to 384 bits in DER, from the two numbers side by side as WebCrypto gives it (IEEE
 * P1363).
 */
export function derOfConcat(concat: Uint8Array): Uint8Array<ArrayBuffer> {
  const half = concat.length / 2;
  const numbers = [...numberOf(concat.subarray(0, half)), ...numberOf(concat.subarray(half))];
  return new Uint8Array([sequence, numbers.length, ...numbers]);
}

/** As short as can be, but with a zero in front where the first bit would make the number negative. */
function numberOf(bytes: Uint8Array): readonly number[] {
  const first = bytes.findIndex((byte) => byte !== 0);
  const shortest = first === -1 ? [0] : [...bytes.subarray(first)];
  const content = (shortest[0] ?? 0) < 0x80 ? shortest : [0, ...shortest];
  return [integer, content.length, ...content];
}
