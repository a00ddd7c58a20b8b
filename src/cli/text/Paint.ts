import type { styleText } from 'node:util';

/** Gives a text a colour, or not, as it is for where it is shown. */
export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;
