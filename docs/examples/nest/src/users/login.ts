/** The login of a request: what its access token says. */
export interface Login {
  /** The user, as the identity provider names it. */
  readonly subject: string;
  readonly tokenId: string;
  /** In seconds since 1970. */
  readonly expiresAt: number;
}
