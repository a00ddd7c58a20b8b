import type { IncomingHttpHeaders } from 'node:http';

/** What came back, of whatever status. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, as far as it was read. */
  readonly text: string;
  /** When it was sent, and when the head of the answer came, in milliseconds since 1970. */
  readonly sentAt: number;
  readonly cameAt: number;
  /** How long the whole answer took, in milliseconds. */
  readonly tookMs: number;
}
