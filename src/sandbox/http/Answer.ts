/** What goes back to the client. */
export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
  /** Whether the connection is reset instead. */
  readonly lost?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}
