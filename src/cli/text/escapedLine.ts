/** The same JSON without what JSON allows in it and a terminal obeys: C1 controls, and what turns the direction of writing. */
export const escapedLine = (line: string): string =>
  line.replaceAll(
    // of line ends, only the last one is left by JSON
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
