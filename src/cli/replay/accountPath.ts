/** Where the account of a file is. */
export const accountPath = (file: string): string => `${file}.replay.json`;
