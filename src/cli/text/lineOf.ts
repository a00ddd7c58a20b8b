import type { Update } from '../../codecs/Update.js';

/** An update as one JSON object in a line, tag first. */
export const lineOf = ({ _tag, ...fields }: Update): string => `${JSON.stringify({ _tag, ...fields })}\n`;
