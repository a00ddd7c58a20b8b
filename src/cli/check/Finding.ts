/** What one check found. */
export interface Finding {
  /** Its name for programs. */
  readonly id: string;
  /** Its name for people. */
  readonly label: string;
  /** `ok`; `failed`, something is to be done; `warned`, it works and is not safe; `open`, not found out, or not there and not needed. */
  readonly state: 'ok' | 'failed' | 'warned' | 'open';
  /** What it found, in one line. */
  readonly text: string;
  /** What to do next, where something is to be done. */
  readonly next?: string;
  /** Of a failure, whose it is. */
  readonly trouble?: TroubleKind;
  /** The same for programs. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Nobody answers; somebody else answers; the token is not taken; the participant cannot; anything else. */
export type TroubleKind = 'unreachable' | 'foreign' | 'token' | 'other';
