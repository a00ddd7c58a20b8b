/** The options of every command that talks to a ledger. */
export const connectionOptions = {
  ledger: { type: 'string' },
  'token-file': { type: 'string' },
} as const;
