/** What a verifier lets pass. */
export interface VerifierOptions {
  /**
   * What becomes of a submission whose hash is built by another scheme than V2, the only one that can be computed here.
   *
   * `'refuse'` is a `VerificationError` with the reason `'scheme'`. `'accept'` believes the participant that the hash is
   * that of the transaction, and checks the transaction alone: a participant that lies gets another one signed.
   *
   * @defaultValue `'refuse'`
   */
  readonly unknownScheme?: 'refuse' | 'accept';
  /**
   * By how much the time at which the transaction says it was prepared may differ from this machine's clock, in
   * milliseconds. One of the future could be executed later, when the ledger no longer looks for the same change.
   *
   * @defaultValue 3600000, an hour
   */
  readonly maxClockSkewMs?: number;
  /**
   * The package ids for which a package name may stand in a command.
   *
   * A template by name, `#package-name:Module:Entity`, fits any package of that name where the name is not here. An
   * interface by name has to be here: the transaction says only the id of its package.
   *
   * @defaultValue `{}`
   */
  readonly packages?: Readonly<Record<string, readonly string[]>>;
}
