/** A random UUID, version 4. `crypto.randomUUID` is not there on a page that came by plain HTTP. */
export const randomUuid = (): string =>
  // a digit of the pattern is a random one; but the version, 4, stays, and the variant is one of 8, 9, a and b
  'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (digit) => {
    const random = (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) % 16;
    return (digit === 'x' ? random : 8 + (random % 4)).toString(16);
  });
