/** Browsers report no code, and so nothing to explain. In place of connectionTrouble.ts, by `browser` in package.json. */
export const connectionTrouble = (): undefined => undefined;
